"""README.md and the documents lead to each other, and each fact stands in one of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from support.documents import DOCUMENTS, PATHS, ROOT, headings, section

CONTRIBUTING, SECURITY, CHANGELOG = (
    ROOT / ".github" / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CHANGELOG")
)
ALL = (*PATHS.values(), CONTRIBUTING, SECURITY, CHANGELOG)
LINK = re.compile(r"\]\((?!https?:)([^)\s]*)\)")
LINKS = [(path, link) for path in ALL for link in LINK.findall(path.read_text("utf-8"))]


def anchor(title: str) -> str:
    """As GitHub makes it: small letters, no punctuation, hyphens for blanks."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def anchors(path: Path) -> list[str]:
    return [anchor(title) for _, _, title in headings(path.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("path", "link"), LINKS, ids=[f"{path.name} {link}" for path, link in LINKS]
)
def test_every_relative_link_leads_somewhere(path, link):
    name, _, place = link.partition("#")
    target = path.parent / name if name else path
    assert target.exists()
    if place:
        assert anchors(target).count(place) == 1


def test_an_anchor_is_that_of_the_heading():
    assert anchor("Why `a, b` & *c* stand-alone?") == "why-a-b--c-stand-alone"


@pytest.mark.parametrize("name", sorted(DOCUMENTS.keys() - {"README.md"}))
def test_every_document_begins_with_its_contents(name):
    (_, first, _), (start, *_), *_ = found = list(headings(DOCUMENTS[name]))
    assert first == 1
    head = "\n".join(DOCUMENTS[name].splitlines()[:start])
    assert [(len(indent) // 2 + 2, title, place) for indent, title, place in re.findall(
        r"^( *)- \[(.+)\]\(#(.+)\)$", head, re.MULTILINE
    )] == [(rank, title, anchor(title)) for _, rank, title in found[1:]]  # fmt: skip


def test_the_readme_leads_to_every_document():
    linked = {(path.parent / link.partition("#")[0]).resolve() for path, link in LINKS
              if path == PATHS["README.md"]}  # fmt: skip
    assert {path.resolve() for path in ALL} - linked == {PATHS["README.md"]}


def test_the_readme_is_short_and_keeps_the_headings_that_others_link_to():
    assert len(DOCUMENTS["README.md"].splitlines()) <= 150
    for title in ("Start", "Compare", "Write a scoring", "Host it"):
        assert section("README.md", title).strip()


def test_no_paragraph_and_no_row_stands_twice():
    found = [" ".join(part.split()) for text in DOCUMENTS.values()
             for part in re.split(r"\n\n+|\n(?=\||- )", text)]  # fmt: skip
    long = [part for part in found if len(part) > 60]
    assert len(long) > 300
    assert sorted(part for part in {*long} if long.count(part) > 1) == []


def test_a_section_ends_where_the_next_of_its_rank_begins(monkeypatch):
    text = "# A\n## B\none\n```bash\n# no heading\n```\n### C\ntwo\n## D\nthree"
    monkeypatch.setitem(DOCUMENTS, "some.md", text)
    assert section("some.md", "B") == "one\n```bash\n# no heading\n```\n### C\ntwo"
    assert section("some.md", "D") == "three"
    with pytest.raises(ValueError, match=r"some.md has 0 headings 'E', need one"):
        section("some.md", "E")


def test_the_citation_is_of_this_version_and_these_authors():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    found = dict(re.findall(r"^([a-z-]+): (.+)$", citation, re.MULTILINE))
    assert found["version"] == project["version"]
    assert found["license"] == project["license"]
    (author,) = re.findall(r'^  - name: "(.+)"$', citation, re.MULTILINE)
    assert [author] == [one["name"] for one in project["authors"]]
    assert f"## {found['version']} " in CHANGELOG.read_text("utf-8")
