"""The switchboard of the page *Heads*: a row per head with its figures, and a switch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources, chart_of
from dashboard.features.heads import view as heads_view
from dashboard.features.heads.view import Heads
from dashboard.language import gettext, gettext_noop, together
from dashboard.records import interventions
from dashboard.records.beside import beside
from dashboard.records.interventions import Change, Place, State
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.session import Session
from dashboard.ui.translations import likely, without

_HEIGHT = 150  # px
_ROOM = 44  # px, for the numbers at the left
# As the diverging scale has them: less than nothing orange, more blue.
_LOWER, _HIGHER = theme.PANEL_COLOURS["b"], theme.PANEL_COLOURS["a"]
_MEASURES = beside(__file__, "words.toml")["measures"]


def prepare_heads(heads: pd.DataFrame) -> Prepared[tuple[str, ...]]:
    """What :func:`draw_heads` draws: a bar per head, in the order of the rows.

    ``heads``: ``name``, ``leave_one_out`` (nats), ``entropy``, ``eos``, ``concentration``,
    ``diagonality``, ``distance``; ValueError where one is missing or there is no row.
    """
    missing = [name for name in ("name", "leave_one_out", *_MEASURES) if name not in heads.columns]
    if missing or heads.empty:
        raise ValueError(
            f"need a row per head with {', '.join(missing) or 'figures'}, got {len(heads)} rows"
        )
    figures = "leave_one_out", *_MEASURES
    numbers = {name: rounded(heads[name].to_numpy(float)) + 0.0 for name in figures}
    drawn = pd.DataFrame({"name": heads["name"].astype(str), **numbers})
    bars = pa.Table.from_pandas(drawn, preserve_index=False)
    head, change = gettext("head"), gettext("change, nats")
    measures = {column: gettext(title) for column, title in _MEASURES.items()}
    summary = of_ranked(
        drawn.rename(columns={"name": head, "leave_one_out": change, **measures}),
        name=head, value=change, what=gettext("the change of log-probability without one head"),
    )  # fmt: skip
    return Prepared({"bars": bars}, tuple(drawn["name"]), summary=summary)


def draw_heads(data: Sources, names: tuple[str, ...]) -> alt.LayerChart:
    """The bars of ``data``, as :func:`prepare_heads` makes them, or names them; in this order.

    The pointer tells the head's other figures.
    """
    order = [*names]
    x = alt.X(
        "name:N", title=gettext("head"), sort=order,
        scale=alt.Scale(domain=order, paddingInner=0.25),
        axis=alt.Axis(title=None, labelAngle=-90, labelOverlap=True, labelLimit=90),
    )  # fmt: skip
    y = alt.Y(
        "leave_one_out:Q", title=gettext("change, nats"),
        axis=alt.Axis(
            title=gettext("change of log-probability without the head, nats"), tickCount=4,
            format=theme.NUMBER, minExtent=_ROOM, maxExtent=_ROOM, titleAnchor="start",
            titleAngle=0, titleAlign="left", titleY=-10, titleX=-_ROOM + 6,
        ),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title=gettext("head")),
        alt.Tooltip("leave_one_out:Q", format="+.3~g", title=gettext("change, nats")),
        *(
            alt.Tooltip(f"{column}:Q", format=".3f", title=gettext(title))
            for column, title in _MEASURES.items()
        ),
    ]
    # Not the channel "color": its scale is the ramp, by which labels know the page they are on.
    fill = alt.when("datum.leave_one_out < 0").then(alt.value(_LOWER)).otherwise(
        alt.value(_HIGHER)
    )  # fmt: skip
    bars = alt.Chart(data["bars"]).mark_bar().encode(x=x, y=y, fill=fill, tooltip=tooltip)
    zero = alt.Chart(alt.sequence(0, 1, as_="y")).mark_rule(color=theme.QUIET).encode(y="y:Q")
    chart = alt.LayerChart(layer=[theme.ramp(), bars.properties(name="bars"), zero])
    return theme.finished(chart, width=theme.WIDTH, height=_HEIGHT)


def listed(view: Heads, result: Result) -> pd.DataFrame:
    """The rows of the table ``heads`` that the view asks for, in its order, with a ``name``."""
    heads = result.tables["heads"].to_pandas()
    heads["name"] = [
        heads_view.head_name(kind, layer + 1, head + 1)
        for kind, layer, head in zip(heads["kind"], heads["layer"], heads["head"], strict=True)
    ]
    if view.kind != heads_view.EVERY_KIND:
        heads = heads[heads["kind"] == view.kind]
    if view.only:
        heads = heads.loc[_kept(heads, view, view.only)]
    rank = heads["kind"].map({kind: number for number, kind in enumerate(interventions.KINDS)})
    heads = heads.assign(rank=rank).sort_values(["rank", "layer", "head"])
    if view.sort != heads_view.PLACE:
        heads = heads.sort_values(view.sort, ascending=view.sort == "leave_one_out", kind="stable")
    return heads.reset_index(drop=True)


def _kept(heads: pd.DataFrame, view: Heads, only: heads_view.Only) -> list[bool] | np.ndarray:
    if only.figure == heads_view.FINDING:
        return heads["verdicts"].to_numpy() != ""
    if only.figure == heads_view.CHANGED:
        return [_changed(view, place) for place in _places(heads)]
    figure = heads[only.figure].to_numpy()
    return figure >= only.number if only.sign == ">" else figure <= only.number


def _changed(view: Heads, place: Place) -> bool:
    pinned = any((pin.kind, pin.layer, pin.head or place[2]) == place
                 for pin in view.changes if pin.action not in interventions.SWITCHED)  # fmt: skip
    return pinned or interventions.state_of(view.changes, place) != interventions.ON


_STATE, _EDITOR = "heads-board-state", "heads-editor"
_OFF, _UNIFORM = "Off", "Uniform"  # columns of switches
_ROW, _TALLEST = 33, 640  # px; 16 heads are seen at once
_NARROW, _WIDE = 108, 142  # px of a column, so that its unit is read
_TITLES = {
    "Head": gettext_noop("Head"), _OFF: gettext_noop("Off"), _UNIFORM: gettext_noop("Uniform"),
    "Finding": gettext_noop("Finding"), **{one: one for one in heads_view.FIGURE_TITLES.values()},
}  # fmt: skip
_SHARES = ("entropy", "eos", "concentration", "distance")  # between 0 and 1, drawn as bars
_SMALL = ("padding", "row_error")
_LONG = ("leave_one_out", "concentration", "distance", "padding")  # titles


@dataclass(frozen=True)
class _Board:
    """What the editor was given under its present key; it keeps its edits against this."""

    version: int
    signature: str
    places: tuple[Place, ...]  # its rows
    base: tuple[State, ...]  # their switches
    every: tuple[Place, ...]  # all heads of the model

    @property
    def key(self) -> str:
        return f"{_EDITOR}-{self.version}"

    def now(self) -> dict[Place, State]:
        """The switches as the reader sees them."""
        edits = st.session_state.get(self.key, {}).get("edited_rows", {})
        states: dict[Place, State] = {}
        for row, (place, state) in enumerate(zip(self.places, self.base, strict=True)):
            seen = _switches(state) | edits.get(row, {})
            states[place] = (
                "off" if seen[_OFF] else "uniform" if seen[_UNIFORM] else interventions.ON
            )
        return states


def _switches(state: str) -> dict[str, bool]:
    return {_OFF: state == "off", _UNIFORM: state == "uniform"}


def take_edits(session: Session[Heads]) -> None:
    """Put what was switched in the table into the view, before anything is asked for."""
    board: _Board | None = st.session_state.get(_STATE)
    if board is None or session.fresh or board.key not in st.session_state:
        return
    states = _states(session, board.every)
    switched = states | board.now()
    if switched != states:
        session.update(changes=_with_pins(session, switched))


def switchboard(session: Session[Heads], result: Result, heads: pd.DataFrame) -> None:
    """The table of the :func:`listed` heads and what switches many at once."""
    every = _places(result.tables["heads"].to_pydict())
    places = _places(heads)

    def switch_off() -> None:
        off: dict[Place, State] = dict.fromkeys(places, "off")
        session.change(changes=_with_pins(session, _states(session, every) | off))

    with shown.container(
        horizontal=True, gap="small", key="heads-buttons", vertical_alignment="center"
    ):
        shown.caption(
            gettext("{count} of {all} heads are listed.", count=len(places), all=len(every)),
            width="content",
        )  # fmt: skip
        st.button(
            gettext("Switch all listed heads off"), icon=":material/toggle_off:",
            on_click=switch_off, disabled=not places,
        )  # fmt: skip
        st.button(
            gettext("Undo all changes"), icon=":material/undo:", disabled=not session.view.changes,
            on_click=lambda: session.change(changes=()),
        )  # fmt: skip
    if heads.empty:
        known = {heads_view.EVERY_KIND, *result.tables["heads"]["kind"].to_pylist()}
        kind = session.view.kind
        shown.caption(
            gettext("No head matches; choose another filter above.")
            if kind in known
            else together([without(kind), gettext("Choose another kind of attention above.")])
        )
        return
    board = _board(session, result, places, every)
    table = _table(heads, board.base)
    st.data_editor(
        table, key=board.key, hide_index=True, num_rows="fixed",
        height=min((len(table) + 1) * _ROW + 3, _TALLEST),
        disabled=[name for name in table.columns if name not in (_OFF, _UNIFORM)],
        column_config=_columns(),
    )  # fmt: skip
    titles = {name: gettext(title) for name, title in _TITLES.items()}
    shown.note_table(
        table.rename(columns=titles), alt=gettext("Heads"),
        column_config={titles[name]: config for name, config in _columns().items()},
    )  # fmt: skip


def chart(result: Result, heads: pd.DataFrame) -> None:
    """The ablation effect of each of the :func:`listed` heads, as bars."""
    if heads.empty:
        return
    said = gettext("**Leave one out**: what the translation loses without each head")
    if what := likely(result.facts):
        said = gettext("**Leave one out**: what {what} loses without each head", what=what)
    shown.markdown(said)
    names = " ".join(heads["name"])
    charts.show_filled(
        f"heads {result.digest} {names}", draw_heads, lambda: prepare_heads(heads),
        gettext("Change of log-probability without each head"),
    )  # fmt: skip


def export_menu(session: Session[Heads], asked: export.Asked, result: Result, title: str) -> None:
    """The figures of all heads as files."""
    view = replace(session.view, only=None, kind="all")
    charts = {
        gettext("leave one out"): lambda: chart_of(draw_heads, prepare_heads(listed(view, result)))
    }
    export.menu(asked, result, charts, "heads", title=title)


def _board(
    session: Session[Heads], result: Result, places: tuple[Place, ...], every: tuple[Place, ...]
) -> _Board:
    """The editor as it is, or a new one where it no longer shows what the view says."""
    states = _states(session, places)
    signature = f"{result.digest} {places}"
    board: _Board | None = st.session_state.get(_STATE)
    if board is None or board.signature != signature or board.now() != states:
        version = board.version + 1 if board else 0
        board = _Board(version, signature, places, tuple(states.values()), every)
        st.session_state[_STATE] = board
    return board


def _places(heads: Mapping[str, Any] | pd.DataFrame) -> tuple[Place, ...]:
    rows = zip(heads["kind"], heads["layer"], heads["head"], strict=True)
    return tuple((kind, int(layer) + 1, int(head) + 1) for kind, layer, head in rows)


def _states(session: Session[Heads], places: Sequence[Place]) -> dict[Place, State]:
    return {place: interventions.state_of(session.view.changes, place) for place in places}


def _with_pins(session: Session[Heads], states: Mapping[Place, State]) -> tuple[Change, ...]:
    pins = [one for one in session.view.changes if one.action not in interventions.SWITCHED]
    return interventions.in_order((*interventions.of_states(states), *pins))


def _table(heads: pd.DataFrame, switches: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(map(_switches, switches))
    table.insert(0, "Head", heads["name"].to_list())
    for figure, title in heads_view.FIGURE_TITLES.items():
        numbers = heads[figure].to_numpy()
        signed = figure not in (*_SHARES, *_SMALL)  # rounded as it is read, without a 0 below 0
        table[title] = numbers.round(3) + 0.0 if signed else numbers
    said = [
        ", ".join(gettext(heads_view.FINDINGS[name]["title"]) for name in text.split())
        for text in heads["verdicts"]
    ]
    if any(said):
        table.insert(3, "Finding", said)
    return table


def _columns() -> dict[str, Any]:
    kinds, said = st.column_config, {name: gettext(title) for name, title in _TITLES.items()}
    columns: dict[str, Any] = {
        "Head": kinds.TextColumn(said["Head"], pinned=True, width=92),
        _OFF: kinds.CheckboxColumn(
            said[_OFF], pinned=True, width=52,
            help=gettext("Tick to switch the head off: it then adds nothing to the model."),
        ),
        _UNIFORM: kinds.CheckboxColumn(
            said[_UNIFORM], pinned=True, width=76,
            help=gettext("Tick to give all words the same weight."),
        ),
        "Finding": kinds.TextColumn(
            said["Finding"], width=104, help=gettext("Bugs and findings, see map health.")
        ),
    }  # fmt: skip
    for figure, title in heads_view.FIGURE_TITLES.items():
        help = gettext(heads_view.FIGURE_TEXTS[figure]["help"])
        width = _WIDE if figure in _LONG else _NARROW
        if figure in _SHARES:
            columns[title] = kinds.ProgressColumn(
                said[title], help=help, format="%.2f", min_value=0.0, max_value=1.0, width=width
            )
        else:
            form = "%.2g" if figure in _SMALL else "%+.3f"
            columns[title] = kinds.NumberColumn(said[title], help=help, format=form, width=width)
    return columns
