"""A Chinese reader finds a Chinese header over every column of numbers, on every page."""

from __future__ import annotations

import json
import re

import pytest
from support.alignments import with_gold
from support.races import laid_down

from dashboard.features.anatomy.view import PARTS
from dashboard.ui import page as summaries
from dashboard.ui.navigation import installed

CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Columns that are named by what stands in the data: words of a sentence, numbers, names.
WORDS = {"i", "i'm", "am", "home", "*home*", ".", "<eos>", "b", "c", "d", "x"}
NUMBERED = re.compile(r"k?\d+|-?\d+(\.\d+)?|−?\d+ → \d+")
NAMES = {"a：Gaussian", "a Gaussian", "Gaussian", "Laplacian", "reverse", "Sine", "CNN", "RNN"}
# Of the story whose maps are first on the page of swaps.
STORY = {"<s>", "One", "day", "·,", "a", "·o", "·y", "named", "Tim", "·s", "·ked", "he", "·l"}
STORY |= {"a (2)", "a (3)"}
SYMBOLS = {"x", "y", "d", "n", "p", "MB"}
LINKS = {
    "regression": {"a": "gaussian", "a__width": "0.5"},
    "race": {"race": "mine"},
}


@pytest.fixture
def facts(facts):
    return with_gold(facts)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    laid_down(tmp_path / "races" / "mine")


def in_english(headers):
    known = WORDS | STORY | NAMES | SYMBOLS
    return [
        header for header in headers
        if not (CHINESE.search(header) or NUMBERED.fullmatch(header) or header in known)
    ]  # fmt: skip


def seen(table):
    """The headers of a table as they are seen."""
    said = json.loads(table.proto.columns or "{}")
    return [said.get(str(name), {}).get("label") or str(name) for name in table.value.columns]


@pytest.mark.parametrize(
    ("page", "link"),
    [
        *((entry.name, LINKS.get(entry.name, {})) for entry in installed()),
        *(("anatomy", {"part": part}) for part in PARTS),
    ],
)
def test_headers_are_chinese_or_names_or_symbols(page, link, opened, chinese, monkeypatch):
    told = []
    monkeypatch.setattr(summaries, "section", told.extend)
    app = opened(page, **link)
    assert not app.exception
    found = {title: in_english(summary.table().column_names) for title, summary in told}
    found |= {f"table {i}": in_english(seen(table)) for i, table in enumerate(app.dataframe)}
    assert {title: headers for title, headers in found.items() if headers} == {}
