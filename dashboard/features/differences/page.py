"""Differences: several models read one sentence and one target, and where do they look apart?"""

from functools import partial
from typing import NamedTuple

import pandas as pd
import streamlit as st

from dashboard.charts import map_names, usual_map
from dashboard.charts.summary import fixed
from dashboard.charts.template import chart_of
from dashboard.features.differences import pair as comparison
from dashboard.features.differences import view as differences
from dashboard.features.differences.chart_linked import draw_linked
from dashboard.features.differences.pair import Asked, Compared, Pair, Side
from dashboard.features.differences.view import Differences
from dashboard.language import gettext, together
from dashboard.links.fits import resolve, untrained, usual_panels
from dashboard.links.panels import checkpoints_of, with_map
from dashboard.records.beside import beside
from dashboard.records.interventions import KINDS
from dashboard.records.request import Result
from dashboard.ui import charts, checkpoints, export, layout, results, shown, translations
from dashboard.ui.fields import draw_device
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, place, plain

_SAID = beside(__file__, "words.toml")["page"]
_USUAL_PANELS = 3
_CHART = 420  # px, of a chart to come
_WORDS = beside(__file__, "words.toml")
_POINT = _WORDS["point"]


class _Places(NamedTuple):
    """Where on the page things go that come after the controls were read."""

    target: shown.Place
    panels: dict[str, checkpoints.PanelPlaces]
    kind: shown.Place
    export: shown.Place


def _controls(session: Session[Differences]) -> _Places:
    with layout.row("differences-sentence"):
        before = session.view.corpus
        known = [*checkpoints_of(session.view, session.catalogue).values()]
        target = differences.TARGET
        translations.draw_sentences(
            session, known, differences.TEXT, target, placeholder=target.placeholder
        )
        moved = checkpoints.draw_corpus(session, differences.CORPUS, known)
        draw_device(session, differences.DEVICE)
    checkpoints.draw_examples(session, differences.TEXT, target, known=known)
    if moved:
        panels = usual_panels(session.catalogue, session.view.corpus)
        translations.follow_corpus(
            session, before, panels=panels, letters="", selected=(), kind=KINDS[0], pair=""
        )
    target_said = shown.container(key="differences-target-said")
    places = checkpoints.draw_panels(session, formulas=False, without=differences.without_panel)
    with layout.row("differences-choices"):
        _choose_pair(session)
        kind = shown.container(width="content")
        checkpoints.add_panel(session)
        return _Places(target_said, places, kind, shown.container(width="content"))


def _choose_pair(session: Session[Differences]) -> None:
    view, offered = session.view, differences.pairs_of(session.view)
    if len(offered) < 2:
        session.update(pair="")
        return
    drawn = view.pair if view.pair in offered else offered[0]
    key = session.key("pair")
    # None where the chosen one was clicked again.
    place(key, drawn, session.fresh or st.session_state.get(key) not in offered)
    chosen = st.segmented_control(
        gettext("Difference"), offered, key=key, format_func=lambda pair: pair.replace("-", " − "),
        label_visibility="collapsed",
    )  # fmt: skip
    session.update(pair="" if chosen == offered[0] else chosen or view.pair)


def _results(session: Session[Differences], places: _Places) -> None:
    view = session.view
    what = comparison.asked(view, session.catalogue, session.jobs)
    seen = comparison.compared(view, session.catalogue, what, session.jobs)
    with places.target:
        _target_missing(session, what)
    for letter in view.by_letter:
        with places.panels[letter].result:
            _panel(session, letter, what, seen)
    with places.kind:
        translations.draw_kind(session, session.jobs.done())
    request = seen.pair.request(view, what.target) if seen.pair else None
    event = session.jobs.final(request) if request else None
    if seen.waiting or (request and event is None):
        _wait_for_more(session, seen)
    if request and event and event.result is None and results.failure(event, "differences-pair"):
        session.jobs.retry(request)
        st.rerun()
    if seen.sides:
        _comparison(session, what, seen, event.result if event else None, places.export)
    else:
        _target_said(session, what)


