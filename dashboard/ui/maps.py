"""The attention maps of a translation on a page, and how much room they take."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import altair as alt
import numpy as np
import streamlit as st

from dashboard import charts
from dashboard.charts.frames import any_signed, map_title
from dashboard.charts.head_grid import prepare_head_grid
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.template import Prepared, chart_of
from dashboard.language import gettext, gettext_noop
from dashboard.records.request import Result
from dashboard.ui import shown
from dashboard.ui.charts import Drawn, filled, show_filled
from dashboard.ui.widgets import picked, place

_SMALLEST_CELL, _LARGEST_CELL, _MAP_SIDE = 24, 44, 270  # px
_ABOVE_MAP, _BELOW_MAP = 96, 48  # px, for a translation's words and what stands below a map
_WARNING = 72  # px, of what is said of words that a model does not know
_RESULTS_KEPT = 64
_WARNINGS = ("reads_as_target", "unknown", "target_unknown")
_SIGNS = frozenset(("<unk>",))  # which say themselves that a word is unknown
_TITLE = 26  # px, over a map that is one of several
_CHOICE = 54  # px, below it, for the choice of another one by keyboard

# Of what is said of rows that are no distributions.
SIGNED = gettext_noop(
    "Weights may be below 0 here: figures of shares, such as entropy, are left out."
)


class Gold(NamedTuple):
    """The cells ``(query, key)`` of a map that a gold alignment links: surely, and possibly."""

    outlined: Sequence[tuple[int, int]]
    possible: Sequence[tuple[int, int]]


class Layout(NamedTuple):
    """What maps that are shown together share, in px: cells, room for labels, the large map."""

    cell: int
    query_room: int
    key_room: int
    height: int


def maps_of(result: Result, kind: str) -> list[charts.MapFrame]:
    """The maps of one kind of attention, a frame per layer, as large as the last one."""
    found = [frame for frame in frames(result) if frame.kind == kind]
    return [frame for frame in found if frame.weights.shape[1:] == found[-1].weights.shape[1:]]


def marked(result: Result, kind: str) -> list[charts.MapFrame]:
    """The maps of one kind, where the words that the model does not know are marked (?)."""
    source, target = (frozenset(result.facts.get(name) or ()) - _SIGNS
                      for name in ("unknown", "target_unknown"))  # fmt: skip
    queries = source if kind == "encoder" else target
    keys = target if kind == "decoder" else source

    def told(labels: Sequence[str], unknown: frozenset[str]) -> tuple[str, ...]:
        return tuple(f"{label} (?)" if label in unknown else label for label in labels)

    return [
        replace(frame, query_labels=told(frame.query_labels, queries),
                key_labels=told(frame.key_labels, keys))
        if source | target else frame
        for frame in maps_of(result, kind)
    ]  # fmt: skip


def has_pieces(result: Result, kind: str) -> bool:
    """Whether labels are pieces of words."""
    labels = (label for frame in maps_of(result, kind)[:1]
              for label in (*frame.query_labels, *frame.key_labels))  # fmt: skip
    return any(map(charts.goes_on, labels))


def has_grid(shared: Sequence[Result], kind: str) -> bool:
    """Whether any of the results has several maps of this kind."""
    return any(len(charts.map_names(maps_of(one, kind))) > 1 for one in shared)


class Scale(NamedTuple):
    """The end of the colours; whether they are logarithmic or have two sides; what they show."""

    vmax: float = 1.0
    log: bool = False
    signed: bool = False
    quantity: str = gettext_noop("weight")


_LINEAR = Scale()


class Choice(NamedTuple):
    """Which maps are shown, and which of them is large; the usual one if a result lacks it.

    What the reader clicks goes to ``select``, with ``""`` for the usual one. ``gold`` is outlined.
    """

    kind: str
    selected: str
    select: Callable[[str], None]
    gold: Gold | None = None
    scale: Scale = _LINEAR


def attention_maps(
    result: Result, letter: str, shared: Sequence[Result], choice: Choice, name: str = ""
) -> None:
    """Where a translation looked: one map large, and below it all of its kind if there are more.

    All ``shared`` results have cells of one size and equal room for their labels. ``name`` says
    whose maps these are, if not the panel's.
    """
    kind, selected, select, gold, scale = choice
    scale = scale._replace(signed=scale.signed or are_signed(shared))
    name = name or gettext("panel {letter}", letter=letter)
    found = marked(result, kind)
    layout = _layout([frame for one in shared for frame in marked(one, kind)])
    described = gettext("Attention of {name}: queries down, keys across", name=name)
    key = f"{kind} {result.digest} {layout} {gold} {scale}"
    if len(charts.map_names(found)) == 1:
        title = gettext("one layer, one head") if has_grid(shared, kind) else ""
        prepare = functools.partial(_prepare, found, "", gold, layout, scale, title)
        show_filled(f"{key} {title}", draw_heatmap, prepare, described)
        return
    usual = charts.usual_map(found)
    wanted = selected if selected in charts.map_names(found) else usual
    widget, start = _started(f"maps-{letter}-{kind}", wanted)

    def use(chosen: str) -> None:
        select("" if chosen == usual else chosen)

    def drawn(map: str) -> Drawn:
        prepare = functools.partial(_prepare, found, map, gold, layout, scale)
        return filled(f"{key} {map}", draw_heatmap, prepare)

    shown.chart(
        drawn(start).spec, described, kept=shown.Kept(lambda: drawn(wanted).spec),
        summary=drawn(wanted).summary, key=widget, on_select=lambda: use(_picked(widget)),
        selection_mode="head",
    )  # fmt: skip
    other = f"maps-{letter}-{kind}-choice"
    st.selectbox(
        gettext("Large map of {name}", name=name), charts.map_names(found), format_func=map_title,
        key=place(other, wanted, fresh=True), label_visibility="collapsed",
        on_change=picked(other, use),
    )  # fmt: skip


def maps_chart(
    found: Sequence[charts.MapFrame], selected: str, gold: Gold | None = None
) -> alt.LayerChart | alt.FacetChart:
    """The only map of one kind, or the selected one large over all of them."""
    return chart_of(draw_heatmap, _prepare(found, selected, gold, _layout(found)))


def _prepare(
    found: Sequence[charts.MapFrame], selected: str, gold: Gold | None, layout: Layout,
    scale: Scale = _LINEAR, title: str = "",
) -> Prepared:  # fmt: skip
    outlined, possible = gold or (None, ())
    cell, query_room, key_room, height = layout
    more = {"outlined": outlined, "possible": possible, "cell": cell, "query_room": query_room,
            "key_room": key_room, **scale._asdict()}  # fmt: skip
    if len(charts.map_names(found)) > 1:
        return prepare_head_grid(found, chosen=selected, height=height, **more)
    only = found[0]
    return prepare_heatmap(
        only.weights, only.query_labels, only.key_labels, title=title, **more
    )  # fmt: skip


def _layout(drawn: Sequence[charts.MapFrame]) -> Layout:
    rows = max(len(frame.query_labels) for frame in drawn)
    cell = _cell(rows, max(len(frame.key_labels) for frame in drawn))
    return Layout(
        cell=cell, query_room=max(charts.label_room(frame.query_labels) for frame in drawn),
        key_room=max(charts.label_room(frame.key_labels) for frame in drawn),
        height=min(rows * cell, charts.TALLEST),
    )  # fmt: skip


def _started(name: str, wanted: str) -> tuple[str, str]:
    """The key of a grid of heads, and the map that it starts with.

    What the reader clicks is shown by the chart itself, which stays as it is; it is made anew,
    under another key, only where something else than what it shows is wanted.
    """
    number, start = st.session_state.get(name, (0, wanted))
    if wanted != (_picked(f"{name}-{number}") or start):
        number, start = number + 1, wanted
    st.session_state[name] = number, start
    return f"{name}-{number}", start


def _picked(key: str) -> str:
    points = st.session_state.get(key, {}).get("selection", {}).get("head") or [{}]
    return str(points[0].get("map", ""))


def translation_height(text: str, shared: Sequence[Result], kind: str) -> int:
    """Room for a translation with its maps; a guess by the sentence while there is no result."""
    found = [maps_of(one, kind) for one in shared]
    if not any(found):
        words = len(text.split()) + 2
        return _ABOVE_MAP + 40 + min(words * _cell(words, words), charts.TALLEST) + _BELOW_MAP
    layout = _layout([frame for one in shared for frame in marked(one, kind)])
    grids = max(charts.grid_height(each) for each in found if each)
    more = _TITLE + grids + _CHOICE if grids else 0
    warnings = max(sum(bool(one.facts.get(name)) for name in _WARNINGS) for one in shared)
    return _ABOVE_MAP + warnings * _WARNING + layout.key_room + layout.height + more + _BELOW_MAP


def _cell(rows: int, columns: int) -> int:
    return min(max(_MAP_SIDE // max(rows, columns), _SMALLEST_CELL), _LARGEST_CELL)


def shared_scale(results: Sequence[Result]) -> float:
    """The end of the colour scale that panels share: the farthest from 0 that any weight is."""
    return charts.top_weight([np.array([_largest(_Key(one))]) for one in results])


def are_signed(results: Sequence[Result]) -> bool:
    """Whether weights of any may be below 0: all are then drawn on the scale of two sides."""
    return any(_signed(_Key(one)) for one in results)


def say_signed(signed: bool) -> None:
    """Say what is left out of weights that may be below 0."""
    if signed:
        shown.caption(gettext(SIGNED))


def largest_weight(result: Result) -> float:
    """How far from 0 a result's weights reach; 1 where all are 0."""
    largest = _largest(_Key(result))
    return largest if largest > 0 else 1.0


def frames(result: Result) -> list[charts.MapFrame]:
    """The attention maps that a result holds."""
    return _frames(_Key(result))


class _Key(str):
    """A result as the key of a cache, by its digest.

    A run asks for the same frames dozens of times, and Streamlit's caches take a third of a
    millisecond for each answer.
    """

    result: Result

    def __new__(cls, result: Result) -> "_Key":
        key = super().__new__(cls, result.digest)
        key.result = result
        return key


@functools.lru_cache(maxsize=_RESULTS_KEPT)
def _frames(key: _Key) -> list[charts.MapFrame]:
    table = key.result.tables.get("maps")
    mean = key.result.facts.get("measure") == "rollout"
    return [replace(one, is_mean=mean) for one in charts.maps(table)] if table is not None else []


@functools.lru_cache(maxsize=_RESULTS_KEPT)
def _signed(key: _Key) -> bool:
    return any_signed(_frames(key))


@functools.lru_cache(maxsize=_RESULTS_KEPT)
def _largest(key: _Key) -> float:
    held = [np.abs(frame.weights) for frame in _frames(key) if frame.weights.size]
    return max(map(float, map(np.nanmax, held)), default=0.0)
