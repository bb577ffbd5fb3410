"""Bring the catalogues of translations up to date with the code.

``python -m tests.translations`` adds new texts, untranslated, and takes out those that the code no
longer has. ``--missing`` lists what has no translation yet.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polib

from dashboard.language import ENGLISH, languages
from dashboard.language.catalogues import headers
from tests.support.texts import ROOT, catalogues, texts

_LONGEST_LINE = 96


def main() -> None:
    """Write every catalogue."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="only these; by default all")
    parser.add_argument("--missing", action="store_true", help="list what has no translation")
    given = parser.parse_args()
    for folder in [path.resolve() for path in given.folder] or catalogues():
        for language in languages():
            if language != ENGLISH:
                _update(folder, language, given.missing)


def updated(folder: Path, language: str) -> polib.POFile:
    """The folder's catalogue as it should be: a text that is new has no translation."""
    path = folder / f"{language}.po"
    before = polib.pofile(str(path)) if path.exists() else polib.POFile()
    held = {entry.msgid: entry for entry in before}
    made = polib.POFile(wrapwidth=_LONGEST_LINE)
    made.metadata = before.metadata or {
        "Language": language, "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit", "Plural-Forms": headers()[language]["Plural-Forms"],
    }  # fmt: skip
    for text in texts(folder).values():
        known = held.get(text.one)
        if text.many:
            said = known.msgstr_plural if known else {}
            made.append(
                polib.POEntry(
                    msgid=text.one, msgid_plural=text.many, msgstr_plural=said or {0: ""}
                )
            )
        else:
            made.append(polib.POEntry(msgid=text.one, msgstr=known.msgstr if known else ""))
        made[-1].tcomment = known.tcomment if known else ""  # the reviewed order of placeholders
    return made


def _update(folder: Path, language: str, missing: bool) -> None:
    made = updated(folder, language)
    if made:
        made.save(str(folder / f"{language}.po"))
    left = made.untranslated_entries()
    at = folder.relative_to(ROOT)
    print(f"{at}: {len(made)} texts, {len(left)} without a translation")
    if missing:
        for entry in left:
            print(f"  {entry.msgid!r}")


if __name__ == "__main__":
    main()
