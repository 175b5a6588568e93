"""What a person may choose of a picture, and the measures that Python and its script share."""

from __future__ import annotations

from dataclasses import dataclass

PALETTES = ("mem", "warm")
WIDTH_MODES = ("larger", "after")

WIDTH = 1200
MIN_WIDTH = 0.5
MARGIN = 16  # pixels left and right of the frames
TOP = 62  # where the frames begin, below title and subtitle
ROW = 18  # height of a frame and the gap to the next
FONT_PX = 12
LABEL_FROM = 28  # frames narrower than this have no words
MAX_TITLE = 2000  # characters of a name in a tooltip


@dataclass(frozen=True, slots=True)
class Picture:
    """Options of one picture; sizes are pixels."""

    title: str = ""
    subtitle: str = ""  # default: what the numbers are, and their total
    count_name: str = ""  # unit of the numbers where the profile has none; `bytes` are written in kB, MB, GB
    palette: str = "mem"  # one of PALETTES
    is_icicle: bool = False  # the root on top; otherwise at the bottom, as flames have it
    width: int = WIDTH
    min_width: float = MIN_WIDTH  # narrower frames are not drawn until they are zoomed into
    font: str = ""
    width_mode: str = "larger"  # one of WIDTH_MODES: a frame of a difference is as wide as its larger side, or as after

    @property
    def room(self) -> int:
        """Width of the root frame."""
        return self.width - 2 * MARGIN
