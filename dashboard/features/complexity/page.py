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
    counted_over,
    points_over,
    times_over,
    titles,
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
from dashboard.language import gettext, ngettext, translated
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
_WIDTH = 176  # px, of a control
# Vaswani et al. 2017, table 1; the exponents are those of the second column.
_FORMULAS = {
    "cnn": "$O(k\\,n\\,d^2)$ | $O(1)$ | $O(n/k)$",
    "rnn": "$O(n\\,d^2)$ | $O(n)$ | $O(n)$",
    "attention": "$O(n^2 d)$ | $O(1)$ | $O(1)$",
}


def _controls(session: Session[Complexity], catalogue: Catalogue) -> None:
    shown.markdown(_formulas())
    shown.caption(
        gettext(
            "Work: multiplications of one layer. In sequence: operations that must wait for each "
            "other. Path: the most steps between two positions. k is the kernel's width."
        )
    )
    with layout.row("complexity-controls"):
        draw_settings(session, catalogue, SETTINGS, width=_WIDTH)
        draw_normaliser_of_view(session, catalogue, width=_WIDTH)
        draw_device(session, catalogue, DEVICE)
        st.button(
            gettext("Measure again"),
            icon=":material/timer:",
            on_click=_again,
            args=(session,),
            help=gettext("With other weights and inputs: the next seed."),
        )


def _formulas() -> str:
    """The table of the costs, in Markdown."""
    columns = gettext("Layer"), gettext("Work"), gettext("In sequence"), gettext("Path")
    head = [" | ".join(columns), ":-- | :-: | :-: | :-:"]
    rows = [f"{title} | {_FORMULAS[layer]}" for layer, title in titles().items()]
    return "\n".join(f"| {row} |" for row in (*head, *rows))


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
    st.progress(min(1.0, latest.fraction or 0.0), text=plain(translated(latest.note)))
    for place, axis in zip(shown.columns(2, gap="large"), AXES, strict=True):
        if len({*points_over(points, axis)[axis]}) > 1:
            with place:
                charts.show_prepared(
                    draw_series,
                    times_over(points, None, axis),
                    gettext(
                        "Milliseconds of one pass over {size}, measured so far",
                        size=gettext(AXES[axis]),
                    ),
                )


def _drawn(result: Result) -> None:
    times, fits = result.tables["times"].to_pandas(), result.facts["fits"]
    for place, axis in zip(shown.columns(2, gap="large"), AXES, strict=True):
        with place:
            fixed, size = "d" if axis == "n" else "n", gettext(AXES[axis])
            largest = times.loc[times["axis"] == axis, fixed].max()
            shown.markdown(
                gettext(
                    "**Time over {size}**, at {fixed} = {largest:,}",
                    size=size, fixed=fixed, largest=largest,
                )
            )  # fmt: skip
            charts.show_filled(
                f"complexity {result.digest} {axis}",
                draw_series,
                lambda axis=axis: times_over(times, fits, axis),
                gettext("Milliseconds of one pass over {size}, with fitted lines", size=size),
            )
            shown.markdown(gettext("**Multiplications over {size}**, counted", size=size))
            charts.show_filled(
                f"complexity counted {result.digest} {axis}",
                draw_series,
                lambda axis=axis: counted_over(times, axis),
                gettext("Multiplications of one pass over {size}", size=size),
            )
    shown.caption(
        gettext(
            "Above the clock's times with the lines fitted to them, below the multiplications "
            "that the formulas count. Lines of one slope in both mean that time follows the "
            "count."
        )
    )
    _exponents(fits)
    _reach(result)
    shown.caption(f"{_measured(result.facts)} {_timed(result.facts['rounds'])}")


def _measured(facts: Mapping[str, Any]) -> str:
    return ngettext(
        "Measured on {device} with {count} thread, torch {torch}, in {seconds:.1f} s.",
        "Measured on {device} with {count} threads, torch {torch}, in {seconds:.1f} s.",
        facts["threads"], device=facts["device"], torch=facts["torch"], seconds=facts["seconds"],
    )  # fmt: skip


