"""The price of a swap: another scoring in a trained model, untuned and tuned."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import streamlit as st

from dashboard.charts.frames import maps
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.features.swaps import view as swaps
from dashboard.features.swaps.view import MOST, SHIPPED, Swaps
from dashboard.language import gettext, gettext_noop, listed, ngettext, translated
from dashboard.links import recipes as links
from dashboard.links.attending import absent_normaliser
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result, is_formula
from dashboard.ui import charts, checkpoints, fields, layout, recipes, results, shown
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, place, plain

Row = Mapping[str, Any]
BEYOND = ("better", "worse")  # verdicts of differences that are no chance
_CHEAP = 0.05  # nats a token


def signed(value: float, digits: int = 2) -> float:
    """The value rounded, and never a zero below zero."""
    return round(value, digits) + 0.0


def sentences(rows: Sequence[Row], facts: Mapping[str, Any], title: Callable[[Row], str]
              ) -> list[str]:  # fmt: skip
    """What is seen in the table, for a place that reads Markdown."""
    budget, said, untuned = facts["budget"], [], None
    for rate in (0.0, *budget["rates"]):
        own = [row for row in rows if row["rate"] == rate]
        loss = next((row["loss"] for row in own if row["cost"] is None), None)
        costs = [(row["cost"], plain(title(row))) for row in own if row["cost"] is not None]
        costs.sort(key=lambda one: one[0])
        if costs and loss is not None:
            untuned = loss if untuned is None else untuned
            tuned = _tuned(loss, loss - untuned, costs, rate, budget["steps"])
            said.append(tuned if rate else _untuned(loss, costs))
    compared = [row for row in rows if row["cost"] is not None]
    return [*said, _chance(compared, budget["seeds"])] if compared else said


def _untuned(loss: float, costs: Sequence[tuple[float, str]]) -> str:
    (low, cheapest), (high, dearest) = costs[0], costs[-1]
    if len(costs) == 1:
        return gettext(_SAID["one"], loss=loss, swap=cheapest, cost=signed(low))
    return gettext(
        _SAID["untuned"], loss=loss, cheapest=cheapest, low=signed(low), dearest=dearest,
        high=signed(high),
    )  # fmt: skip


def _tuned(
    loss: float, change: float, costs: Sequence[tuple[float, str]], rate: float, steps: int
) -> str:
    high, dearest = costs[-1]
    cheap = [name for cost, name in costs if cost < _CHEAP]
    return gettext(
        _SAID["tuned"], steps=steps, rate=rate, loss=loss, change=signed(change), bound=_CHEAP,
        count=len(cheap), total=len(costs), names=listed(cheap) if cheap else gettext("none"),
        dearest=dearest, high=signed(high),
    )  # fmt: skip


def _chance(compared: Sequence[Row], seeds: int) -> str:
    if any(row["verdict"] == "too few seeds" for row in compared):
        return ngettext(**_SAID["too_few"], count=seeds, needed=compared[0]["needed"])
    return gettext(
        _SAID["chance"], count=sum(row["verdict"] in BEYOND for row in compared),
        total=len(compared), seeds=seeds,
    )  # fmt: skip


_SAID = beside(__file__, "words.toml")["page"]
_HEIGHT = 480  # px
_WIDTH, _NUMBER_WIDTH, _SWAP_WIDTH = 220, 150, 320  # px, of a control
_ADOPT = "python -m attention_plugins adopt FOLDER_OR_NAME"
_WHENS = {"untuned": gettext_noop("untuned"), "tuned": gettext_noop("tuned, at the better rate")}


def _nothing(catalogue: Catalogue) -> bool:
    if swaps.models_of(catalogue):
        return False
    title, text = gettext("Nothing to swap in yet"), gettext(_SAID["adopt"])
    return checkpoints.say_how("no-swaps", ":material/swap_horiz:", title, text, _ADOPT)


def _controls(session: Session[Swaps]) -> None:
    before = session.view.model
    with layout.row("swaps-what"):
        model = fields.draw_choice(
            session, swaps.MODEL, titles=partial(_model_title, catalogue=session.catalogue),
            width=_SWAP_WIDTH,
        )  # fmt: skip
        if model != before:
            session.change(beside="", layer=1)
        if swaps.is_shipped(session.view):
            return
        fields.draw_normaliser_of_view(session, width=_WIDTH)
        fields.draw_setting(session, swaps.STEPS, width=_NUMBER_WIDTH)
        fields.draw_setting(session, swaps.SEEDS, width=_NUMBER_WIDTH)
        fields.draw_device(session, swaps.DEVICE)
    title = gettext("Scorings to swap in, at most {most}", most=MOST)
    recipes.draw_scorings(session, title, links.CORPORA)
    session.update(scorings=session.view.scorings[:MOST])
    with layout.controls("swaps-given"):
        fields.draw_text(session, swaps.TEXT)


def _model_title(name: str, catalogue: Catalogue) -> str:
    if name.startswith(SHIPPED):
        return gettext("{model}: shipped results", model=name.removeprefix(SHIPPED))
    known = {one.name: one for kind in swaps.KINDS for one in catalogue.of_kind(kind)}
    return layout.checkpoint_title(name, known.get(name), catalogue)


def _results(session: Session[Swaps], _: None) -> None:
    view = session.view
    if absent := absent_normaliser(view, session.catalogue):
        results.absent(absent, _HEIGHT, "swaps-absent")
        return
    asked = swaps.requests(view, session.catalogue)
    if not asked:
        if view.model in swaps.models_of(session.catalogue):
            shown.caption(gettext("Choose at least one scoring."))
        else:
            results.absent(gettext(_SAID["absent"], name=view.model), _HEIGHT, "swaps-absent")
        return
    results.results(
        session.jobs, asked[0], partial(_prices, session), _HEIGHT, "swaps-result", grows=True
    )


def _title(row: Row, catalogue: Catalogue) -> str:
    if not row["scoring"]:
        return gettext("the original")
    name = row["scoring"]
    said = name if is_formula(name) else layout.scoring_title(name, catalogue)
    if row["normaliser"]:
        said = f"{said} + {layout.normaliser_title(row['normaliser'], catalogue)}"
    if row["positions"] == "remove":
        said = gettext("{swap}, positions removed", swap=said)
    return said


def _prices(session: Session[Swaps], result: Result) -> None:
    rows, facts = result.tables["prices"].to_pylist(), result.facts
    title = partial(_title, catalogue=session.catalogue)
    shown.title(_model_title(session.view.model, session.catalogue))
    shown.markdown("\n".join(f"- {said}" for said in sentences(rows, facts, title)))
    _table(rows, facts, session.catalogue)
    for swap, problem in facts["problems"].items():
        shown.text(f"{swap or gettext('the original')}: {translated(problem)}")
    said = gettext(
        _SAID["prices"], texts=translated(facts["texts"]),
        **{n: v for n, v in facts["budget"].items() if n != "rates"},
    )  # fmt: skip
    shown.caption(plain(said))
    if made := facts["facts"]:
        shown.caption(plain(_made(made)))
    _beside(session, result, rows)


def _made(facts: Mapping[str, str]) -> str:
    named = [gettext("commit {value}", value=facts["commit"])] if facts.get("commit") else []
    named += [f"{n} {facts[n]}" for n in ("torch", "transformers", "python") if facts.get(n)]
    return gettext(
        _SAID["texts"], source=translated(facts.get("source") or "–"), versions=listed(named),
        machine=translated(facts.get("machine", "")),
    )  # fmt: skip


def _table(rows: list[Row], facts: Mapping[str, Any], catalogue: Catalogue) -> None:
    heads = {0.0: gettext("untuned")} | {
        rate: gettext("tuned at {rate:g}", rate=rate) for rate in facts["budget"]["rates"]
    }
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        name = _title(row, catalogue)
        found.setdefault(name, {gettext("swap"): name})[heads[row["rate"]]] = _cell(row)
    words = gettext("Loss of every swap, untuned and tuned, beside the original's")
    shown.table(pd.DataFrame(found.values()), hide_index=True, height="content", alt=words)


def _cell(row: Row) -> str:
    loss = f"{row['loss']:.3f}"
    if row["cost"] is None:
        return loss
    ends = [signed(row[name], 3) for name in ("cost_low", "cost_high") if row[name] is not None]
    said = f", {ends[0]:+.3f} … {ends[1]:+.3f}" if len(ends) == 2 else ""
    star = " *" if row["verdict"] in BEYOND else ""
    return f"{loss} ({signed(row['cost'], 3):+.3f}{said}){star}"


def _beside(session: Session[Swaps], result: Result, rows: list[Row]) -> None:
    """The original and one swap: what each writes, and where it looks."""
    seen = {*result.tables["texts"]["swap"].to_pylist()}
    names = {row["swap"]: _title(row, session.catalogue) for row in rows
             if row["scoring"] and row["swap"] in seen}  # fmt: skip
    if not names:
        return
    view, first = session.view, next(iter(names))
    chosen = view.beside if view.beside in names else first
    layers = max(result.tables["maps"]["layer"].to_pylist(), default=0) + 1
    layer = min(view.layer, layers)

    def widget(name: str, value: str | int) -> dict[str, Any]:
        key = place(session.key(name), value, fresh=True)
        use = picked(key, lambda one: session.change(**{name: "" if one == first else one}))
        return {"key": key, "on_change": use}

    shown.header(gettext("Beside each other: the text that each writes, and where it looks"))
    with layout.row("swaps-looked-at"):
        st.selectbox(
            gettext(swaps.BESIDE.title), list(names), format_func=names.__getitem__,
            width=_SWAP_WIDTH, **widget("beside", chosen),
        )  # fmt: skip
        st.selectbox(
            gettext(swaps.WHEN.title), swaps.WHENS, format_func=lambda one: gettext(_WHENS[one]),
            width=_WIDTH, **widget("when", view.when),
        )  # fmt: skip
        if layers > 1:
            st.number_input(gettext("Layer"), 1, layers, width=_NUMBER_WIDTH,
                            **widget("layer", layer))  # fmt: skip
    for column, swap in zip(shown.columns(2, gap="large"), ("", chosen), strict=True):
        with column:
            _one(result, swap, view.when, layer - 1, names.get(swap, gettext("the original")))


def _one(result: Result, swap: str, when: str, layer: int, title: str) -> None:
    shown.markdown(f"**{plain(title)}** · {gettext(_WHENS[when])}")
    mine = (pc.field("swap") == swap) & (pc.field("when") == when)
    texts = result.tables["texts"].filter(mine)["text"].to_pylist()
    shown.text(texts[0] if texts and texts[0] else gettext("It writes nothing."))
    own = result.tables["maps"].filter(mine & (pc.field("layer") == layer))
    if not own.num_rows:
        shown.caption(gettext("It gives no map of this layer."))
        return
    (frame,) = maps(own.drop_columns(["swap", "when"]))
    charts.show_filled(
        f"swaps {result.digest} {swap} {when} {layer}", draw_heatmap,
        partial(prepare_heatmap, frame.weights[0], frame.query_labels, frame.key_labels),
        gettext("Attention of {name}, mean over heads: queries down, keys across", name=title),
    )  # fmt: skip


PAGE = Page(
    name="swaps", **beside(__file__, "words.toml")["heading"], link=swaps.LINK, controls=_controls,
    requests=swaps.requests, work=swaps.work, offer=lambda _: gettext("Swap and tune"),
    results=_results, empty=_nothing, formulas=links.formulas, height=_HEIGHT, folds=True,
)  # fmt: skip
