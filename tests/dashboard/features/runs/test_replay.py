from __future__ import annotations

import re

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest
from support.runs import HEAD, panel

from dashboard.storage.page_run import PageRun
from dashboard.storage.seen import Chart, Group, Table, Text, Value

HOSTILE = "![x](http://evil.example/x.png) <img src=y> :material/home: [a](http://b) `c`"
KINDS = ("heading", "markdown", "caption", "text", "latex", "error")


def page(*blocks, **more):
    return PageRun(panels=(panel(),), name="one", seen=Group(blocks=blocks), **more)


def show(held, foreign):
    from dashboard.features.runs.one import replay

    replay(held, foreign=foreign)


@pytest.fixture
def replayed():
    """``replayed(page, foreign=False)``: a page with nothing else on it."""

    def new(held, *, foreign=False):
        app = AppTest.from_function(show, args=(held, foreign)).run()
        assert not app.exception
        return app

    return new


def test_a_page_of_this_dashboard_is_drawn_as_it_was(replayed):
    held = page(
        Text(kind="markdown", text="**bold** $x$"),
        Value(kind="setting", label="Width*", value="0.5"),
        Value(kind="setting", label="Seed", value="7"),
        Value(kind="metric", label="**Rate**", value="0.125"),
        Group(layout="row", weights=(3, 1), blocks=(
            Group(letter="b", title="A *title*", blocks=(Chart(name="map", alt="A map"),)),
            Table(name="rates", formats={"rate": "%.3f"}, bold=((0, "rate"), (9, "rate"))),
        )),
        charts={"map": {"mark": "rect"}}, tables={"rates": pa.table({"rate": [0.5, 0.25]})},
    )  # fmt: skip
    app = replayed(held)
    assert [one.value for one in app.caption] == [r"Width\*: **0\.5** · Seed: **7**"]
    assert [(one.label, one.value) for one in app.metric] == [("**Rate**", "0.125")]
    assert [round(column.weight, 2) for column in app.columns] == [0.75, 0.25]
    left, right = app.columns
    assert left.get("vega_lite_chart")[0].proto.alt == "A map"
    assert r"**A \*title\***" in [one.value for one in left.markdown]
    (table,) = right.dataframe
    assert table.value["rate"].tolist() == [0.5, 0.25]
    assert "bold" in table.proto.arrow_data.styler.styles
    assert "%.3f" in table.proto.columns
    assert "**bold** $x$" in [one.value for one in app.markdown]


@pytest.mark.parametrize("kind", KINDS)
def test_a_strangers_text_is_shown_as_it_stands(replayed, kind):
    app = replayed(page(Text(kind=kind, text=f"{HOSTILE}\n{HOSTILE}")), foreign=True)
    marked = [*app.markdown, *app.caption, *app.header, *app.error]
    for one in marked:
        assert not re.search(r"(?<!\\)[<!\[`]", str(one.value))
    said = "".join(str(one.value) for one in [*marked, *app.text])
    assert "evil" in said


def test_a_strangers_formulas_are_set_where_they_fit(replayed):
    small, large = r"\sin x", r"\rule{1000em}{1em}"
    texts = [Text(kind="latex", text=small), Text(kind="latex", text=large),
             Text(kind="markdown", text=rf"a \*b\* $\sin x$ ${large}$")]  # fmt: skip
    app = replayed(page(*texts), foreign=True)
    assert [one.value for one in app.latex] == [f"$$\n{small}\n$$"]
    assert [one.value for one in app.text] == [large]
    (line,) = (one.value for one in app.markdown if "sin" in one.value and one.value[0] == "a")
    assert line.startswith(r"a \*b\* $\sin x$ ")
    assert "$" not in line.removeprefix(r"a \*b\* $\sin x$ ")


def test_a_strangers_charts_are_pictures(replayed):
    charts = {name: {"mark": "image"} for name in ("seen", "lost")}
    blocks = tuple(Chart(name=name, alt=f"a chart *{name}*") for name in charts)
    held = page(*blocks, charts=charts, pictures={"seen.png": HEAD})
    app = replayed(held, foreign=True)
    assert not app.get("vega_lite_chart")
    (image,) = app.get("image")
    assert image.proto.imgs[0].url.startswith("data:image/png;base64,")
    assert [one.value for one in app.caption] == [
        r":material/image_not_supported: No picture: a chart \*lost\*"
    ]


def test_two_panels_of_one_letter_break_nothing(replayed):
    twice = (Group(letter="a", title="x", blocks=(Text(kind="caption", text="y"),)),) * 2
    assert len(replayed(page(*twice), foreign=True).caption) == 2


def test_wrong_weights_and_empty_groups_break_nothing(replayed):
    text = Text(kind="caption", text="x")
    blocks = [Group(layout="row", weights=(1.0,), blocks=(text, text)), Group(layout="row"),
              Group(layout="grid"), Group()]  # fmt: skip
    assert len(replayed(page(*blocks), foreign=True).caption) == 2


def test_what_lies_deep_or_wide_breaks_nothing(replayed):
    text = Text(kind="caption", text="x")
    for layout in ("stack", "row", "grid"):
        deep = Group(layout=layout, blocks=(text,))
        for _ in range(28):  # JSON of a page is nested no deeper
            deep = Group(layout=layout, border=True, title="t", blocks=(deep,))
        wide = Group(layout=layout, blocks=(text,) * 600)
        assert len(replayed(page(deep, wide), foreign=True).caption) == 601


def test_a_table_that_is_too_large_is_said(replayed):
    held = {"big": pa.table({"x": [0.5] * 100_001})}
    blocks = (Table(name="big", bold=((0, "x"),)),)
    app = replayed(page(*blocks, tables=held), foreign=True)
    assert not app.dataframe
    assert "A table of 200,002 values is too large to be shown." in app.caption[0].value
