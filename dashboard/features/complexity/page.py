"""Convolution, recurrence, self-attention: what each costs, by formula and by the clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.series import draw_series
from dashboard.features.complexity.figures import (
    AXES,
    LAYERS,
    counted_over,
    points_over,
    times_over,
)
from dashboard.features.complexity.view import (
    DEVICE,
    LINK,
    SETTINGS,
    Complexity,
    requests,
    timing_work,
)
from dashboard.jobs.backend import Event
from dashboard.links.attending import absent_normaliser
from dashboard.links.fields import next_seed
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.attending import draw_normaliser_of_view
from dashboard.ui.fields import draw_device, draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_HEIGHT = 440  # px, of the charts with their legends and captions
_WIDTH = 190  # px, of a control
# Vaswani et al. 2017, table 1; the exponents are those of the second column.
_FORMULAS = """
| Layer | Work | In sequence | Path |
|:--|:-:|:-:|:-:|
| CNN | $O(k\\,n\\,d^2)$ | $O(1)$ | $O(n/k)$ |
| RNN | $O(n\\,d^2)$ | $O(n)$ | $O(n)$ |
| Self-attention | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
"""


def _controls(session: Session[Complexity], catalogue: Catalogue) -> None:
    shown.markdown(_FORMULAS)
    shown.caption(
        "Work: multiplications of one layer. In sequence: operations that must wait for each "
        "other. Path: the most steps between two positions. k is the kernel's width."
    )
    with layout.row("complexity-controls"):
        draw_settings(session, catalogue, SETTINGS, width=_WIDTH)
        draw_normaliser_of_view(session, catalogue, width=_WIDTH)
        draw_device(session, catalogue, DEVICE)
        st.button(
            "Measure again",
            icon=":material/timer:",
            on_click=_again,
            args=(session,),
            help="With other weights and inputs: the next seed.",
        )


def _results(session: Session[Complexity], catalogue: Catalogue, _: None) -> None:
    if absent := absent_normaliser(session.view, catalogue):
        results.absent(absent, _HEIGHT, "complexity-absent")
        return
    (request,) = requests(session.view, catalogue)
    running = session.jobs.final(request) is None
    results.results(
        session.jobs,
        request,
        _drawn,
        _HEIGHT,
        "complexity-result",
        meanwhile=_live if running else None,
        grows=True,
    )


def _again(session: Session[Complexity]) -> None:
    session.change(replace(session.view, seed=next_seed(session.view.seed)))


def _live(events: Sequence[Event]) -> None:
    """The points measured so far, under the job's progress."""
    timed = [event.facts for event in events if "seconds" in event.facts]
    if not timed:
        results.waiting(events, _HEIGHT)
        return
    # Each point is told again in every round; the last time counts.
    points = pd.DataFrame(timed).drop_duplicates(subset=["layer", "n", "d"], keep="last")
    latest = events[-1]
    st.progress(min(1.0, latest.fraction or 0.0), text=plain(latest.note))
    for place, axis in zip(shown.columns(2, gap="large"), AXES, strict=True):
        if len({*points_over(points, axis)[axis]}) > 1:
            with place:
                charts.show_prepared(
                    draw_series,
                    times_over(points, None, axis),
                    f"Milliseconds of one pass over {AXES[axis]}, measured so far",
                )