def _wait_for_more(session: Session[Differences], seen: Compared) -> None:
    """Draws the page again as soon as there is another panel's result, or the comparison."""
    known = len(session.jobs.done())

    def look() -> None:
        if len(session.jobs.done()) > known or session.jobs.settled():
            st.rerun()
        if not seen.sides:
            st.skeleton(_CHART)

    st.fragment(run_every=session.jobs.pace(results.POLL))(look)()


def _comparison(
    session: Session[Differences], what: Asked, seen: Compared, result: Result | None,
    menu: shown.Place,
) -> None:  # fmt: skip
    sides, pair = seen.sides, seen.pair
    if sentence := _verdict(session, seen, result):
        shown.caption(sentence)
    keys = ["linked", *(f"{side.key} {side.selected}" for side in sides)]
    if pair and result:
        keys += [pair.name, result.digest]
    try:
        charts.show_filled(
            " ".join(keys), draw_linked, partial(comparison.prepare_sides, sides, pair, result),
            together([gettext("Maps of panels, rows linked."), gettext(_POINT)]),
        )  # fmt: skip
    except ValueError as error:
        sentence = gettext("These maps are too large to lay beside each other: {why}", why=error)
        shown.caption(f":material/grid_off: {sentence}")
        _target_said(session, what)
        return
    _target_said(session, what)
    shown.caption(together([gettext(_POINT), gettext(translations.AXES[session.view.kind])]))
    if pair and result:
        with menu:
            drawn = {
                gettext("linked maps"): lambda: chart_of(
                    draw_linked, comparison.prepare_sides(sides, pair, result)
                ),
                gettext("difference {pair}", pair=pair.name): lambda: chart_of(
                    draw_linked, comparison.prepare_sides((), pair, result)
                ),
            }
            tables = Result(tables=pair.tables(result))
            export.menu(None, tables, drawn, "differences", title=gettext("Differences"))
        _head_matching(session, pair, result)


def _verdict(session: Session[Differences], seen: Compared, result: Result | None) -> str:
    if seen.pair:
        return plain(seen.pair.verdict(result)) if result else ""
    if seen.waiting:
        return ""
    if len(session.view.panels) < 2:
        return gettext("Add a second panel to see a difference.")
    return gettext("No difference to show: one of the two panels has no map of this kind.")


_HEADER, _ROW, _MOST_ROWS = 38, 35, 8  # px, px, and rows before the table scrolls
_WIDTH = 520  # px


class _Match(NamedTuple):
    """Two heads by their names; ``other`` and ``r`` are None where there is no match."""

    one: str
    other: str | None
    r: float | None


def _head_matching(session: Session[Differences], pair: Pair, result: Result) -> None:
    """For each head of the one panel the most similar head of the other."""
    one, other = pair.one, pair.other
    if one.heads * other.heads < 2:
        if (r := result.facts["correlation"]) is not None:
            shown.caption(gettext(_SAID["correlation"], number=fixed(r)))
        return
    rows = [_Match(*row.values()) for row in result.tables["matches"].to_pylist()]
    shown.header(gettext(_SAID["matching"], one=one.letter, other=other.letter))
    shown.caption(gettext(_WORDS["how"]))
    start = _start(pair, rows)
    said = start and gettext(
        _SAID["shows"], one=one.letter, head=comparison.map_title(one.frames, start.one),
        other=other.letter,
    )  # fmt: skip
    st.button(
        gettext("Use matched heads"), icon=":material/join_inner:", key="differences-use-matched",
        disabled=start is None, help=said, on_click=_use, args=(session, pair, start),
    )  # fmt: skip
    key = f"differences-match {one.key} {other.key}"

    def use_row() -> None:
        chosen = st.session_state[key]["selection"]["rows"]
        if chosen:
            _use(session, pair, rows[chosen[0]])

    table = {
        gettext("panel {letter}", letter=one.letter): [
            comparison.map_title(one.frames, row.one) for row in rows
        ],
        gettext("best match in panel {letter}", letter=other.letter): [
            comparison.map_title(other.frames, row.other) if row.other else gettext("none")
            for row in rows
        ],
        "r": pd.Series([row.r for row in rows], dtype="float64"),
    }
    shown.table(
        pd.DataFrame(table), hide_index=True, width=_WIDTH,
        height=_HEADER + _ROW * min(len(rows), _MOST_ROWS),
        column_config={"r": st.column_config.NumberColumn(format="%.3f")}, on_select=use_row,
        selection_mode="single-row", key=key,
    )  # fmt: skip


