"""Results as pictures on a page: finished specifications, kept by request.

Making a specification takes milliseconds and a lock that all sessions share, so each is made once
and handed to the browser as a plain mapping from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts import (
    PANEL_COLOURS,
    TALLEST,
    MapFrame,
    attention_heatmap,
    grid_height,
    head_grid,
    label_room,
    loss_chart,
    maps,
    overlay_curves,
    regression_chart,
    spots,
    top_weight,
    usual_spot,
    weights_legend,
)
from dashboard.engine.protocol import Event
from dashboard.runs.request import Request
from dashboard.runs.result import Result

PANEL_HEIGHT = 430  # px of a panel's curve and map, with room for the axis
LEARNING_HEIGHT = 300
OVERLAY_HEIGHT = 370  # with its axis and legend
_OVERLAY = 260
_SMALLEST_CELL, _LARGEST_CELL, _MAP_SIDE = 24, 44, 270  # px
_ABOVE_MAP, _BELOW_MAP = 96, 48  # px, for a translation's words and for those it did not know
_TITLE = 26  # px, over a map that is one of several
_SPECS_KEPT = 500
_LOSS = "loss, points left out"


def regression_panel(
    request: Request, result: Result, letter: str, shared: Sequence[Result]
) -> None:
    """One panel's curve over its weights, on the colour scale of all results that are shown."""
    vmax = shared_scale(shared)

    def make() -> Any:
        weights = next((frame.weights for frame in frames(result)), None)
        return regression_chart(
            result.tables["curve"],
            result.tables["points"],
            weights,
            colour=PANEL_COLOURS[letter],
            vmax=vmax,
            **_axes(result),
        )

    show(f"regression {request.key} {letter} {vmax}", make, f"Curve and weights of panel {letter}")


def learning(request: Request, result: Result, letter: str) -> None:
    """How the error fell while a panel learned, and where its parameters went."""

    def make() -> Any:
        history = result.tables["history"]
        return loss_chart(history, colour=PANEL_COLOURS[letter], loss_title=_LOSS)

    show(f"learning {request.key} {letter}", make, f"Learning curve of panel {letter}")


def live_learning(events: Sequence[Event], letter: str) -> None:
    """The same while it still learns, as far as it has come."""
    steps = [event.facts for event in events if "loss" in event.facts]
    if len(steps) > 1:
        chart = loss_chart(pd.DataFrame(steps), colour=PANEL_COLOURS[letter], loss_title=_LOSS)
        st.vega_lite_chart(chart.to_dict(validate=False), width="stretch")


def overlay(
    requests: Mapping[str, Request], results: Mapping[str, Result], titles: Mapping[str, str]
) -> None:
    """All curves in one plot, in the colours of their panels."""

    def make() -> Any:
        first = next(iter(results.values()))
        return overlay_curves(
            {titles[letter]: result.tables["curve"] for letter, result in results.items()},
            first.tables["points"],
            colours={titles[letter]: PANEL_COLOURS[letter] for letter in results},
            height=_OVERLAY,
            **_axes(first),
        )

    names = [f"{letter} {requests[letter].key} {title}" for letter, title in titles.items()]
    key = " ".join(names)
    show(f"overlay {key}", make, "The curves of all panels over the training points")


def maps_of(result: Result, kind: str) -> list[MapFrame]:
    """The maps of one kind of attention, a frame per layer; of those as large as the last one."""
    found = [frame for frame in frames(result) if frame.kind == kind]
    return [frame for frame in found if frame.weights.shape[1:] == found[-1].weights.shape[1:]]


def has_grid(shared: Sequence[Result], kind: str) -> bool:
    """Whether any of the results has several maps of this kind."""
    return any(len(spots(maps_of(one, kind))) > 1 for one in shared)


