"""Call trees and differences to a flame graph that is one SVG file: it searches and zooms by its own script."""

from __future__ import annotations

from tracer.profile.export.svg.document import write_diff_svg, write_svg

__all__ = ["write_diff_svg", "write_svg"]
