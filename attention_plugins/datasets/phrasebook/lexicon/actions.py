"""The lines of ``verbs`` as records, to be chosen by their use."""

from __future__ import annotations

import re
from typing import NamedTuple

from attention_plugins.datasets.phrasebook.lexicon.verbs import LIKED, LINES

_SLOT = re.compile(r"\{(\w+)\}")
_PREPOSITION = re.compile(r"\|.* (à|de|dans|chez)(?::\w+)? \{o\}")
_PERSON_SLOTS = ("him", "to", "person", "whom", "towhom", "atwhom")


class Action(NamedTuple):
    """A verb with its complements: two sides of a template, its uses, and objects to choose from.

    ``governed`` is the French preposition before the object, if any.
    ``infinitive`` and ``base`` are the verbs, ``template`` the whole with ``{o}`` for the object;
    ``reflexive`` where French says ``se``; ``person`` and ``places`` are its other slots.
    """

    base: str
    infinitive: str
    reflexive: bool
    template: str
    uses: str
    objects: tuple[tuple[str, str], ...]
    governed: str
    person: str
    places: tuple[str, ...]


def _read_objects(text: str) -> tuple[tuple[str, str], ...]:
    groups = [group.split() for group in text.split(";") if group.strip()]
    return tuple((determiner, noun) for determiner, *nouns in groups for noun in nouns)


def _read_action(line: str) -> Action:
    source, target, uses, objects = (part.strip() for part in line.split("|"))
    listed = bool(objects) and "{}" not in source
    base, *source_rest = source.replace("{}", "{o}").split()
    reflexive = target.startswith(("se ", "s'"))
    target = target.removeprefix("se ").removeprefix("s'").replace("{}", "{o}")
    infinitive, *target_rest = target.split()
    slot = ["{o}"] if listed else []
    template = " ".join(
        [f"{base}:v", *source_rest, *slot, "|", f"{infinitive}:v", *target_rest, *slot]
    )
    slots = [slot for slot in _SLOT.findall(template) if slot != "o"]
    person = next((slot for slot in slots if slot in _PERSON_SLOTS), "")
    places = tuple(dict.fromkeys(slot for slot in slots if slot not in _PERSON_SLOTS))
    known = _read_objects(objects)
    found = _PREPOSITION.search(template)
    before = found[1] if found else ""
    return Action(base, infinitive, reflexive, template, uses, known, before, person, places)


ACTIONS = tuple(
    _read_action(line)
    for line in LINES.replace("\n  ", " ").replace("LIKED", LIKED).strip().splitlines()
)


def with_use(*uses: str) -> tuple[Action, ...]:
    """The actions of every one of these uses; those with more objects come more often."""
    return tuple(
        action
        for action in ACTIONS
        if all(use in action.uses for use in uses)
        for _ in range(1 + min(5, len(action.objects) // 3))
    )