def _timed(rounds: int) -> str:
    return ngettext(
        "Each point is the shortest of {count} timing, one sequence at a time, no gradients.",
        "Each point is the shortest of {count} timings, one sequence at a time, no gradients.",
        rounds,
    )


def _exponents(fits: Sequence[Mapping[str, Any]]) -> None:
    shown.header(gettext("Fitted exponents"))
    name = gettext("Layer")
    rows = []
    for layer, title in titles().items():
        row = {name: title}
        for fit in (fit for fit in fits if fit["layer"] == layer):
            axis = fit["axis"]
            row |= {
                gettext("{size}: expected", size=axis): fit["counted"],
                gettext("{size}: measured", size=axis): fit["exponent"],
                gettext("{size}: last doubling", size=axis): fit["last"],
            }
        rows.append(row)
    table = pd.DataFrame(rows).set_index(name)
    two_digits = st.column_config.NumberColumn(format="%.2f")
    shown.table(table, width="stretch", column_config=dict.fromkeys(table, two_digits))
    shown.caption(
        gettext(
            "Time ≈ constant × sizeᵉˣᵖᵒⁿᵉⁿᵗ; measured over all sizes, and over the two largest "
            "alone. Expected is the exponent of the counted multiplications. The clock also sees "
            "the start of every operation, the normaliser, and what fits in the caches: this "
            "bends the lines, most at small sizes, so that a measured exponent may lie far from "
            "the expected one. Other work on the machine scatters the points."
        )
    )


def _reach(result: Result) -> None:
    shown.header(gettext("Operations in sequence, and paths"))
    reach, named = result.tables["reach"].to_pandas(), titles()
    tables = {}
    for name in ("products", "hops"):
        wide = reach.pivot(index="n", columns="layer", values=name)[list(named)]
        tables[name] = wide.rename(columns=named)
    left, right = shown.columns(2, gap="large")
    with left:
        shown.markdown(gettext("**In sequence**: matrix products that must wait for each other"))
        shown.table(tables["products"], width="stretch")
        shown.caption(
            gettext(
                "The longest chain in the graph of one pass. An RNN needs state after state; "
                "self-attention two products, the scores and then the outputs."
            )
        )
    with right:
        shown.markdown(gettext("**Path**: hops from the last output to the first input"))
        shown.table(tables["hops"], width="stretch")
        shown.caption(
            gettext(
                "Followed by the gradient until it is no longer zero at the first input. A hop "
                "is a layer of convolution, a step of recurrence, or a layer of attention."
            )
        )
        shown.caption(_path_of_convolution(int(result.facts["kernel"])))


def _path_of_convolution(kernel: int) -> str:
    """Why its path is as long as it is: half of the kernel looks the other way."""
    side = kernel // 2
    if side == 1:
        return gettext(
            "A kernel of {kernel} reaches one position to each side, so that a convolution needs "
            "n − 1 hops, as many as a recurrence. A wider kernel needs fewer, in proportion to "
            "n/k as in the table above.",
            kernel=kernel,
        )
    return gettext(
        "A kernel of {kernel} reaches {side} positions to each side, so that a convolution needs "
        "(n − 1)/{side} hops, rounded up: in proportion to n/k as in the table above.",
        kernel=kernel, side=side,
    )  # fmt: skip


PAGE = Page(
    name="complexity",
    title="CNN, RNN, self-attention",
    explanation="Three layers that turn n vectors of size d into n others: what each costs, and "
    "how far it sees. The formulas, and this machine.",
    link=LINK,
    controls=_controls,
    requests=requests,
    work=timing_work,
    offer=lambda _: gettext("Time the three layers"),
    results=_results,
    height=_HEIGHT,
)
