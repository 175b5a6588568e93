"""Frames to the text of an SVG file: a picture that needs no script, and the script that searches and zooms it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import Any, TextIO

import numpy as np

from tracer.profile.amounts import plural
from tracer.profile.export.picture import FONT_PX, LABEL_FROM, MARGIN, MAX_TITLE, ROW, TOP, Picture
from tracer.profile.export.svg.colours import CHANGE_STEPS, style_sheet
from tracer.profile.export.svg.frames import Frames, frames_of
from tracer.profile.export.svg.subject import Subject
from tracer.profile.model import ValueType
from tracer.profile.tree.calltree import CallTree
from tracer.profile.tree.merge import DiffTree

SCRIPTS = ("words.js", "layout.js", "page.js")
LETTER_PX = 0.58 * FONT_PX  # a usual letter; the script measures the real ones
VALUE_FROM = 200  # frames at least this wide have their value at the right
BELOW = 64  # pixels below the frames: details, what is hidden, a legend
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def write_svg(tree: CallTree, column: int, out: TextIO, picture: Picture) -> None:
    """One value type of a tree, by position. The same tree and picture give the same text."""
    values, value_type = tree.selfs[column], tree.value_types[column]
    frames = frames_of(tree, np.abs(values), [values])
    is_signed = value_type.is_signed or bool((values < 0).any())
    out.writelines(_document(Subject(frames, value_type, _unit(value_type, picture), is_signed), picture))


def write_diff_svg(diff: DiffTree, out: TextIO, picture: Picture, *, note: str = "") -> None:
    """A difference, coloured by change; `note` says what is not as it was recorded."""
    before, after = diff.before, diff.after
    own = np.abs(after) if picture.width_mode == "after" else np.maximum(np.abs(before), np.abs(after))
    frames = frames_of(diff.tree, own, [before, after])
    subject = Subject(frames, diff.value_type, _unit(diff.value_type, picture), is_signed=False, note=note)
    out.writelines(_document(subject, picture))


def _unit(value_type: ValueType, picture: Picture) -> str:
    """Nothing where a tool gave no other unit than the name, which stands above the picture."""
    return picture.count_name or ("" if value_type.unit == value_type.name else value_type.unit)


def _document(subject: Subject, picture: Picture) -> Iterator[str]:
    frames = subject.frames
    width_px = _widths_px(frames, picture)
    is_shown = (width_px >= picture.min_width) & (frames.width > 0)
    is_shown[0] = True
    shown = np.flatnonzero(is_shown)
    rows = int(frames.depth[shown].max(initial=0)) + 1
    height = TOP + rows * ROW + BELOW
    title = _text(picture.title or "Memory flame graph")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{height}" '
        f'viewBox="0 0 {picture.width} {height}"><title>{title}</title>\n'
        f"<style>{style_sheet(picture.palette, picture.font)}</style>\n{_PATTERNS}"
        f'<rect class="page" width="100%" height="100%"/>\n'
        f'<text class="title" x="{MARGIN}" y="28">{title}</text>\n'
        f'<text class="quiet summary" x="{MARGIN}" y="48">{_text(picture.subtitle or subject.summary())}</text>\n'
        '<g class="frames">\n'
    )
    for frame in shown.tolist():
        yield _frame(subject, picture, frame, width_px[frame].item(), rows)
    yield "</g>\n" + _below(subject, picture, width_px, TOP + rows * ROW)
    yield f'<script type="application/json">{_data(subject, picture, rows)}</script>\n'
    yield f"<script><![CDATA[\n{script()}]]></script>\n</svg>\n"


def _widths_px(frames: Frames, picture: Picture) -> Any:
    """The root is as wide as the picture, also when all values are 0."""
    width_px = frames.width / (frames.width[0] or 1) * picture.room
    width_px[0] = picture.room
    return width_px


def _frame(subject: Subject, picture: Picture, frame: int, width: float, rows: int) -> str:
    frames = subject.frames
    x = MARGIN + frames.start[frame].item() / (frames.width[0].item() or 1) * picture.room
    depth = int(frames.depth[frame])
    y = TOP + (depth if picture.is_icicle else rows - 1 - depth) * ROW
    name = subject.name(frame)
    box = f'x="{x:.2f}" y="{y}" width="{max(width - (1 if width > 3 else 0), 0.1):.2f}" height="{ROW - 1}"'
    hatch = subject.hatch(frame)
    return (
        f'<g class="f"><title>{_text(name[:MAX_TITLE])}\n{_text(subject.facts(frame))}</title>'
        f'<rect class="{subject.colour(frame)}" {box}/>'
        + (f'<rect class="mark" fill="url(#{hatch})" {box}/>' if hatch else "")
        + _label(name, subject.short(frame), x, y + ROW - 6, width)
        + "</g>\n"
    )


def _label(name: str, short: str, x: float, y: float, width: float) -> str:
    room = width - 12
    if width < LABEL_FROM:
        return ""
    amount = ""
    if width >= VALUE_FROM:
        amount = f'<text class="value" x="{x + width - 7:.2f}" y="{y}">{_text(short)}</text>'
        room -= len(short) * LETTER_PX + 12
    letters = int(room / LETTER_PX)
    fitting = name if len(name) <= letters else name[: letters - 1] + "…" if letters > 2 else ""
    return (f'<text x="{x + 6:.2f}" y="{y}">{_text(fitting)}</text>' if fitting else "") + amount


def _below(subject: Subject, picture: Picture, width_px: Any, y: int) -> str:
    hint = "Click a frame to zoom, Ctrl-F to search."
    legend = _legend(picture, y + 52) if subject.is_difference else ""
    return (
        f'<text class="details" x="{MARGIN}" y="{y + 16}">{hint}</text>\n'
        f'<text class="quiet hidden-frames" x="{MARGIN}" y="{y + 34}">'
        f"{_text(hidden_words(subject, picture, width_px))}</text>\n{legend}"
    )


def hidden_words(subject: Subject, picture: Picture, width_px: Any) -> str:
    """How many frames are too narrow to be drawn, and their sum."""
    frames = subject.frames
    parent = np.repeat(np.arange(len(frames)), frames.children)
    is_hidden = width_px < picture.min_width
    is_top = np.append(False, is_hidden[1:] & ~is_hidden[parent])
    count, amount = int(np.count_nonzero(is_hidden[1:])), subject.amount(frames.width[is_top].sum().item())
    if not count:
        return f"No frame is hidden.{_absent_words(subject)}"
    words = f"{plural(count, 'frame', 'frames')} narrower than {picture.min_width:g} px: {amount} together, not drawn"
    return f"{words}; zoom in to see them.{_absent_words(subject)}"


def _absent_words(subject: Subject) -> str:
    absent = subject.frames.absent
    if not absent.frames:
        return ""
    count, widest, amount = plural(absent.frames, "frame", "frames"), absent.widest, absent.amount
    return f" {count} of {subject.amount(widest)} or less: {subject.amount(amount)} together, not in this file."


def _legend(picture: Picture, y: int) -> str:
    shares = ", ".join(f"{share:.0%}"[:-1] for share in CHANGE_STEPS)
    words = {
        "d1 d2 d3 d4": f"shrank by {shares} % of its width",
        "d0": "same",
        "u1 u2 u3 u4": f"grew by {shares} %",
        "u4 new": "new path",
        "d4 gone": "path is gone",
    }
    if picture.width_mode == "after":
        del words["d4 gone"]  # has no width
    parts, x = [], float(MARGIN)
    for classes, text in words.items():
        for name in classes.split():
            look = f'fill="url(#{name})"' if name in ("new", "gone") else f'class="{name}"'
            x -= 12 if "url" in look else 0
            parts.append(f'<rect {look} x="{x:g}" y="{y - 10}" width="12" height="12"/>')
            x += 12
        parts.append(f'<text class="quiet" x="{x + 6:g}" y="{y}">{text}</text>')
        x += 6 + round(len(text) * LETTER_PX) + 12
    mode = "the larger side" if picture.width_mode == "larger" else "after"
    parts.append(f'<text class="quiet" x="{x:g}" y="{y}">as wide as {mode}</text>')
    return f'<g class="legend">{"".join(parts)}</g>\n'


def _data(subject: Subject, picture: Picture, rows: int) -> str:
    """All frames for the script, in JSON that no name can end: `<`, `>` and `&` are written as escapes."""
    frames = subject.frames
    data = {
        "unit": subject.unit,
        "isSigned": subject.is_signed,
        "isIcicle": picture.is_icicle,
        "minWidth": picture.min_width,
        "baseWidth": picture.width,
        "baseRows": rows,
        "absent": {"frames": frames.absent.frames, "words": _absent_words(subject), "amount": frames.absent.amount},
        "names": frames.names,
        "name": frames.name.tolist(),
        "children": frames.children.tolist(),
        "self": frames.selfs[0].tolist(),
        **({"after": frames.selfs[1].tolist()} if subject.is_difference else {}),
        **({"width": frames.own_width.tolist()} if subject.is_difference or subject.is_signed else {}),
    }
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script() -> str:
    """The parts of the script in one function, so that nothing of it is seen by a page around it."""
    folder = files(__package__)
    parts = "".join(folder.joinpath(name).read_text() for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _text(words: str) -> str:
    """Escaped; what XML can't hold and signs that move the cursor become U+FFFD."""
    return escape(_NOT_XML.sub("\ufffd", words))


_PATTERNS = (
    '<defs><pattern id="new" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path class="stripe" d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5"/></pattern>'
    '<pattern id="gone" width="6" height="6" patternUnits="userSpaceOnUse">'
    '<path class="stripe" d="M-1 -1L7 7M-1 5L1 7M5 -1L7 1"/></pattern></defs>\n'
)
