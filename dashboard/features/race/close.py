"""Two contestants looked at closely: their maps of one sentence, and the runs of the first."""

from collections.abc import Mapping, Sequence

import pandas as pd
import pyarrow.compute as pc
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.series import draw_series, prepare_series
from dashboard.features.race.table import near_and_far, rate_text, title
from dashboard.features.race.view import FEW, NOTHING, Row, Seen, entrant_of, interval, number
from dashboard.language import gettext, ngettext, translated
from dashboard.links import fits
from dashboard.links.attending import learns
from dashboard.records.attending import SOFTMAX, Attending
from dashboard.records.beside import beside
from dashboard.records.request import Result, is_formula
from dashboard.storage.races import Entrant
from dashboard.ui import charts, layout, navigation, shown
from dashboard.ui.maps import Choice, attention_maps
from dashboard.ui.widgets import choose, plain

_SAID = beside(__file__, "words.toml")["close"]
_OWN = "model."  # before a model's own parameters, in a link to the page Train
Opening = tuple[str, Mapping[str, str], str]  # a page, parameters of a link to it, what it says


def link_of(seen: Seen, row: Row) -> Opening | None:
    """The link that opens a contestant's run; None where no page here can show it."""
    task, entrant = seen.session.catalogue.datasets.get(seen.choices.task), entrant_of(row)
    model = seen.session.catalogue.models.get(entrant.model)
    if task is None or model is None or task.task != model.task:
        return None
    return (_regression if task.task == fits.TASK else _training)(seen, row, entrant)


def _regression(seen: Seen, row: Row, entrant: Entrant) -> Opening:
    budget, reference = seen.choices.race.budgets[seen.choices.task], seen.choices.reference
    query = _panel(seen, "a", entrant, row["rate"])
    label = gettext("Open it on Kernel regression")
    if reference != entrant:
        query |= _panel(seen, "b", reference, seen.by_key.get(reference.key, row)["rate"])
        label = gettext("Open both on Kernel regression")
    query |= {"data": seen.choices.task, "points": str(budget["examples"])}
    return "regression", query, label


def _panel(seen: Seen, letter: str, one: Entrant, rate: float | None) -> dict[str, str]:
    query = {letter: one.scoring if one.model == fits.MODEL else f"{one.model}.{one.scoring}"}
    attending = Attending(scoring=one.scoring, normaliser=one.normaliser or SOFTMAX)
    if attending.normaliser != SOFTMAX:
        query[f"{letter}.normaliser"] = attending.normaliser
    if is_formula(one.scoring) or learns(attending, seen.session.catalogue):
        epochs = seen.choices.race.budgets[seen.choices.task]["epochs"]
        query |= {
            f"{letter}.learn": "1", f"{letter}.epochs": str(epochs), f"{letter}.optimiser": "adam",
        }  # fmt: skip
        if rate is not None:
            query[f"{letter}.lr"] = f"{rate:g}"
    return query


def _training(seen: Seen, row: Row, entrant: Entrant) -> Opening:
    budget = seen.choices.race.budgets[seen.choices.task]
    query = {
        "model": entrant.model, "scorings": entrant.scoring, "data": seen.choices.task,
        "epochs": str(budget["epochs"]), "batch_size": str(budget["batch_size"]),
    }  # fmt: skip
    if row["rate"] is not None:
        query["learning_rate"] = f"{row['rate']:g}"
    if entrant.normaliser:
        query["normaliser"] = entrant.normaliser
    sizes = seen.result.facts["sizes"].get(entrant.model, {})
    query |= {f"{_OWN}{name}": f"{value:g}" for name, value in sizes.items()}
    return "training", query, gettext("Open it on Train, where a button trains it")


_WIDTH = 320  # px, of a select box


def pickers(seen: Seen) -> None:
    """Which two contestants stand out in the charts and have their maps below."""
    session = seen.session
    with layout.row("race-close"):
        for letter, chosen in (("a", seen.a), ("b", seen.b)):
            key = session.key(letter)

            def picked(letter: str = letter, key: str = key) -> None:
                _change(seen, **{letter: st.session_state[key], f"{letter}_map": ""})

            with shown.container(horizontal=True, vertical_alignment="center", width=_WIDTH):
                layout.badge(letter)
                choose(
                    gettext("Contestant {letter}", letter=letter), list(seen.by_key), chosen, key,
                    st.session_state.get(key) != chosen, format_func=seen.name, on_change=picked,
                    label_visibility="collapsed",
                )  # fmt: skip


def maps(seen: Seen) -> None:
    """The two contestants' maps of the same sentence, or their curves over the same points."""
    if seen.result.tables["fits"].num_rows:
        shown.header(gettext("The curves of the first seed"))
        _fits(seen)
        return
    shown.header(gettext("Where each looks, at the same sentence"))
    found: dict[str, Result | None] = {}
    for letter, key in (("a", seen.a), ("b", seen.b)):
        own = seen.result.tables["maps"].filter(pc.field("key") == key).drop_columns(["key"])
        found[letter] = Result(tables={"maps": own}) if own.num_rows else None
    shared = [one for one in found.values() if one]
    if not shared:
        shown.caption(gettext("No maps are kept of these two."))
        return
    for place, (letter, one) in zip(shown.columns(2, gap="large"), found.items(), strict=True):
        with place, shown.container(key=f"race-map-{letter}"):
            shown.markdown(f"**{plain(seen.name(getattr(seen, letter)))}**")
            if one is None:
                shown.caption(gettext("No map is kept of this one."))
                continue
            attention_maps(
                one, letter, shared, Choice(
                    "cross", getattr(seen.session.view, f"{letter}_map"),
                    lambda name, letter=letter: _change(seen, **{f"{letter}_map": name}),
                ),
            )  # fmt: skip
    shown.caption(gettext(_SAID["maps"]))


