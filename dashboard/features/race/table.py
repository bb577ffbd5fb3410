"""The standings of a task as a table that sorts, and as files."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.features.race.figures import caption, edges, measured, ran
from dashboard.features.race.view import FLOOR, Choices, RaceView, Row, Seen, interval, number
from dashboard.language import gettext, listed, together, translated
from dashboard.records.beside import beside
from dashboard.storage.bundle import pack
from dashboard.storage.races import OUTCOMES, PLAN, RaceRecord
from dashboard.ui import shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import column_width, letters, plain

_UNIFORM = "uniform attention"  # a floor that is a contestant's row already
_SAID = beside(__file__, "words.toml")["table"]
TABS, PARTS = beside(__file__, "words.toml")["tabs"], "race-tabs"  # titles, the widget's key
_ROWS, _TALLEST = 18, 620  # more rows scroll, in a table of so many px
# px: on a phone there is room for the first three columns, whose texts then take several lines.
_WIDEST, _FIRST, _LINES = 252, 144, 66
_WIDTHS = {"Rank": 48, "Verdict": 130}  # px
_LINE = 20  # letters of a name in a line
_PROBLEMS = 8  # that are told below the table
_FILES = (("csv", "CSV", "text/csv"), ("tex", "LaTeX", "text/x-tex"),
          ("md", "Markdown", "text/markdown"))  # fmt: skip


def heading(text: str, key: str = "race-heading") -> shown.Place:
    """The heading of a section; the place of its menu."""
    with shown.container(horizontal=True, vertical_alignment="center", key=key):
        left, menu = shown.container(), shown.container(width="content")
    with left:
        shown.header(plain(text))
    return menu


def look_at(session: Session[RaceView], view: RaceView) -> None:
    """Open the contestant that the view looks at."""
    session.change(view)
    st.session_state[PARTS] = gettext(TABS["close"])


def table(seen: Seen) -> None:
    """The table; a row that is selected opens its contestant."""
    quality, unit = f"{seen.metric} {seen.arrow}", seen.fact("unit")
    mean = f"{gettext('Mean')}{', ' if unit else ''}{unit}"  # an arrow would seem to sort
    frame, texts = _frames(seen, quality)
    key, names = f"race-table-{seen.result.digest[:12]}", texts["Contestant"]

    def picked(key: str) -> None:
        rows = st.session_state[key]["selection"]["rows"]
        if rows and rows[0] < len(seen.rows):  # not the last one, which is no contestant
            chosen = seen.rows[rows[0]]["key"]
            look_at(seen.session, replace(seen.session.view, a=chosen, a_map=""))

    columns = {
        # The heading above names the metric, so the column need not.
        quality: st.column_config.Column(
            mean, help=plain(measured(seen)), width=_width(mean, texts[quality])
        ),
        **{
            name: st.column_config.Column(
                title(name), help=gettext(words) if (words := _TEXTS[name].get("help")) else None,
                width=_WIDTHS.get(name) or _width(title(name), texts[name]),
            )
            for name in texts.columns.drop(["Contestant", quality])
        },
    }  # fmt: skip
    own = [seen.rows.index(row) for row in seen.entered]
    styled, tall = _styled(frame, texts, own), max(map(letters, names)) > _LINE
    # The style sheet shows the one or the other.
    for place, most in (("wide", _WIDEST), ("narrow", _FIRST)):
        width = min(most, column_width(title("Contestant"), names))
        first = st.column_config.TextColumn(title("Contestant"), pinned=True, width=width)
        with st.container(key=f"race-{place}"):
            st.dataframe(
                styled, hide_index=True, height="content" if len(frame) <= _ROWS else _TALLEST,
                row_height=_LINES if tall and most == _FIRST else None, placeholder="–",
                column_config={"Contestant": first, **columns}, selection_mode="single-row",
                key=f"{key}-{place}", on_select=partial(picked, f"{key}-{place}"),
                alt=gettext(_SAID["alt"]),
            )  # fmt: skip
    bold = [(row, title("Contestant")) for row in own]
    shown.note_table(texts.rename(columns=title), alt=gettext(_SAID["alt"]), bold=bold)
    shown.caption(plain(together([caption(seen), near_and_far(seen.rows)])))
    if words := edges(seen):
        shown.caption(words)
    if equal := [row["name"] for row in seen.rows if row["equals"]]:
        shown.caption(plain(together([ran(seen), gettext(_SAID["equal"], names=listed(equal))])))
    if needed := seen.result.facts["needed"]:
        shown.caption(gettext(_SAID["few"], count=needed))
    st.caption(gettext(_SAID["click"]))
    _problems(seen)


def near_and_far(rows: Iterable[Row]) -> str:
    """What the figures near to what was learned and far from it are, where rows have one."""
    return together(
        gettext("{name}: {problem}", name=title(name), problem=gettext(_TEXTS[name]["help"]))
        for name in ("Near", "Far") if any(row[name.lower()] is not None for row in rows)
    )  # fmt: skip


def _width(title: str, texts: Iterable[str]) -> int | None:
    """px that hold the longest interval and the heading; None where there is no interval."""
    intervals = [text for text in texts if "[" in text]
    return column_width(title, intervals) if intervals else None


def downloads(choices: Choices, made: Mapping[str, Any]) -> None:
    """The table in the files that were made of it, and the whole race."""
    race, whole = choices.race, gettext("The whole race")
    files: list[tuple[str, Any, str, str]] = [
        (label, made[kind], f"race-{choices.task}.{kind}", mime)
        for kind, label, mime in _FILES if kind in made
    ]  # fmt: skip
    files.append((whole, partial(bundle, race), f"{race.name}-race.zip", "application/zip"))
    with st.container(horizontal=True, gap="small", key="race-downloads"):
        for label, data, name, mime in files:
            st.download_button(
                label, data, file_name=name, mime=mime, icon=":material/download:",
                type="tertiary", key=f"race-download-{label}", on_click="ignore",
            )  # fmt: skip


def bundle(race: RaceRecord) -> bytes:
    """The race as a zip of its folder, which another dashboard takes in."""
    files = {name: race.folder / name for name in (PLAN, OUTCOMES)}
    return pack({name: path.read_bytes() for name, path in files.items() if path.is_file()})


def _frames(seen: Seen, quality: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The numbers by which the table sorts, and the texts that are seen."""
    columns = {quality if name == "Quality" else name: one for name, one in _COLUMNS.items()}
    numbers = [{n: _value(row, field) for n, (field, _) in columns.items()} for row in seen.rows]
    texts = [{name: text(row, field) for name, (field, text) in columns.items()}
             for row in seen.rows]  # fmt: skip
    limits = seen.result.facts["limits"] or {"floors": ()}
    for name, mean, low, high in limits["floors"]:
        if name != _UNIFORM:
            row: Row = {"quality": mean, "quality_low": low, "quality_high": high}
            own = {"Contestant": translated(name), "Verdict": gettext(FLOOR)}
            numbers.append({**own, quality: mean})
            texts.append({**own, quality: interval(row, "quality")})
    frame, words = pd.DataFrame(numbers), pd.DataFrame(texts)
    for name in ("Rank", "Parameters", "Seeds"):
        frame[name] = frame[name].astype("Int64")
    return frame, words.reindex(columns=frame.columns).fillna("–")


