"""English inflection: verb forms, plurals, comparatives, auxiliaries."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

# Base, past, participle of the irregular verbs.
_IRREGULAR_LINES = """
eat ate eaten, drink drank drunk, read read read, write wrote written, send sent sent,
give gave given, lend lent lent, buy bought bought, sell sold sold, lose lost lost,
find found found, forget forgot forgotten, take took taken, see saw seen, meet met met,
do did done, build built built, draw drew drawn, sing sang sung, sleep slept slept,
speak spoke spoken, swim swam swum, run ran run, drive drove driven, get got gotten,
wake woke woken, go went gone, have had had, come came come, leave left left, fall fell fallen,
pay paid paid, wear wore worn, put put put, cut cut cut, choose chose chosen,
catch caught caught, feed fed fed, win won won, know knew known, teach taught taught,
understand understood understood, tell told told, make made made, break broke broken,
hear heard heard, bring brought brought, say said said, think thought thought, feel felt felt,
sit sat sat, spend spent spent, ride rode ridden, keep kept kept, show showed shown,
cost cost cost, become became become,
prefer preferred preferred
"""
_DOUBLING = frozenset("get put swim run sit cut win forget".split())
_PLURALS = {
    "child": "children",
    "man": "men",
    "woman": "women",
    "knife": "knives",
    "tooth": "teeth",
    "foot": "feet",
    "person": "people",
    "fish": "fish",
    "sheep": "sheep",
    "mouse": "mice",
    "scarf": "scarves",
    "tomato": "tomatoes",
    "potato": "potatoes",
}

MODALS = {"can": "could", "must": "must", "will": "would"}  # with their past
WOULD = ("would", "should", "could")
BE_PRESENT = {"i": "am", "he": "is", "she": "is", "it": "is", "one": "is"}
BE_PAST = {"i": "was", "he": "was", "she": "was", "it": "was", "one": "was"}
THIRD = ("he", "she", "it", "one")
CONTRACTED = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll", "would": "'d", "have": "'ve",
              "has": "'s"}  # fmt: skip
NEGATED = {"can": "ca", "will": "wo"}  # before n't
POSSESSIVES = {"i": "my", "you": "your", "he": "his", "she": "her", "it": "its", "we": "our",
               "they": "their", "one": "their"}  # fmt: skip


class Forms(NamedTuple):
    """The forms of a lexical verb."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


_IRREGULAR = {
    base: (past, participle)
    for base, past, participle in (
        entry.split() for entry in _IRREGULAR_LINES.replace("\n", " ").split(", ")
    )
}


@cache
def verb_forms(base: str) -> Forms:
    """Every form of a lexical verb (not of be, nor of a modal)."""
    regular_past = base + "d" if base.endswith("e") else _y_to_i(base) + "ed"
    past, participle = _IRREGULAR.get(base, (regular_past, regular_past))
    return Forms(base, _third(base), past, participle, _ing(base))


def _third(base: str) -> str:
    if base == "have":
        return "has"
    stem = _y_to_i(base)
    return stem + ("es" if stem != base or base.endswith(("s", "sh", "ch", "x", "o")) else "s")


def _ing(base: str) -> str:
    if base in _DOUBLING:
        return f"{base}{base[-1]}ing"
    drops_e = base.endswith("e") and not base.endswith("ee")
    return f"{base[:-1] if drops_e else base}ing"


def _y_to_i(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and word[-2] not in "aeou" else word


@cache
def plural(noun: str) -> str:
    """The plural; of a compound written with ``_``, its last word's."""
    before, joint, head = noun.rpartition("_")
    if head in _PLURALS:
        return before + joint + _PLURALS[head]
    stem = _y_to_i(head)
    ending = "es" if stem != head or head.endswith(("s", "sh", "ch", "x")) else "s"
    return before + joint + stem + ending


def finite_be(tense: str, person: str) -> str:
    """``am``, ``is``, ``are``, ``was`` or ``were``."""
    table, default = (BE_PAST, "were") if tense == "past" else (BE_PRESENT, "are")
    return table.get(person, default)
