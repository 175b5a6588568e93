"""Frames to classes of colour, and the style sheet that gives them a colour in a light and in a dark window."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from tracer.profile.export.picture import FONT_PX

STEPS = 8
CHANGE_STEPS = (0.05, 0.25, 0.5, 0.8)  # shares of a frame's width from which a change has the next stronger colour
_SYSTEM_FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'
_PALETTES: dict[str, tuple[str, str]] = {
    "mem": (
        "93d6a6 88d5b2 82d3c0 82d0cd 88ccd8 92c7e0 9dc2e6 a9bde9",
        "27704a 217158 1d7166 1c6f75 206d83 286a8e 346596 40629a",
    ),
    "warm": (
        "f7d774 f6c861 f5b753 f2a54a f09347 ec8346 e67448 df664c",
        "745a10 795110 7d4812 803f16 80361b 7d2f21 782a29 712731",
    ),
}
_CHANGES = {  # four steps that grew, four that shrank
    "light": ("fbe7d2 f9d0a1 f4b068 e98d33", "dce9f7 b7d3f0 86b6e6 639fde"),
    "dark": ("3a2a1a 5c3a17 854a10 e8913c", "1b2c40 1d4067 20558e 66a6ec"),
}


def name_class(name: str) -> str:
    """`m1` to `m8`, the same for a name in every picture and on the site: FNV-1a over UTF-16."""
    hashed = 2166136261
    units = name.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        hashed = ((hashed ^ (low | high << 8)) * 16777619) & 0xFFFFFFFF
    return f"m{(hashed * STEPS >> 32) + 1}"


def change_class(before: float, after: float, width: float) -> str:
    """`u1` to `u4` grew, `d1` to `d4` shrank, `d0` is less than a twentieth of the width."""
    share = abs(after - before) / width if width > 0 else 0
    step = sum(share >= least - 1e-12 for least in CHANGE_STEPS)
    return f"{'u' if after > before and step else 'd'}{step}"


def style_sheet(palette: str, font: str) -> str:
    """The colours of a palette beside the rules that all pictures share."""
    light, dark = _PALETTES[palette]
    family = f"{_plain_font(font)}, {_SYSTEM_FONTS}" if font else _SYSTEM_FONTS
    return (
        f"text, input {{ font: {FONT_PX}px {family}; }}\n"
        + files(__package__).joinpath("style.css").read_text()
        + _steps(light, _CHANGES["light"])
        + f"@media (prefers-color-scheme: dark) {{\n{_steps(dark, _CHANGES['dark'])}}}\n"
    )


def _plain_font(font: str) -> str:
    """A name of a font, as a CSS string: whatever else was given must not end the rule."""
    return '"' + "".join(letter for letter in font if letter.isalnum() or letter in " -_.,") + '"'


def _steps(names: str, changes: Sequence[str]) -> str:
    rules = [f".m{step} {{ fill: #{colour}; }}\n" for step, colour in enumerate(names.split(), 1)]
    for letter, colours in zip("ud", changes, strict=True):
        rules += [f".{letter}{step} {{ fill: #{colour}; }}\n" for step, colour in enumerate(colours.split(), 1)]
    return "".join(rules)