def p_text(p: float | None) -> str:
    """A p to two digits; ``–`` for none."""
    return "–" if p is None else f"{p:.2g}"


def rate_text(row: Row) -> str:
    """A learning rate with a mark where it is at the edge of those tried."""
    return number(row["rate"]) + {"highest": " ↑", "lowest": " ↓"}.get(row["edge"], "")


def _value(row: Row, field: str) -> Any:
    return gettext(row[field]) if field == "verdict" else row[field]


def _number(row: Row, field: str) -> str:
    return number(row[field])


# Of what each column is, and how that is written.
_COLUMNS: dict[str, tuple[str, Callable[[Row, str], str]]] = {
    "Contestant": ("name", _value), "Rank": ("rank", _number), "Verdict": ("verdict", _value),
    "Quality": ("quality", interval), "Difference": ("difference", interval),
    "p": ("p", lambda row, _: p_text(row["p"])), "Near": ("near", _number),
    "Far": ("far", _number),
    "Parameters": ("parameters", lambda row, of: "–" if row[of] is None else f"{row[of]:,}"),
    "Rate": ("rate", lambda row, _: rate_text(row)), "Seeds": ("seeds", _number),
}  # fmt: skip
_TEXTS = beside(__file__, "columns.toml")


def title(name: str) -> str:
    """What a column is called; that of the metric is its own title."""
    if name not in _COLUMNS:
        return name
    words = gettext(_TEXTS[name]["title"])
    return words.capitalize() if name == "Rank" else words  # "Rank" is that of a matrix elsewhere


def _styled(frame: pd.DataFrame, texts: pd.DataFrame, bold: Sequence[int] = ()) -> Any:
    # A format for each cell would take half a second of the server for forty contestants, so a
    # column's format looks a text up by its number.
    apart, forms = {}, {}
    for name in frame.columns[1:]:
        known: dict[Any, str] = {}
        noted = [_noted(known, *cell) for cell in zip(frame[name], texts[name], strict=True)]
        apart[name] = pd.Series(noted, dtype=frame[name].dtype)
        forms[name] = lambda value, known=known: known.get(value, str(value))
    own = pd.IndexSlice[[*bold], ["Contestant"]]
    style = frame.assign(**apart).style
    style.format(forms, na_rep="–")
    return style.map(lambda _: "font-weight: bold", subset=own)


def _noted(known: dict[Any, str], value: Any, text: str) -> Any:
    """Note what a number is shown as; of equal ones with other texts the next number above."""
    while not pd.isna(value) and known.setdefault(value, text) != text:
        value = math.nextafter(value, math.inf)
    return value


def _problems(seen: Seen) -> None:
    failed = [(row["name"], translated(row["problem"])) for row in seen.rows if row["problem"]]
    sentences = [gettext("{name}: {problem}", name=name, problem=why) for name, why in failed]
    for sentence in sentences[:_PROBLEMS]:
        shown.caption(plain(sentence))
    if more := sentences[_PROBLEMS:]:
        with st.expander(gettext("{count} more that had a problem", count=len(more))):
            for sentence in more:
                st.text(sentence)
