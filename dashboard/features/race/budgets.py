"""The same contestants at other budgets: which conclusions hold, and which change."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard.features.race.view import BETTER, WORSE, Row, Seen, interval
from dashboard.language import gettext, gettext_noop, listed, together, translated
from dashboard.records.beside import beside
from dashboard.ui import shown
from dashboard.ui.widgets import plain

_ALT = gettext_noop("Mean, rank and verdict of every contestant at each budget")
_MOST = 8  # names in a sentence
_SAID = beside(__file__, "words.toml")["budgets"]
_TALLEST = 420  # px


def budgets(seen: Seen) -> None:
    """What holds at every budget that was run, and a table of all; nothing where it was one."""
    said = seen.result.facts.get("at_budgets")
    if not said:
        return
    by_key = _by_key(seen)
    shown.header(gettext("At several budgets"))
    shown.markdown(plain(together(map(translated, said))))
    shown.caption(plain(_changes(seen, by_key)))
    frame = _frame(seen, by_key)
    st.dataframe(
        frame, hide_index=True, height="content" if len(by_key) < _MOST else _TALLEST,
        alt=gettext(_ALT), key=f"race-budgets-{seen.result.digest[:12]}",
        column_config={gettext("Contestant"): st.column_config.TextColumn(pinned=True)},
    )  # fmt: skip
    shown.note_table(frame, alt=gettext(_ALT))
    races = [seen.choices.race, *seen.choices.beside]
    names = {"reference": seen.name(seen.reference), "races": listed(one.name for one in races)}
    shown.caption(plain(gettext(_SAID["verdicts"], **names)))


def _by_key(seen: Seen) -> Mapping[str, Sequence[Row]]:
    """By contestant a row for each budget, the smallest first, the best at the largest first."""
    found: dict[str, list[Row]] = {}
    for row in seen.result.facts["budgets"]:
        found.setdefault(row["key"], []).append(row)
    sign = -1 if seen.result.facts["higher_is_better"] else 1
    return dict(sorted(found.items(), key=lambda one: sign * one[1][-1]["quality"]))


def _changes(seen: Seen, by_key: Mapping[str, Sequence[Row]]) -> str:
    """Who leads the reference, or trails it, at every budget, and whose verdict changes."""
    same: dict[str, list[str]] = {BETTER: [], WORSE: []}
    others = []
    for key, rows in by_key.items():
        verdicts = [row["verdict"] for row in rows]
        if len({*verdicts}) > 1:
            way = " → ".join(map(gettext, verdicts))
            others.append(gettext("{name} ({way})", name=seen.name(key), way=way))
        elif verdicts[0] in same:
            same[verdicts[0]].append(seen.name(key))
    facts = seen.result.facts
    turned = [f"{seen.name(first)} → {seen.name(then)}" for first, then in facts["turned"]]
    firsts: dict[int, list[str]] = {}
    for row in facts["budgets"]:
        if row["rank"] == 1:
            firsts.setdefault(row["steps"], []).append(seen.name(row["key"]))
    first = [gettext(_SAID["first"], steps=steps, names=_some(names))
             for steps, names in sorted(firsts.items())]  # fmt: skip
    found = (
        (gettext_noop("Leaders that change, first → then: {names}."), turned),
        (gettext_noop("Better than {reference} at every budget: {names}."), same[BETTER]),
        (gettext_noop("Worse than {reference} at every budget: {names}."), same[WORSE]),
        (gettext_noop("Another verdict against {reference} at another budget: {names}."), others),
    )
    said = [gettext(text, reference=seen.name(seen.reference), names=_some(names))
            for text, names in found if names]  # fmt: skip
    return together([*first, *said])


def _some(names: Sequence[str]) -> str:
    if len(names) <= _MOST:
        return listed(names)
    return listed([*names[:_MOST], gettext("{count:,} more", count=len(names) - _MOST)])


def _frame(seen: Seen, by_key: Mapping[str, Sequence[Row]]) -> pd.DataFrame:
    found = []
    for key, rows in by_key.items():
        line = {gettext("Contestant"): seen.name(key)}
        for row in rows:
            after = {"steps": row["steps"]}
            line[gettext("mean after {steps:,} steps", **after)] = interval(row, "quality")
            line[gettext("rank after {steps:,} steps", **after)] = str(row["rank"])
            line[gettext("verdict after {steps:,} steps", **after)] = gettext(
                row["verdict"] or "reference"
            )
        grown = rows[-1]["grown"]
        line[gettext("gains more by the larger budget")] = gettext(grown) if grown else "–"
        found.append(line)
    return pd.DataFrame(found)
