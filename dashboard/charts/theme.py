"""How every chart looks: colours, sizes and the settings of Vega-Lite, each defined once.

The background and the two colour ramps are the host's: ``.streamlit/config.toml`` holds
:data:`SEQUENTIAL` and :data:`DIVERGING` for light and for dark pages, so one chart is right on
both. Charts want Streamlit's own theme, its default; its grey labels are too faint on a light
page, so labels find out by the ramp what page they are on. Where no host has a theme, in a
notebook or an exported file, :func:`standalone` supplies it.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

import altair as alt
from altair.typing import Optional
from altair.utils import is_undefined

from dashboard.charts.frames import checked_end

Scheme = Literal["light", "dark"]
AnyChart = TypeVar("AnyChart", alt.Chart, alt.LayerChart, alt.FacetChart)

# Near the page's background to far from it, in equal steps of OKLCH lightness.
SEQUENTIAL: dict[Scheme, tuple[str, ...]] = {
    "light": (
        "#f0f5f9", "#c2e0f8", "#98c9f3", "#74b1eb", "#5898dc",
        "#437fc8", "#3767ae", "#2f518f", "#273c6c", "#1f2a48",
    ),
    "dark": (
        "#1d2537", "#23385d", "#274c82", "#2963a5", "#2c7bc4",
        "#3995dd", "#52aff0", "#75c9fd", "#aadfff", "#e0f4fe",
    ),
}  # fmt: skip
# Less than nothing in orange, more in blue: told apart with any common colour blindness.
DIVERGING: dict[Scheme, tuple[str, ...]] = {
    "light": (
        "#913f01", "#bb5b1f", "#d88255", "#ebae8f", "#f4dccf",
        "#d3e3f7", "#97c2f2", "#609fe5", "#2f7dcb", "#165c9f",
    ),
    "dark": (
        "#fec39b", "#e68f4f", "#b36b36", "#7b4d2d", "#433328",
        "#2b3846", "#365d84", "#4683c1", "#62acf7", "#afd5fe",
    ),
}  # fmt: skip
# At least 3.6 : 1 against both backgrounds.
PANEL_COLOURS: dict[str, str] = {"a": "#3284d0", "b": "#ce6a1e", "c": "#25956f", "d": "#a853ad"}
BACKGROUND: dict[Scheme, str] = {"light": "#ffffff", "dark": "#12161c"}
TEXT: dict[Scheme, str] = {"light": "#1f2933", "dark": "#e4e8ee"}
# The colour of a number, by the cell that it is written on.
ON_CELL = (
    f"luminance(scale('color', datum.value)) > 0.3 ? '{TEXT['light']}' : '{BACKGROUND['light']}'"
)
# In a Vega expression: whether the host's page is light. Needs a ramp in the view, see `ramp`.
ON_LIGHT = "luminance(scale('color', 0)) > 0.5"  # of a logarithmic scale 0 is its lower end
# In a Vega expression: the colour of text, as ON_LIGHT.
INK = f"{ON_LIGHT} ? '{TEXT['light']}' : '{TEXT['dark']}'"
QUIET = "#808a96"  # truth, rules, masked cells: readable on both backgrounds
MASKED_OPACITY = 0.3  # of QUIET, in a masked cell
POINTER = "#e0497c"  # what the pointer is on: far from both ramps
# What gold alignments link. Edged in dark, so that it stands out from both ends of both ramps.
GOLD, GOLD_EDGE = "#ffb000", "#1f2933"

WIDTH = 320  # of a chart whose host does not stretch it, in px
FONT_SIZE = 12
EXACT = ".10~g"  # of a tooltip: all the digits that were handed to the chart
NUMBER = ".6~g"  # of an axis; without digits Vega takes those that ticks differ by, "1e+1" for 10
MOST_ELEMENTS = 900  # of a page, for one chart; more marks are painted on a canvas
LEAST = 1e-3  # the weight where a logarithmic scale begins
MAX_RECTS = 3_600  # above, restyling on hover takes longer than a frame or two


def sequential(vmax: float | alt.ExprRef = 1.0, *, log: bool = False) -> alt.Scale:
    """The scale of attention weights, from 0 to ``vmax``, or to what an expression says.

    A logarithmic one begins at :data:`LEAST`, or what is less. ValueError: ``vmax`` not above 0.
    """
    end = vmax if isinstance(vmax, alt.ExprRef) else checked_end(vmax)
    low, kind = (LEAST, "log") if log else (0, alt.Undefined)
    return alt.Scale(domain=[low, end], type=kind, range="heatmap", interpolate="rgb", clamp=True)


def diverging(vmax: float | alt.ExprRef = 1.0) -> alt.Scale:
    """The scale of differences, from ``-vmax`` to ``vmax``; raises as :func:`sequential`."""
    is_told = isinstance(vmax, alt.ExprRef)
    low = alt.ExprRef(f"-({vmax.expr})") if is_told else -checked_end(vmax)
    return alt.Scale(domain=[low, vmax], range="diverging", interpolate="rgb", clamp=True)


def finished(
    chart: AnyChart, *, width: Optional[float] = alt.Undefined,
    height: Optional[float] = alt.Undefined, title: Optional[alt.Title] = alt.Undefined,
    params: Mapping[str, Any] | None = None, expressions: Mapping[str, str] | None = None,
    stretch: bool = True, marks: int = 0, canvas: bool = False,
) -> AnyChart:  # fmt: skip
    """The chart with the settings that all charts share.

    Args:
        width, height: px.
        params: lists that its expressions look things up in, and numbers, by name.
        expressions: parameters that follow others, by name: Vega expressions.
        stretch: its width, axes included, follows the host's column. False for charts of several
            views, whose sizes are those of their plots.
        marks: how many it draws, where these may be many: a browser is slow with elements.
        canvas: whether it is painted on a canvas however few they are. Where a mark makes others
            under the pointer, elements would come and go beneath it and lose it.
    """
    copy = chart.copy(deep=False)
    # Set, not passed to `properties`: that checks each against the schema, which takes longer
    # than building the whole chart.
    copy.width, copy.height, copy.title = width, height, title
    copy.autosize = {"type": "fit-x", "contains": "padding"} if stretch else {"type": "pad"}
    # A dict: Streamlit's page fails on a number.
    copy.padding = {"left": 2, "top": 2, "right": 2, "bottom": 2}
    copy.config = _settings()
    if canvas or marks > MOST_ELEMENTS:
        copy.usermeta = {"embedOptions": {"renderer": "canvas"}}
        copy.config["mark"]["aria"] = False  # no screen reader finds a mark on a canvas
    # Not by `add_params`, which copies and checks every layer once more.
    own = [alt.VariableParameter(name=n, expr=e) for n, e in (expressions or {}).items()]
    own += [alt.VariableParameter(name=n, value=v) for n, v in (params or {}).items()]
    if own:
        copy.params = own if is_undefined(copy.params) else [*copy.params, *own]
    return copy


def ramp() -> alt.Chart:
    """A layer that is not seen: gives :data:`ON_LIGHT` its scale in charts without a map."""
    colour = alt.Color("zero:Q", scale=sequential(), legend=None)
    # Not a table: a template has no data of its own.
    zero = alt.sequence(0, 1, as_="zero")
    return alt.Chart(zero).mark_point(opacity=0, aria=False).encode(colour)


def heading(title: str, note: str = "") -> Optional[alt.Title]:
    """A chart's title with a note under it; undefined where both are empty."""
    if title:
        return alt.Title(title, subtitle=note)
    # Vega draws no subtitle under an empty title.
    return alt.Title(note, fontSize=FONT_SIZE, fontWeight="normal") if note else alt.Undefined


