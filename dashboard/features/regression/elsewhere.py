"""What panels predict besides: for the rows of another file, and along the inputs of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dashboard.charts import frames
from dashboard.charts.curves import MAX_MARKS
from dashboard.charts.template import Prepared
from dashboard.charts.values import ValuesShape, draw_values, prepare_values
from dashboard.features.regression import figures, validation
from dashboard.features.regression.view import ALONG, BASELINES, NEW_ROWS, Regression, validations
from dashboard.language import called, gettext, listed, ngettext, together
from dashboard.records.beside import beside
from dashboard.records.request import Request, Result
from dashboard.ui import export, layout, shown, table_columns, upload
from dashboard.ui.charts import legend, show, show_filled
from dashboard.ui.fields import draw_choice, draw_setting
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["elsewhere"]
_SHOWN, _CHARTS = 1_000, 12  # rows, inputs; the files have all


def controls(session: Session[Regression]) -> shown.Place:
    """Ask for the file; the place for what is predicted of its rows."""
    shown.header(gettext("New rows, and along the inputs"))
    if not session.view.rows:
        st.caption(gettext(_SAID["what"]))
    with layout.row("regression-new-rows"):
        if files := upload.known(session.view.rows, upload.ROWS):
            draw_choice(
                session, NEW_ROWS, more=files, width=220,
                titles=lambda name: upload.title(name, upload.ROWS) if name else gettext("none"),
            )  # fmt: skip
        upload.button(lambda file: session.change(rows=file), upload.ROWS)
        if session.view.along or table_columns.inputs(session.view.data, session.view.columns) > 1:
            draw_setting(session, ALONG)
    return shown.container()


def draw(session: Session[Regression], panels: Mapping[str, Request]) -> None:
    """What is predicted of new rows and along the inputs, once one of the ``panels`` is there."""
    titles, found = validation.titles_of(session), session.jobs.ended(panels)
    for field, draws in {NEW_ROWS: _rows, ALONG: _along}.items():
        asked = validations(session.view, session.catalogue, field.name)
        made = session.jobs.ended(asked)
        if found and made:
            draws(made, next(iter(found.values())), titles)
        validation.unfinished(session, asked, made, field.name)


def _rows(made: Mapping[str, Result], _: Result, titles: Mapping[str, str]) -> None:
    """A column of predictions for each, behind a row's number and before what the file has."""
    first = next(iter(made.values()))
    tables = {titles[name]: one.tables["rows"] for name, one in made.items()}
    table = _in_order({name: one[:_SHOWN] for name, one in tables.items()}).tables["predictions"]
    title = gettext("Predictions for new rows")
    digits = st.column_config.NumberColumn(format="%.4g")
    numbers = [one.name for one in table.schema if pa.types.is_floating(one.type)]
    columns = {"row": st.column_config.NumberColumn(gettext("row"))}
    columns |= dict.fromkeys(numbers, digits)
    shown.table(table, hide_index=True, alt=title, column_config=columns)
    counts = {"rows": len(first.tables["rows"]), "points": first.facts["points"]}
    said = [gettext(_SAID["said"], **counts), table_columns.skipped(first, "rows")]
    said += [ngettext(**_SAID["unknown"], column=f"*{plain(name)}*", count=count)
             for name, count in first.facts["unknown"].items() if count]  # fmt: skip
    if outside := first.facts["outside"]:
        inputs = listed(f"*{plain(called(name))}*" for name in first.facts["inputs"])
        said.append(ngettext(**_SAID["outside"], inputs=inputs, count=outside))
    if counts["rows"] > _SHOWN:
        said.append(gettext(_SAID["first"], most=_SHOWN))
    shown.caption(together(said))
    export.menu(None, partial(_in_order, tables), {}, "new-rows", title=title)


def _in_order(tables: Mapping[str, pa.Table]) -> Result:
    table = validation.one_table(tables).tables["predictions"]
    row, *names = table.column_names
    table = table.select([row, *names[-len(tables) :], *names[: -len(tables)]])
    return Result(tables={"predictions": table})