def _drawn(result: Result) -> None:
    times, fits = result.tables["times"].to_pandas(), result.facts["fits"]
    for place, axis in zip(shown.columns(2, gap="large"), AXES, strict=True):
        with place:
            fixed = "d" if axis == "n" else "n"
            largest = times.loc[times["axis"] == axis, fixed].max()
            shown.markdown(f"**Time over {AXES[axis]}**, at {fixed} = {largest:,}")
            charts.show_filled(
                f"complexity {result.digest} {axis}",
                draw_series,
                lambda axis=axis: times_over(times, fits, axis),
                f"Milliseconds of one pass over {AXES[axis]}, with fitted lines",
            )
            shown.markdown(f"**Multiplications over {AXES[axis]}**, counted")
            charts.show_filled(
                f"complexity counted {result.digest} {axis}",
                draw_series,
                lambda axis=axis: counted_over(times, axis),
                f"Multiplications of one pass over {AXES[axis]}",
            )
    shown.caption(
        "Above the clock's times with the lines fitted to them, below the multiplications that "
        "the formulas count. Lines of one slope in both mean that time follows the count."
    )
    _exponents(fits)
    _reach(result)
    threads, rounds = result.facts["threads"], result.facts["rounds"]
    shown.caption(
        f"Measured on {result.facts['device']} with {threads} thread{'s' * (threads > 1)}, torch "
        f"{result.facts['torch']}, in {result.facts['seconds']:.1f} s; each point is the shortest "
        f"of {rounds} timing{'s' * (rounds > 1)}, one sequence at a time, no gradients."
    )


def _exponents(fits: Sequence[Mapping[str, Any]]) -> None:
    shown.header("Fitted exponents")
    rows = []
    for layer, title in LAYERS.items():
        row = {"Layer": title}
        for fit in (fit for fit in fits if fit["layer"] == layer):
            axis = fit["axis"]
            row |= {
                f"{axis}: expected": fit["counted"],
                f"{axis}: measured": fit["exponent"],
                f"{axis}: last doubling": fit["last"],
            }
        rows.append(row)
    table = pd.DataFrame(rows).set_index("Layer")
    two_digits = st.column_config.NumberColumn(format="%.2f")
    shown.table(table, width="stretch", column_config=dict.fromkeys(table, two_digits))
    shown.caption(
        "Time ≈ constant × sizeᵉˣᵖᵒⁿᵉⁿᵗ; measured over all sizes, and over the two largest alone. "
        "Expected is the exponent of the counted multiplications. The clock also sees the start "
        "of every operation, the normaliser, and what fits in the caches: this bends the lines, "
        "most at small sizes, so that a measured exponent may lie far from the expected one. "
        "Other work on the machine scatters the points."
    )


def _reach(result: Result) -> None:
    shown.header("Operations in sequence, and paths")
    reach = result.tables["reach"].to_pandas()
    tables = {}
    for name, title in (("products", "one after another"), ("hops", "hops")):
        wide = reach.pivot(index="n", columns="layer", values=name)[list(LAYERS)]
        tables[title] = wide.rename(columns=LAYERS)
    left, right = shown.columns(2, gap="large")
    with left:
        shown.markdown("**In sequence**: matrix products that must wait for each other")
        shown.table(tables["one after another"], width="stretch")
        shown.caption(
            "The longest chain in the graph of one pass. An RNN needs state after state; "
            "self-attention two products, the scores and then the outputs."
        )
    with right:
        shown.markdown("**Path**: hops from the last output to the first input")
        shown.table(tables["hops"], width="stretch")
        shown.caption(
            "Followed by the gradient until it is no longer zero at the first input. A hop is a "
            "layer of convolution, a step of recurrence, or a layer of attention."
        )
        shown.caption(_path_of_convolution(int(result.facts["kernel"])))


def _path_of_convolution(kernel: int) -> str:
    """Why its path is as long as it is: half of the kernel looks the other way."""
    side = kernel // 2
    if side == 1:
        return (
            f"A kernel of {kernel} reaches one position to each side, so that a convolution needs "
            "n − 1 hops, as many as a recurrence. A wider kernel needs fewer, in proportion to "
            "n/k as in the table above."
        )
    return (
        f"A kernel of {kernel} reaches {side} positions to each side, so that a convolution needs "
        f"(n − 1)/{side} hops, rounded up: in proportion to n/k as in the table above."
    )


PAGE = Page(
    name="complexity",
    title="CNN, RNN, self-attention",
    explanation="Three layers that turn n vectors of size d into n others: what each costs, and "
    "how far it sees. The formulas, and this machine.",
    link=LINK,
    controls=_controls,
    requests=requests,
    work=timing_work,
    offer=lambda _: "Time the three layers",
    results=_results,
    height=_HEIGHT,
)
