"""README's table of the chapter: no empty cell, every test exists, every document has its rows."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_, _, AFTER = README.partition("## The chapter, section by section\n")
CHAPTER = AFTER.partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in CHAPTER.splitlines()
    if re.match(r"\| \d{3} ", line)
]
TESTS = re.findall(r"`([\w/]+\.py)::(\w+)`", CHAPTER)


def test_no_cell_is_empty_and_every_document_is_there():
    assert all(len(row) == 3 and all(row) for row in ROWS)
    assert {row[0][:3] for row in ROWS} == {"000", "001", "002", "003", "004"}
    assert len({row[0] for row in ROWS}) == len(ROWS)


def test_every_row_names_a_test():
    assert all(re.fullmatch(r"`[\w/]+\.py::test_\w+`", row[2]) for row in ROWS)


@pytest.mark.parametrize(("path", "name"), sorted(set(TESTS)))
def test_every_named_test_exists(path, name):
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
