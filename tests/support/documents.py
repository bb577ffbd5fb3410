"""README.md and the documents below ``.github/docs``, as tests read them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATHS = {
    path.name: path
    for path in (ROOT / "README.md", *sorted((ROOT / ".github" / "docs").glob("*.md")))
}
DOCUMENTS = {name: path.read_text("utf-8") for name, path in PATHS.items()}


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, rank and title of each heading; a comment in a block of code is none."""
    code = False
    for number, line in enumerate(text.splitlines()):
        code ^= line.startswith("```")
        if not code and (found := re.match(r"(#+) (.+)", line)):
            yield number, len(found[1]), found[2]


def section(document: str, title: str) -> str:
    """The text below a heading, up to the next of its rank or above, or to the end.

    Args:
        document: its file's name, such as ``"hosting.md"``.
        title: the heading without its marks, such as ``"Settings"``.

    Raises:
        ValueError: the document has no such heading, or has it more than once.
    """
    text = DOCUMENTS[document]
    found = [(number, rank) for number, rank, name in headings(text) if name == title]
    if len(found) != 1:
        raise ValueError(f"{document} has {len(found)} headings {title!r}, need one")
    ((start, rank),) = found
    ends = [number for number, other, _ in headings(text) if number > start and other <= rank]
    return "\n".join(text.splitlines()[start + 1 : ends[0] if ends else None])