def _start(pair: Pair, rows: list[_Match]) -> _Match | None:
    """The selected head and its match; the two heads that are most alike where it has none."""
    matched = {row.one: row for row in rows if row.other is not None}
    best = max(matched.values(), key=lambda row: row.r or 0.0, default=None)
    return matched.get(pair.one.selected, best)


def _use(session: Session[Differences], pair: Pair, match: _Match | None) -> None:
    if match is None or match.other is None:
        return
    view = session.view
    for side, name in ((pair.one, match.one), (pair.other, match.other)):
        view = with_map(view, side.letter, "" if name == usual_map(side.frames) else name)
    session.change(view)


_FACTS, _FAILED = 92, 170  # px: a panel's few words, its failure


def _panel(session: Session[Differences], letter: str, what: Asked, seen: Compared) -> None:
    """A panel's few words, and its choice of a map."""
    view, name = session.view, session.view.by_letter[letter]
    if resolve(session.catalogue, view.corpus, name) is None:
        sentence = untrained(session.catalogue, view.corpus, name)
        results.absent(sentence, _FAILED, f"panel-{letter}-result")
        return
    if letter not in what.forced:
        if not view.text:
            shown.caption(gettext("The sentence is empty: write one above."))
        return
    request = what.forced[letter]
    event = session.jobs.final(request)
    height = _FAILED if event and event.result is None else _FACTS

    def facts(result: Result) -> None:
        value = fixed(result.facts["log_probability"])
        shown.caption(gettext("log-probability {value} of the target", value=value))
        translations.unknown_words(result)

    results.results(session.jobs, request, facts, height, f"panel-{letter}-result", grows=True)
    side = next((side for side in seen.sides if side.letter == letter), None)
    if side:
        _choose_map(session, side)
        if side.of_words:
            shown.caption(gettext(_SAID["of_words"]))
    elif letter in seen.misfits:
        shown.caption(f":material/grid_off: {seen.misfits[letter]}")
    elif event and event.result:
        shown.caption(translations.without(view.kind))


def _target_missing(session: Session[Differences], what: Asked) -> None:
    """Why there is no target, where the reader gave none and no panel has said one."""
    if not what.speaker:
        return
    request = what.words[-1]
    event = session.jobs.final(request)
    if event is None or event.result is None:
        results.results(session.jobs, request, lambda _: None, _FAILED, "differences-words")
        return
    if not what.target:
        shown.caption(gettext(_SAID["no_translation"], panel=what.speaker))


def _target_said(session: Session[Differences], what: Asked) -> None:
    """The target, where a panel said it, and the way to keep it."""
    if not (what.speaker and what.target):
        return
    with shown.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = gettext(_SAID["given"], panel=what.speaker, target=plain(what.target))
        shown.caption(words, width="content")
        st.button(
            gettext("Force these words"), type="tertiary", icon=":material/push_pin:",
            help=gettext("Writes them into the field, and so into the link."),
            on_click=lambda: session.change(target=what.target),
        )  # fmt: skip


def _choose_map(session: Session[Differences], side: Side) -> None:
    offered = map_names(side.frames)
    if len(offered) < 2:
        return
    key = session.key(side.letter, "map")

    def select() -> None:
        chosen = st.session_state[key]
        name = "" if chosen == usual_map(side.frames) else chosen
        session.update(selected=with_map(session.view, side.letter, name).selected)

    choose(
        gettext("Map of panel {letter}", letter=side.letter), offered, side.selected, key, True,
        format_func=partial(comparison.map_title, side.frames), on_change=select,
        label_visibility="collapsed",
    )  # fmt: skip


PAGE = Page(
    name="differences", **_WORDS["heading"], link=differences.LINK, controls=_controls,
    follow_ups=comparison.follow_ups, results=_results, empty=checkpoints.nothing_trained,
    panels=_USUAL_PANELS, height=_CHART,
)  # fmt: skip
