"""Rules of style do not ask for what changes at each step of a slider: see dashboard/style.css."""

import re

import pytest
from support.wheel import ROOT

SHEETS = sorted((ROOT / "dashboard").rglob("*.css"))


def _inside_has(text):
    """What stands between the brackets of every ``:has()``."""
    for found in re.finditer(r":has\(", text):
        depth, end = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield text[found.end() : end - 1]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_no_rule_is_looked_up_again_at_each_step_of_a_slider(sheet):
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text("utf-8"), flags=re.DOTALL)
    parts = [each for each in _inside_has(text) if re.search(r"\[class[*^$~|]?=", each)]
    assert not parts, "any class that changes has these looked up again"
    assert "[aria-label" not in text, "the labels of a chart's marks change as it is drawn"


def test_the_sheet_of_the_pages_is_among_them():
    (text,) = [each.read_text("utf-8") for each in SHEETS if each.name == "style.css"]
    assert any("stVegaLiteChart" in each for each in _inside_has(text))
