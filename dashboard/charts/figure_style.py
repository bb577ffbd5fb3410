"""How a chart looks on paper: the width of a column, the size and the font of its text.

A chart of a page is drawn a little wider than its place and reduced, until its smallest text has
the size that was asked for, see :mod:`dashboard.charts.figure_fitting`. Text is larger beside the
marks than on a screen: a column has fewer points across than a screen has pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.charts import theme
from dashboard.language import current

WIDTHS = {"single": 8.5, "double": 17.5}  # cm, of one and of two columns of most journals
NARROWEST, WIDEST = 4.0, 40.0  # cm
SMALLEST, LARGEST = 5.0, 16.0  # pt
POINTS = 72 / 2.54  # in a cm
# The first is in the painter itself, so that it looks the same on every server.
FONT = "Liberation Sans"
FONTS = f"{FONT}, Arial, Helvetica, sans-serif"
# Families with the characters of a language, as Linux, macOS and Windows have them.
_OF_LANGUAGE = {
    "zh": "Noto Sans CJK SC, Source Han Sans SC, WenQuanYi Micro Hei, PingFang SC, "
    "Microsoft YaHei, Droid Sans Fallback, ",
}

LARGER = 1.4  # what text is magnified by beside the marks


@dataclass(frozen=True, kw_only=True)
class FigureStyle:
    """What a figure is made for.

    Args:
        width: cm, or a name of :data:`WIDTHS`.
        font_size: pt, of the smallest text.
        font: a family that is installed where the figure is drawn; else :data:`FONT` is taken.
        columns: of panels; as many as have room where 0.

    Raises:
        ValueError: an unknown name, or numbers out of bounds.
    """

    width: float | str = "single"
    font_size: float = 7.0
    font: str = FONT
    columns: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.width, str) and self.width not in WIDTHS:
            named = " or ".join(map(repr, WIDTHS))
            raise ValueError(f"need a width of {named} or in cm, got {self.width!r}")
        if not NARROWEST <= self.centimetres <= WIDEST:
            raise ValueError(
                f"need a width from {NARROWEST:g} to {WIDEST:g} cm, got {self.centimetres:g}"
            )
        if not SMALLEST <= self.font_size <= LARGEST:
            raise ValueError(
                f"need a font size from {SMALLEST:g} to {LARGEST:g} pt, got {self.font_size:g}"
            )
        if self.columns < 0:
            raise ValueError(f"need 0 <= columns, got columns={self.columns}")

    @property
    def centimetres(self) -> float:
        """The figure's width."""
        return WIDTHS[self.width] if isinstance(self.width, str) else float(self.width)

    @property
    def points(self) -> float:
        """The figure's width, in pt."""
        return self.centimetres * POINTS

    @property
    def reduction(self) -> float:
        """Points on paper for a px of a chart."""
        return self.font_size / (theme.FONT_SIZE * LARGER)

    @property
    def fonts(self) -> str:
        """The families to look for, in their order."""
        own = self.font.replace("'", "").replace('"', "")
        # The first of them that there is sets a whole text, so one with its script comes first.
        families = f"{_OF_LANGUAGE.get(current(), '')}{FONTS}"
        return families if own == FONT else f"{own}, {families}"