def _along(made: Mapping[str, Result], whole: Result, titles: Mapping[str, str]) -> None:
    """A map for each panel of two inputs; else all panels' partial dependence on each input."""
    *names, of = map(called, (*whole.facts["x_names"], whole.facts["y_name"]))
    key, points = " ".join(one.digest for one in (whole, *made.values())), whole.tables["points"]
    surfaces = {letter: one.tables["surface"] for letter, one in made.items()
                if "surface" in one.tables}  # fmt: skip
    centre = float(np.mean(points["y"]))
    end = max((float(np.abs(frames.column_of(one, "prediction") - centre).max())
               for one in surfaces.values()), default=0.0)  # fmt: skip
    if surfaces:
        shown.caption(gettext(_SAID["surface"], of=f"*{plain(of)}*", mean=f"{centre:.4g}"))
        less = gettext("predicted {name} less the mean", name=of)
        legend(end or 1.0, signed=True, quantity=less)
    else:
        facts = next(iter(made.values())).facts
        said = [gettext(_SAID["partial"], rows=facts["rows"], points=facts["points"])]
        if kinds := [f"*{plain(name)}*" for number, name in enumerate(names[:_CHARTS])
                     if _is_kind(points, number)]:  # fmt: skip
            said.append(gettext(_SAID["kinds"], columns=listed(kinds)))
        shown.caption(together(said))
        colours = {titles[name]: validation.COLOURS[name] for name in made}
        legend_of = partial(figures.names_legend, colours, len(made.keys() - BASELINES.keys()))
        show(f"names {[*made]} {titles}", legend_of, gettext("Names of the curves"))
    with layout.grid(len(surfaces) or min(len(names), _CHARTS)):
        for letter, one in surfaces.items():
            with shown.container():
                shown.caption(plain(titles[letter]))
                alt = gettext("Predictions of {panel} over two inputs", panel=titles[letter])
                show_filled(
                    f"surface {key} {letter} {end}", draw_values,
                    partial(prepare_surface, one, points, end, (*names, of)), alt,
                )  # fmt: skip
        for number, name in enumerate([] if surfaces else names[:_CHARTS]):
            alt = gettext("Partial dependence of {of} on {name}", of=of, name=name)
            with shown.container():
                show_filled(
                    f"partial {key} {number} {name} {titles}", figures.draw_overlay,
                    partial(_dependence, made, points, number, titles, (name, of)), alt,
                )  # fmt: skip
    held = {titles[name]: table for name, one in made.items() for table in one.tables.values()}
    title = gettext("Along the inputs")
    export.menu(None, partial(validation.one_table, held), {}, "along-inputs", title=title)


def _dependence(
    made: Mapping[str, Result], points: pa.Table, number: int, titles: Mapping[str, str],
    names: tuple[str, str],
) -> Prepared:  # fmt: skip
    curves = {}
    for letter, one in made.items():
        curve = one.tables["partial"].filter(pc.field("input") == number)
        curves[titles[letter]] = curve.append_column("truth", pa.nulls(len(curve), pa.float64()))
    return figures.prepare_overlay(
        curves, pa.table({"x0": points[f"x{number}"], "y": points["y"]}),
        colours={titles[name]: validation.COLOURS[name] for name in made},
        x_title=names[0], y_title=names[1], line=not _is_kind(points, number),
        solid=len(made.keys() - BASELINES.keys()),
    )  # fmt: skip


def _is_kind(points: pa.Table, number: int) -> bool:
    """Whether an input is 1 where a text is a certain one, and else 0."""
    return {*points[f"x{number}"].unique().to_pylist()} == {0, 1}


def prepare_surface(
    surface: pa.Table, points: pa.Table, end: float, names: Sequence[str]
) -> Prepared[ValuesShape]:
    """A map of predictions less the mean of what was measured, the second input upwards.

    Args:
        surface: ``x0``, ``x1``, ``prediction`` over a square grid, ``x1`` running faster.
        points: ``x0``, ``x1``, ``y``: where rows lie, in the colour of what was measured.
        end: of the colour scale.
        names: of both inputs, and of what is predicted.
    """
    axes = [np.unique(frames.column_of(surface, name)) for name in ("x0", "x1")]
    (low, high), side = [(axis[0], axis[-1]) for axis in axes], len(axes[0])
    centre = float(np.mean(points["y"]))
    values = frames.column_of(surface, "prediction").reshape(side, side).T[::-1] - centre
    labels = [[f"{value:.4g}" for value in axis] for axis in axes]
    prepared = prepare_values(
        values, rows=labels[1][::-1], columns=labels[0], vmax=end, cell=(16, 8),
        titles=(names[1], names[0]),
        quantity=gettext("predicted {name} less the mean", name=names[2]),
    )  # fmt: skip
    kept = points.take(np.linspace(0, len(points) - 1, min(len(points), MAX_MARKS)).astype(int))
    at = [(frames.column_of(kept, name) - start) / (last - start) * (side - 1) + 0.5
          for name, (start, last) in zip(("x0", "x1"), (low, high), strict=True)]  # fmt: skip
    placed = {"c": at[0], "r": side - at[1], "value": frames.column_of(kept, "y") - centre}
    return replace(prepared, tables={**prepared.tables, "points": pa.table(placed)})
