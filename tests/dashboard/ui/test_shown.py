import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.storage.seen import Chart, Group, Table, Text, Value
from dashboard.ui import shown

SPEC = {"mark": "point", "datasets": {"cells": [{"x": 1}]}}


@pytest.fixture
def record():
    st.session_state.clear()  # which page is seen: the last that any test has drawn without one
    with shown.recording() as made:
        yield made


def text(words, kind="caption"):
    return Text(kind=kind, text=words)


def test_all_that_is_drawn_is_noted_in_its_order(record):
    shown.header("Heading")
    shown.markdown("**bold**")
    shown.caption("small")
    shown.text("as it stands")
    shown.latex(r"\pi")
    shown.error("wrong")
    shown.metric("Rate", "0.125")
    kinds = [block.kind for block in record.seen.blocks]
    assert kinds == ["heading", "markdown", "caption", "text", "latex", "error", "metric"]
    assert record.seen.blocks[0].text == "Heading"
    assert record.seen.blocks[-1] == Value(kind="metric", label="Rate", value="0.125")


def test_places_may_be_filled_later_and_lie_where_they_were_made(record):
    first = shown.container()
    left, right = shown.columns([2, 5])
    shown.caption("last")
    with right:
        shown.caption("right")
    with first, shown.grid(3), shown.container(border=True, height=64):
        shown.caption("first")
    cell = Group(border=True, height=64, blocks=(text("first"),))
    assert record.seen.blocks == (
        Group(blocks=(Group(layout="grid", blocks=(cell,)),)),
        Group(layout="row", weights=(2, 5), blocks=(Group(), Group(blocks=(text("right"),)))),
        text("last"),
    )
    assert left


def test_a_panel_has_a_letter_a_title_and_what_its_controls_say(record):
    with shown.container():
        shown.change(letter="b")
        shown.title("Gaussian\nkernel")
        shown.setting("Width", 0.5)
        shown.setting("Learn", True)
    (panel,) = record.seen.blocks
    assert (panel.letter, panel.title) == ("b", "Gaussian kernel")
    assert [(one.label, one.value) for one in panel.blocks] == [("Width", "0.5"), ("Learn", "on")]
    assert record.root.titles() == ["Gaussian kernel"]


def test_charts_of_one_name_get_numbers_and_one_may_be_kept_otherwise_than_drawn(record):
    shown.chart(SPEC, "Weights of a")
    shown.chart(SPEC, "Weights of a", stretch=False, kept=shown.Kept(lambda: {"mark": "rect"}))
    assert record.seen.blocks == (
        Chart(name="weights-of-a", alt="Weights of a"),
        Chart(name="weights-of-a-2", alt="Weights of a", stretch=False),
    )
    assert record.charts["weights-of-a"] is SPEC
    assert record.charts["weights-of-a-2"]() == {"mark": "rect"}


def test_a_table_is_noted_with_its_index_where_it_is_seen_and_its_formats(record):
    frame = pd.DataFrame({"rate": [0.5, np.nan], "note": [None, None]}, index=["a", "b"])
    frame.index.name = "Panel"
    config = {"rate": {"type_config": {"type": "number", "format": "%.3f"}}, "more": {}}
    shown.table(frame, column_config=config, alt="Rates")
    shown.table(pa.table({"n": [1]}), hide_index=True)
    shown.note_table(frame, alt="Rates", bold=[(0, "rate")])
    assert record.tables["rates"].to_pylist() == [
        {"Panel": "a", "rate": 0.5, "note": None}, {"Panel": "b", "rate": None, "note": None},
    ]  # fmt: skip
    assert record.tables["table"].to_pylist() == [{"n": 1}]
    assert record.tables["rates-2"].column_names == ["rate", "note"]
    assert record.seen.blocks == (
        Table(name="rates", formats={"rate": "%.3f"}), Table(name="table"),
        Table(name="rates-2", bold=((0, "rate"),)),
    )  # fmt: skip


def test_what_is_noted_is_also_drawn():
    def page():
        from dashboard.ui import shown

        left, right = shown.columns(2)
        with right, shown.container():
            shown.caption("right")
            shown.chart({"mark": "point"}, "a chart")
        left.container(border=True).__enter__()
        shown.metric("Rate", "0.125")

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert [one.value for one in app.columns[1].caption] == ["right"]
    assert [one.value for one in app.columns[0].metric] == ["0.125"]
    assert app.get("vega_lite_chart")[0].proto.alt == "a chart"


@pytest.mark.usefixtures("chinese")
def test_a_chart_with_chinese_words_is_named_by_its_page(record):
    for _ in range(2):
        shown.chart(SPEC, "面板 a 的注意力")
    shown.chart(SPEC, "颜色", kept=shown.Kept(name="colours-from-weight"))
    assert [*record.charts] == ["start", "start-2", "colours-from-weight"]
    assert record.seen.blocks[0].alt == "面板 a 的注意力"


def test_a_table_is_not_converted_before_somebody_keeps_it(monkeypatch):
    made = []
    monkeypatch.setattr(shown, "_held", lambda *_, **more: made.append(more))
    with shown.recording() as record:
        shown.note_table(pd.DataFrame({"n": [1]}), alt="Rates")
    assert made == []
    assert record.tables == {"rates": None}
    assert made == [{"indexed": False}]