def _change(seen: Seen, **changes: str) -> None:
    seen.session.change(**changes)


def _fits(seen: Seen) -> None:
    both, truth = dict.fromkeys((seen.a, seen.b)), gettext("truth")
    colours = {truth: "#808a96"}
    colours |= dict(zip(map(seen.name, both), PANEL_COLOURS.values(), strict=False))
    rows = [{"x": row["x"], "y": row["truth"], "series": truth} for row in seen.of("fits", seen.a)]
    rows += ({"x": row["x"], "y": row["predicted"], "series": seen.name(key)}
             for key in both for row in seen.of("fits", key))  # fmt: skip
    known = {row["series"] for row in rows}
    if known <= {truth}:
        shown.caption(gettext("No curves are kept of these two."))
        return
    with shown.container(key="race-fits"):
        charts.show_filled(
            f"race fits {seen.key}", draw_series,
            lambda: prepare_series(
                pd.DataFrame(rows), {name: c for name, c in colours.items() if name in known},
                x_title="x", y_title="y", height=260,
            ),
            gettext("Predictions of the two contestants and the truth"),
        )  # fmt: skip
    shown.caption(
        gettext("Both learned from the same points; x was scaled to a standard deviation of 1.44.")
    )


def details(seen: Seen) -> None:
    """Every training of contestant a on this task, and the page on which it can be tried."""
    row = seen.by_key[seen.a]
    shown.header(plain(gettext("{name} on {task}", name=row["name"], task=seen.task)))
    if problem := translated(row["problem"]):
        shown.text(problem)
    _facts(seen, row)
    if link := link_of(seen, row):
        navigation.link_to(*link)
    left, right = shown.columns(2, gap="large")
    with left:
        shown.markdown(f"**{gettext('Every seed')}**")
        _seeds(seen)
    with right:
        shown.markdown(f"**{gettext('Choosing the rate')}**")
        _tuning(seen, row)


def _facts(seen: Seen, row: Row) -> None:
    words = [gettext("{verdict} after {steps:,} steps", verdict=gettext(row["verdict"]),
                     steps=seen.steps)]  # fmt: skip
    if row["verdict"] in (NOTHING, FEW) and row["decides"]:
        words.append(gettext(_SAID["decides"], count=row["decides"]))
    if row["rank"]:
        words.append(gettext("rank {rank}", rank=row["rank"]))
    parts = {title(name): name.lower() for name in ("Near", "Far")}
    words += (f"{own} {interval(row, name)}" for own, name in parts.items() if row[name])
    if row["parameters"]:
        words.append(ngettext("{count:,} parameter", "{count:,} parameters", row["parameters"]))
    if row["operations"]:
        words.append(gettext("{count:,} operations", count=row["operations"]))
    if row["milliseconds"]:
        words.append(gettext("{number} ms a step", number=number(row["milliseconds"])))
    if row["rate"]:
        words.append(gettext("rate {rate}", rate=rate_text(row)))
    words.append(gettext("in links and commands: {name}", name=row["key"]))
    shown.caption(plain(" · ".join(words)))
    if said := near_and_far([row]):
        shown.caption(plain(said))


def _seeds(seen: Seen) -> None:
    theirs = {row["seed"]: row["quality"] for row in _trials(seen, seen.reference, tuning=False)}
    sign = 1 if seen.result.facts["higher_is_better"] else -1
    rows = [
        {
            gettext("Seed"): row["seed"], seen.metric: (own := row["quality"]),
            gettext("Reference"): (other := theirs.get(row["seed"])),
            gettext("Better by"): None if None in (own, other) else sign * (own - other),
            gettext("Seconds"): row["seconds"], gettext("why it ended"): translated(row["ended"]),
            gettext("Problem"): translated(row["problem"]),
        }
        for row in _trials(seen, seen.a, tuning=False)
    ]  # fmt: skip
    _table(rows, gettext("Every seed of the contestant"))


def _tuning(seen: Seen, row: Row) -> None:
    rates: dict[float, list[float]] = {}
    problems: dict[float, str] = {}
    for one in _trials(seen, seen.a, tuning=True):
        rates.setdefault(one["rate"], [])
        if one["validation"] is not None:
            rates[one["rate"]].append(one["validation"])
        problems[one["rate"]] = one["problem"]
    rows = [
        {
            gettext("Rate"): rate, gettext("Validation"): sum(held) / len(held) if held else None,
            gettext("Chosen"): "✓" if rate == row["rate"] else "",
            gettext("Problem"): translated(problems[rate]),
        }
        for rate, held in sorted(rates.items())
    ]  # fmt: skip
    _table(rows, gettext("Validation at every rate of the contestant"))
    shown.caption(plain(seen.fact("validation")))


def _trials(seen: Seen, key: str, *, tuning: bool) -> Sequence[Row]:
    return sorted(
        (row for row in seen.of("trials", key) if row["tuning"] == tuning),
        key=lambda row: row["seed"],
    )


def _table(rows: Sequence[Row], alt: str) -> None:
    if not rows:
        shown.caption(gettext("None."))
        return
    frame, problem = pd.DataFrame(rows), gettext("Problem")
    if not any(frame[problem]):
        frame = frame.drop(columns=problem)
    numbers = frame.select_dtypes("number").columns.difference([gettext("Seed")])
    config = {name: st.column_config.NumberColumn(format="%.4g") for name in numbers}
    shown.table(frame, hide_index=True, alt=alt, column_config=config, placeholder="–")
