"""The table of chapter.md: every row has a test, and every test can fail."""

import ast
import os
import queue
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.chapter_faults import FAULTS
from support.documents import DOCUMENTS, ROOT, section

from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.view import SECTIONS

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in section("chapter.md", "Sections and their tests").splitlines()
    if re.match(r"\| \d{3} ", line)
]
TESTS = re.findall(r"`([\w/]+\.py)::(\w+)`", DOCUMENTS["chapter.md"])
HELD_BY = {row[0]: f"tests/{row[2].strip('`')}" for row in ROWS}

NUMBERS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in section("chapter.md", "Section numbers").splitlines()
    if re.match(r"\| \d", line)
]
# How the book is cited. A number that stands alone as "Section 10.3" is the book's only in
# `tests/benchmarks/textbook.py`; elsewhere it may be a paper's.
BOOK = r"(?:d2l\.ai|\*{0,2}Dive\s+into\s+Deep\s+Learning\*{0,2})"
WHERE = r"[\s,:;()'`\"]*(?:0\.17,?\s+)?(?:(?:section|chapter|equation)s?\s+)?"
CITED = re.compile(rf"{BOOK}{WHERE}(\d+\.\d+)(?:\.\d+)*|equation (\d+\.\d+)\.\d+ of \*?Dive", re.I)
TEXTBOOK = "tests/benchmarks/textbook.py"
# Edition 1.0 has the numbers 10.5 and 10.7 too, for what is in chapter 9 here.
CITES = {
    "attention_plugins/datasets/records.toml": {"9.5", "10.2"},
    "attention_plugins/models/records.toml": {"10.2"},
    "attention_plugins/recipe.py": {"10.4"},
    "attention_plugins/scores.py": {"9.7"},
    "attention_plugins/text.py": {"9.5"},
    "attention_plugins/tokenisers/records.toml": {"9.5"},
}

SIDE_BY_SIDE = 2
NEEDED = ("attention_plugins", "dashboard", "tests", "pyproject.toml", "README.md", "trained")


def test_no_cell_is_empty_and_every_document_is_there():
    assert all(len(row) == 3 and all(row) for row in ROWS)
    assert {row[0][:3] for row in ROWS} == {"000", "001", "002", "003", "004"}
    assert len({row[0] for row in ROWS}) == len(ROWS)


def citations():
    """Each section that the code cites, by file and number."""
    for folder in ("attention_plugins", "dashboard", "tests"):
        every = (ROOT / folder).rglob("*")
        for path in sorted(path for path in every if path.suffix in (".py", ".toml")):
            name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
            text = re.sub(r'"\n\s*f?"|\\\n', "", text)  # a string over several lines
            found = [one for pair in CITED.findall(text) for one in pair if one]
            if name == TEXTBOOK:
                found += re.findall(r"[Ss]ection (\d+\.\d+)", text)
            yield from ((name, number) for number in found if number != "0.17")


def test_sections_are_cited_by_one_numbering():
    """That of the document; the English edition 1.0 calls chapter 10 the 11th."""
    assert {row[0]: row[1] for row in NUMBERS} == SECTIONS
    found = [*citations()]
    assert not [one for one in found if one[1] not in SECTIONS]
    assert len(found) > 30
    assert {name: {one for file, one in found if file == name} for name in CITES} == CITES
    for row in NUMBERS:
        chapter, _, number = row[0].partition(".")
        assert row[2] == f"{int(chapter) + 1}.{number}"
        assert [one.title for one in LESSONS if one.section == row[0]] == [
            title for title in row[3].split("; ") if title
        ]


def test_every_row_names_a_test():
    assert all(re.fullmatch(r"`[\w/]+\.py::test_\w+`", row[2]) for row in ROWS)


@pytest.mark.parametrize(("path", "name"), sorted(set(TESTS)))
def test_every_named_test_exists(path, name):
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_row_has_a_fault_that_can_be_planted():
    assert FAULTS.keys() == HELD_BY.keys()
    for row, fault in FAULTS.items():
        found = (ROOT / fault.path).read_text(encoding="utf-8").count(fault.old)
        assert found == 1, f"{row}: {fault.path} has {fault.old!r} {found} times, need it once"
        assert fault.old != fault.new


def copied(place):
    """The working tree, without what was compiled: a byte code may outlive an edit of its text."""
    place.mkdir()
    for name in NEEDED:
        if name == "trained":
            (place / name).symlink_to(ROOT / name)
        elif (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, place / name)
    return place


def outcome(place, *arguments):
    """What pytest said in a copy: its status, and the last lines."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-q", "-x", "-m", "", "-p", "no:cacheprovider",
         "--tb=line", "--timeout=900", *arguments],
        cwd=place, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(place)},
    )  # fmt: skip
    return done.returncode, "\n".join(done.stdout.splitlines()[-5:])


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_gross_fault_in_what_a_row_is_about_turns_its_test_red(tmp_path):
    """All pass unbroken, and each fails then, as a test and not for want of one.

    Two trainings of minutes are not repeated unbroken: they are tests beside this one.
    """
    places = queue.Queue()
    for number in range(SIDE_BY_SIDE):
        places.put(copied(tmp_path / f"copy {number}"))

    def unbroken(tests):
        place = places.get()
        try:
            return outcome(place, *tests)
        finally:
            places.put(place)

    def survives(row):
        place, fault = places.get(), FAULTS[row]
        path = place / fault.path
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
            picked = ("-k", fault.only) if fault.only else ()
            status, said = outcome(place, HELD_BY[row], *picked)
        finally:
            path.write_text(text, encoding="utf-8")
            places.put(place)
        failed = status == pytest.ExitCode.TESTS_FAILED and re.search(r"\d+ failed", said)
        return "" if failed else f"{row}: {HELD_BY[row]} stays green, or breaks: {said}"

    trains = {row: "textbook_training" in test for row, test in HELD_BY.items()}
    rows = sorted(FAULTS, key=trains.get, reverse=True)  # longest first
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        broken = pool.map(survives, rows)
        whole = pool.submit(unbroken, {HELD_BY[row] for row in rows if not trains[row]})
        green = [said for said in broken if said]
    status, said = whole.result()
    assert status == pytest.ExitCode.OK, said
    assert not green, "\n".join(green)