def standalone(chart: AnyChart, scheme: Scheme = "light") -> AnyChart:
    """The chart for a place without a theme of its own: with background, text and ramp colours."""
    settings, text, ramp = _settings(), TEXT[scheme], [*SEQUENTIAL[scheme]]
    for part in ("axis", "legend", "header"):
        settings[part] |= {"labelColor": text, "titleColor": text}
    settings["title"] |= {"color": text, "subtitleColor": text}
    settings["background"] = BACKGROUND[scheme]
    ranges = {"diverging": [*DIVERGING[scheme]], "category": [*PANEL_COLOURS.values()]}
    settings["range"] = {"heatmap": ramp, "ramp": ramp, **ranges}
    copy = chart.copy(deep=False)
    copy.config = settings
    return copy


def _settings() -> dict[str, Any]:
    sizes = {"labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE, "labelPadding": 4}
    ink = {"expr": INK}
    texts = {**sizes, "titleFontWeight": "normal", "labelColor": ink, "titleColor": ink}
    return {
        "view": {"stroke": None}, "mark": {"tooltip": None},
        "axis": {
            **texts, "titlePadding": 6, "labelFlush": False, "domain": False, "ticks": False,
            "gridColor": QUIET, "gridOpacity": 0.18,
        },
        "legend": {**texts, "padding": 0, "titlePadding": 4}, "header": sizes,
        "title": {
            "anchor": "start", "fontSize": 13, "fontWeight": 600, "subtitleFontSize": FONT_SIZE,
            "subtitlePadding": 4, "offset": 8,
        },
        "facet": {"spacing": 16},
    }  # fmt: skip
