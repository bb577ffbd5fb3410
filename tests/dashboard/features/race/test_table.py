"""What is written in the table, and by which numbers it sorts."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from dashboard.features.race import table
from dashboard.features.race.table import _styled, _width, p_text
from dashboard.features.race.view import RaceView, interval, number
from dashboard.storage.bundle import unpack
from dashboard.storage.races import PLAN


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (90.774, 87.04, 93.21, "90.8 [87.0, 93.2]"),
        (0.04479, 0.03773, 0.05145, "0.045 [0.038, 0.051]"),
        (-0.0093, -0.0153, -1.4e-06, "-0.009 [-0.015, 0.000]"),
        (1234.5, 1100.0, 1400.0, "1,234 [1,100, 1,400]"),
        (0.5, 0.5, 0.5, "0.5 [0.5, 0.5]"),
        (0.5, None, None, "0.5"),
        (None, None, None, "–"),
    ],
)
def test_a_mean_is_as_exact_as_its_interval_is_wide(mean, low, high, text):
    assert interval({"x": mean, "x_low": low, "x_high": high}, "x") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (-0.0, "0"), (0.03, "0.03"), (12345, "12,345"), (1.5e-7, "1.5e-07"),
     (123456789, "1.23e+08")],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_a_p_has_two_digits():
    assert [p_text(p) for p in (None, 0.046875, 1.0, 0.00048)] == ["–", "0.047", "1", "0.00048"]


def test_a_column_is_as_wide_as_its_longest_interval_in_any_row():
    short = _width("MSE", ["0.5 [0, 1]", *["0.5"] * 40])
    long = _width("MSE", [*["0.5"] * 40, "0.123 [0.093, 0.181]"])
    assert short
    assert long
    assert short < long
    assert _width("MSE", ["0.5", "no difference found"]) is None


@pytest.mark.parametrize("count", [0, 1, 8, 9, 10, 23])
def test_every_problem_is_told_once_and_the_first_ones_without_a_click(count, monkeypatch):
    told, folded, labels = [], [], []
    monkeypatch.setattr(table.shown, "caption", told.append)
    monkeypatch.setattr(table.st, "text", folded.append)
    monkeypatch.setattr(table.st, "expander", lambda label: labels.append(label) or nullcontext())
    rows = [{"name": f"dot {n}", "problem": "no gradient"} for n in range(count)]
    table._problems(SimpleNamespace(rows=[*rows, {"name": "fine", "problem": ""}]))
    assert told + folded == [f"dot {n}: no gradient" for n in range(count)]
    assert len(told) == min(count, 8)
    assert labels == [f"{count - 8} more that had a problem"] * (count > 8)


def test_equal_means_keep_their_own_intervals_and_their_order():
    frame = pd.DataFrame({"Contestant": ["a", "b", "c", "d"], "x": [0.5, 0.5, 0.25, None]})
    texts = pd.DataFrame(
        {"Contestant": ["a", "b", "c", "d"], "x": ["0.5 [0, 1]", "0.5 [0.4, 0.6]", "0.25", "–"]}
    )
    style = _styled(frame, texts)
    body = style._translate(False, False)["body"]
    cells = [[cell["display_value"] for cell in row if cell["type"] == "td"] for row in body]
    assert [str(row[1]) for row in cells] == [*texts["x"]]
    assert "font-weight" not in style.to_html()
    (rule,) = _styled(frame, texts, [2]).to_html(cell_ids=True).split("font-weight: bold")[:-1]
    assert rule.rstrip().endswith("row2_col0 {")
    assert style.data["x"].argmin() == 2
    assert style.data["x"][1] == pytest.approx(0.5, abs=1e-12)


ROW = {
    "name": "Dot", "rank": 2, "verdict": "better", "quality": 0.5, "quality_low": 0.25,
    "quality_high": 0.75, "difference": -0.25, "difference_low": -0.5, "difference_high": 0.0,
    "p": 0.046875, "near": 0.4, "far": 0.8, "parameters": 1234, "rate": 0.3, "edge": "highest",
    "seeds": 12,
}  # fmt: skip


def test_each_column_is_of_its_own_figure_and_floors_stand_below():
    floors = [("uniform attention", 9.0, 8.0, 9.5), ("a line", 1.0, 0.5, 2.0)]
    seen = SimpleNamespace(
        rows=[ROW, {**ROW, "name": "Cosine", "parameters": None, "p": None, "edge": "lowest"}],
        result=SimpleNamespace(facts={"limits": {"floors": floors}}),
    )
    frame, texts = table._frames(seen, "MSE")
    assert [*texts.loc[0]] == [
        "Dot", "2", "better", "0.50 [0.25, 0.75]", "-0.25 [-0.50, 0.00]", "0.047", "0.4", "0.8",
        "1,234", "0.3 ↑", "12",
    ]  # fmt: skip
    assert (texts.loc[1, "Rate"], texts.loc[1, "Parameters"], texts.loc[1, "p"]) == (
        "0.3 ↓",
        "–",
        "–",
    )
    assert [*frame["Contestant"]] == ["Dot", "Cosine", "a line"], "one of them is a row already"
    assert {*texts.loc[2]} == {"a line", "floor", "1.0 [0.5, 2.0]", "–"}
    assert [*frame["MSE"]] == [0.5, 0.5, 1.0]
    assert {f"{frame[name].dtype}" for name in ("Rank", "Parameters", "Seeds")} == {"Int64"}
    seen.result.facts["limits"] = None
    assert len(table._frames(seen, "MSE")[0]) == 2


@pytest.mark.parametrize(("count", "height"), [(17, "content"), (18, 620)])
def test_a_row_opens_its_contestant_and_a_long_table_scrolls(count, height, monkeypatch):
    drawn, looked, noted = {}, [], []
    view = RaceView(a="before", a_map="1.2")
    rows = [{**ROW, "key": f"who {n}", "equals": ""} for n in range(count)]
    seen = SimpleNamespace(
        rows=rows, entered=[rows[3]], metric="MSE", arrow="↓", fact=lambda _: "",
        session=SimpleNamespace(view=view),
        result=SimpleNamespace(
            digest="abc",
            facts={"limits": {"floors": [("a line", 1.0, 0.5, 2.0)]}, "needed": None},
        ),
    )  # fmt: skip
    monkeypatch.setattr(table.st, "container", lambda **_: nullcontext())
    monkeypatch.setattr(table.st, "dataframe", lambda _, **more: drawn.update({more["key"]: more}))
    monkeypatch.setattr(table.shown, "note_table", lambda *_, **more: noted.append(more["bold"]))
    monkeypatch.setattr(table.shown, "caption", lambda _: None)
    monkeypatch.setattr(table.st, "caption", lambda _: None)
    monkeypatch.setattr(table.st, "session_state", {})
    for name in ("measured", "caption", "edges", "_problems"):
        monkeypatch.setattr(table, name, lambda _: "")
    monkeypatch.setattr(table, "look_at", lambda _, view: looked.append(view))
    table.table(seen)
    assert noted == [[(3, "Contestant")]]  # the visitor's own
    assert {one["height"] for one in drawn.values()} == {height}
    for key, one in drawn.items():
        for picked in ([2], [], [count]):  # the last is a floor
            table.st.session_state[key] = {"selection": {"rows": picked}}
            one["on_select"]()
    assert len(drawn) == 2
    assert looked == [replace(view, a="who 2", a_map="")] * 2


def test_a_race_without_an_outcome_is_a_plan_alone(tmp_path):
    (tmp_path / PLAN).write_text("{}")
    assert unpack(table.bundle(SimpleNamespace(folder=tmp_path)), bool) == {PLAN: b"{}"}


def test_near_and_far_are_explained_where_any_row_has_one():
    none = {"near": None, "far": None}
    assert table.near_and_far([none]) == ""
    assert table.near_and_far([none, {"near": 1.0, "far": None}]).startswith("Near: ")
    assert "Far: " in table.near_and_far([{"near": None, "far": 0.0}, none])


def test_files_are_named_by_the_task_and_the_whole_race_by_its_own_name(monkeypatch):
    made = []
    monkeypatch.setattr(
        table.st, "download_button",
        lambda label, data, *, file_name, mime, **_: made.append((label, file_name, mime)),
    )  # fmt: skip
    choices = SimpleNamespace(task="sine", race=SimpleNamespace(name="mine"))
    table.downloads(choices, {"md": b"", "csv": b"", "tex": b"", "other": b""})
    assert made == [
        ("CSV", "race-sine.csv", "text/csv"), ("LaTeX", "race-sine.tex", "text/x-tex"),
        ("Markdown", "race-sine.md", "text/markdown"),
        ("The whole race", "mine-race.zip", "application/zip"),
    ]  # fmt: skip