def attention_maps(
    request: Request,
    result: Result,
    letter: str,
    shared: Sequence[Result],
    kind: str,
    spot: str,
    pick: Callable[[str], None],
    gold: Mapping[str, Sequence[tuple[int, int]]] | None = None,
) -> None:
    """Where a translation looked: one map large, and below it all of its kind if there are more.

    All maps that are shown together have cells of one size and equal room for their labels.

    Args:
        spot: which map is large, such as ``"2.3"``; the usual one if the result has no such.
        pick: is told when the reader clicks another one; "" for the usual one.
        gold: ``outlined`` and ``possible`` cells of every map, if the request has any.
    """
    found = maps_of(result, kind)
    layout = _layout([frame for one in shared for frame in maps_of(one, kind)])
    alt = f"Attention of panel {letter}: queries down, keys across"
    key = f"{kind} {request.key} {sorted(layout.items())}"
    if len(spots(found)) == 1:
        title = "one layer, one head" if has_grid(shared, kind) else ""

        def make() -> Any:
            frame = found[0]
            sizes = {name: size for name, size in layout.items() if name != "height"}
            labels = frame.query_labels, frame.key_labels
            return attention_heatmap(frame.weights, *labels, title=title, **sizes, **(gold or {}))

        show(f"{key} {title}", make, alt)
        return
    usual = usual_spot(found)
    wanted = spot if spot in spots(found) else usual
    widget, start = _started(f"maps-{letter}-{kind}", wanted)

    def picked() -> None:
        chosen = _picked(widget)
        pick("" if chosen == usual else chosen)

    st.vega_lite_chart(
        _spec(f"{key} {start}", lambda: head_grid(found, chosen=start, **layout, **(gold or {}))),
        width="stretch",
        alt=alt,
        key=widget,
        on_select=picked,
        selection_mode="head",
    )


def _layout(drawn: Sequence[MapFrame]) -> dict[str, int]:
    rows = max(len(frame.query_labels) for frame in drawn)
    cell = _cell(rows, max(len(frame.key_labels) for frame in drawn))
    return {
        "cell": cell,
        "query_room": max(label_room(frame.query_labels) for frame in drawn),
        "key_room": max(label_room(frame.key_labels) for frame in drawn),
        "height": min(rows * cell, TALLEST),
    }


def _started(name: str, wanted: str) -> tuple[str, str]:
    """The key of a grid of heads, and the map that it starts with.

    What the reader clicks is shown by the chart itself, which therefore stays as it is; it is made
    anew, under another key, only where something else than what it shows is wanted.
    """
    number, start = st.session_state.get(name, (0, wanted))
    if wanted != (_picked(f"{name}-{number}") or start):
        number, start = number + 1, wanted
    st.session_state[name] = number, start
    return f"{name}-{number}", start


def _picked(key: str) -> str:
    """Which map the reader clicked in a grid of heads; empty where none was."""
    points = st.session_state.get(key, {}).get("selection", {}).get("head") or [{}]
    return str(points[0].get("map", ""))


def translation_height(text: str, shared: Sequence[Result], kind: str) -> int:
    """Room for a translation with its maps; a guess by the sentence while there is no result."""
    found = [maps_of(one, kind) for one in shared]
    drawn = [frame for maps in found for frame in maps]
    if not drawn:
        words = len(text.split()) + 2
        return _ABOVE_MAP + 40 + min(words * _cell(words, words), TALLEST) + _BELOW_MAP
    layout = _layout(drawn)
    grids = max(grid_height(maps) for maps in found if maps)
    more = _TITLE + grids if grids else 0
    return _ABOVE_MAP + layout["key_room"] + layout["height"] + more + _BELOW_MAP


def _cell(rows: int, columns: int) -> int:
    side = _MAP_SIDE // max(rows, columns)
    return min(max(side, _SMALLEST_CELL), _LARGEST_CELL)


def shared_scale(results: Sequence[Result]) -> float:
    """The end of the colour scale that panels share: the largest weight that any of them has."""
    return top_weight([frame.weights for one in results for frame in frames(one)])


def legend(vmax: float) -> None:
    """What the colours of all maps mean."""
    show(f"legend {vmax}", lambda: weights_legend(vmax), f"Colours from weight 0 to {vmax:g}")


def frames(result: Result) -> list[MapFrame]:
    """The attention maps that a result holds."""
    table = result.tables.get("maps")
    return maps(table) if table is not None else []


def show(key: str, make: Callable[[], Any], alt: str, *, stretch: bool = True) -> None:
    """Draw the chart of that key, made now if nobody needed it before.

    Args:
        stretch: whether it is as wide as its column; False for a shape that must stay.
    """
    st.vega_lite_chart(_spec(key, make), width="stretch" if stretch else "content", alt=alt)


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def _spec(key: str, _make: Callable[[], Any]) -> dict[str, Any]:
    return _make().to_dict(validate=False)


def _axes(result: Result) -> dict[str, str]:
    return {"x_title": result.facts["x_names"][0], "y_title": result.facts["y_name"]}
