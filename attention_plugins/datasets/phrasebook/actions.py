"""Verb phrases: an action of the lexicon with its object, companions, and what governs it."""

from __future__ import annotations

from typing import NamedTuple

from attention_plugins.datasets.phrasebook import english
from attention_plugins.datasets.phrasebook.lexicon.actions import Action
from attention_plugins.datasets.phrasebook.lexicon.adverbials import SLOTS
from attention_plugins.datasets.phrasebook.lexicon.people import CITIES, COUNTRIES
from attention_plugins.datasets.phrasebook.nominals import Subject, some_object
from attention_plugins.datasets.phrasebook.people import object_pronoun, other_person
from attention_plugins.datasets.phrasebook.phrase import (
    EMPTY,
    Dice,
    Marks,
    Phrase,
    Word,
    fill,
)

REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")


class VerbPhrase(NamedTuple):
    """A verb of each language with what stands around it, not yet finite.

    ``verb`` is an English base form and ``infinitive`` a French one; ``clitics`` stand before the
    French verb, ``after`` and ``rest`` behind the English and the French one. ``agreement`` is
    ``(feminine, plural)`` of what a participle agrees with other than the subject.
    """

    verb: str
    verb_marks: Marks
    after: tuple[Word, ...]
    infinitive: str
    infinitive_marks: Marks
    clitics: tuple[Word, ...]
    rest: tuple[Word, ...]
    reflexive: bool = False
    agreement: tuple[bool, bool] | None = None

    def also(self, phrase: Phrase) -> VerbPhrase:
        """With something more at its end."""
        return self._replace(after=self.after + phrase.english, rest=self.rest + phrase.french)

    @property
    def infinitive_words(self) -> tuple[Word, ...]:
        """The French infinitive with its pronouns before it and the rest behind."""
        return (*self.clitics, Word(self.infinitive, self.infinitive_marks), *self.rest)


def verb_phrase(
    dice: Dice,
    action: Action,
    subject: Subject,
    *,
    negative: bool = False,
    described: float = 0.25,
) -> VerbPhrase:
    """The action with an object, a person or a place chosen, as this subject would do it."""
    clitics: list[Word] = []
    agreement: tuple[bool, bool] | None = None
    slots: dict[str, Phrase] = {}
    if action.objects:
        slots["o"] = some_object(dice, action, subject, negative=negative, described=described)
    if action.person:
        person = _person_slots(dice, action.person, subject)
        slots.update(person.slots)
        clitics, agreement = person.clitics, person.agreement
    for slot in action.places:
        slots[slot] = _place(dice, slot)
    source, target = fill(action.template, **slots)
    if "POSS" in action.template:
        source = tuple(
            w._replace(text=english.POSSESSIVES[subject.english]) if w.text == "POSS" else w
            for w in source
        )
    if action.reflexive:
        clitics = [Word(REFLEXIVE[subject.person])]
        agreement = (False, False) if "x" in action.uses else None
    return VerbPhrase(
        action.base,
        source[0].marks,
        source[1:],
        action.infinitive,
        target[0].marks,
        tuple(clitics),
        target[1:],
        action.reflexive,
        agreement,
    )


class _Person(NamedTuple):
    slots: dict[str, Phrase]
    clitics: list[Word]
    agreement: tuple[bool, bool] | None


def _person_slots(dice: Dice, slot: str, subject: Subject) -> _Person:
    """Somebody else, after the verb or as a pronoun before it.

    ``whom`` is a direct object, ``towhom`` one with to and à, ``atwhom`` one with à only;
    ``him`` and ``to`` are the two places of *give him the book* and *give the book to Tom*.
    """
    if slot == "person" or not dice.chance(0.45):
        person = other_person(dice, subject)
        if slot in ("person", "whom"):
            return _Person({slot: person}, [], None)
        if slot == "atwhom":
            at = Phrase(person.english, (Word("à"), *person.french))
            return _Person({slot: at}, [], None)
        to = fill("to:1 {p} | à:1 {p}", p=person)
        return _Person({"towhom": to, "to": to, "him": EMPTY}, [], None)
    direct = slot == "whom"
    pronoun = object_pronoun(dice, subject, direct=direct)
    bare = Phrase(pronoun.phrase.english, ())
    slots = {slot: bare, "him": bare, "to": EMPTY}
    if slot == "towhom":
        slots[slot] = Phrase((Word("to"), *bare.english), ())
    agreement = (pronoun.feminine, pronoun.plural) if direct else None
    return _Person(slots, list(pronoun.phrase.french), agreement)


def _place(dice: Dice, slot: str) -> Phrase:
    if slot == "city":
        source, _, target = dice.pick(CITIES).partition("=")
        return fill(f"{source} | {target or source}")
    if slot in ("to_country", "in_country"):
        source, target, preposition, _ = dice.pick(COUNTRIES)
        return fill(f"{slot[:2]}:1 {source}:2 | {preposition}:1 {target}:2")
    return fill(dice.pick(SLOTS[slot]))


# What governs an infinitive: English, and French with the preposition it wants.
GOVERNORS = {
    "want": "want:v to | vouloir:v",
    "can": "can:v | pouvoir:v",
    "must": "must:v | devoir:v",
    "have": "have:v to | devoir:v",
    "need": "need:v to | avoir:v besoin:v de",
    "like": "like:v to | aimer:v",
    "love": "love:v to | adorer:v",
    "hate": "hate:v to | détester:v",
    "prefer": "prefer:v to | préférer:v",
    "hope": "hope:v to | espérer:v",
    "try": "try:v to | essayer:v de",
    "decide": "decide:v to | décider:v de",
    "forget": "forget:v to | oublier:v de",
    "refuse": "refuse:v to | refuser:v de",
    "start": "start:v to | commencer:v à",
    "learn": "learn:v to | apprendre:v à",
    "continue": "continue:v to | continuer:v à",
    "know": "know:v how:v to | savoir:v",
    "going": "be going:v to | aller:v",
    "would": "would like:v to | vouloir:v",
    "should": "should:v | devoir:v",
    "could": "could:v | pouvoir:v",
}


def governed(governor: str, inner: VerbPhrase) -> VerbPhrase:
    """``want`` + *read* = *want to read*; see ``GOVERNORS``."""
    source, target = fill(GOVERNORS[governor])
    verb = Word(inner.verb, inner.verb_marks)
    return VerbPhrase(
        source[0].text,
        source[0].marks,
        (*source[1:], verb, *inner.after),
        target[0].text,
        target[0].marks,
        (),
        (*target[1:], *inner.infinitive_words),
    )
