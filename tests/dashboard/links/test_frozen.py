"""Links that were shared keep their meaning: what each gave before is what it gives now.

``frozen.json`` holds a catalogue, and for each link the view that it gave, the link that this view
writes, and the sentences on what was refused, as they were before pages declared their fields.
Sentences may be worded anew, so only their number is compared.
"""

import dataclasses
import importlib
import json
from pathlib import Path

import pytest
from support.catalogue import FACTS

from dashboard.records.catalogue import Catalogue

FROZEN = json.loads(Path(__file__).with_name("frozen.json").read_text(encoding="utf-8"))
# Attributes of views that are called otherwise by now.
RENAMED: dict[str, dict[str, str]] = {
    "alignment": {"selected": "spots"},
    "differences": {"selected": "spots"},
    "heads": {"selected": "spot"},
    "translation": {"selected": "spots"},
}
# What links say by now, since pages are opened with another value where they say nothing.
SAID: dict[str, dict[str, tuple[str, ...]]] = {"experiment": {"seeds": ("3", "5")}}
# What a bare address, which names nothing, opened then and need not open now.
BARE: dict[str, dict[str, object]] = {"experiment": {"seeds": 5}}
# Attributes that views no longer have, with the only value that they ever had.
GONE: dict[str, dict[str, object]] = {"differences": {"beam": 1}}


@pytest.fixture(scope="module")
def installed():
    # A catalogue did not list metrics and kinds then; the pages knew them by themselves.
    return Catalogue.of({**FACTS, **FROZEN["catalogue"]})


def plainly(value, names):
    if dataclasses.is_dataclass(value):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return {names.get(name, name): plainly(one, names) for name, one in fields.items()}
    if isinstance(value, tuple | list):
        return [plainly(one, names) for one in value]
    return value


def as_frozen(seen, frozen):
    """What is seen without the attributes that views have gained since; the link tells of them."""
    if isinstance(seen, dict) and isinstance(frozen, dict):
        return {name: as_frozen(seen[name], one) for name, one in frozen.items()}
    if isinstance(seen, list) and isinstance(frozen, list) and len(seen) == len(frozen):
        return [as_frozen(*both) for both in zip(seen, frozen, strict=True)]
    return seen


@pytest.mark.parametrize("page", sorted({one["page"] for one in FROZEN["links"]}))
def test_links_open_the_state_that_they_opened_before(page, installed):
    link = importlib.import_module(f"dashboard.features.{page}.view").LINK
    frozen = [one for one in FROZEN["links"] if one["page"] == page]
    for one in frozen:
        view, problems = link.parse(one["query"], installed)
        asked = f"{page} {one['query']}"
        seen = plainly(view, RENAMED.get(page, {})) | GONE.get(page, {})
        if not one["query"]:
            seen |= BARE.get(page, {})
        assert as_frozen(seen, one["view"]) == one["view"], asked
        written, said = dict(link.format(view, installed)), SAID.get(page, {})
        for name in said.keys() - one["link"].keys():
            assert written.pop(name, said[name][0]) in said[name], asked
        assert written == one["link"], asked
        assert len(problems) == len(one["problems"]), f"{asked}: {problems}"
