"""Who does it and to whom: subjects and objects that are people."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.lexicon.nouns import of_kind
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    any_pronoun,
    name,
    noun_phrase,
    pair_of_names,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.phrase import Dice, Phrase, fill

_KIN = of_kind("kin_m", "kin_f")
_PLURAL_KIN = of_kind("kin_p")
_CIRCLE = of_kind("circle")
_STRANGERS = ("teacher", "boy", "girl", "man", "woman", "student")
_CROWDS = ("child", "student", "tourist", "boy", "girl")
_OWNERS = ("i", "i", "i", "you", "he", "she", "we", "they")

# Direct and indirect object pronouns: templates, feminine, plural.
_OBJECTS = {
    "i": ("me:1 | me:1", "me:1 | me:1", False, False),
    "you": ("you:1 | vous:1", "you:1 | vous:1", False, False),
    "he": ("him:1 | le:1", "him:1 | lui:1", False, False),
    "she": ("her:1 | la:1", "her:1 | lui:1", True, False),
    "we": ("us:1 | nous:1", "us:1 | nous:1", False, True),
    "they": ("them:1 | les:1", "them:1 | leur:1", False, True),
}
_DISJUNCTIVE = {
    "i": "me:1 | moi:1",
    "you": "you:1 | vous:1",
    "he": "him:1 | lui:1",
    "she": "her:1 | elle:1",
    "we": "us:1 | nous:1",
    "they": "them:1 | eux:1",
}


def relative(dice: Dice, owner: Subject | None = None) -> Subject:
    """Somebody's brother, neighbor, friends: of the given owner or of anybody."""
    owner = owner or pronoun(dice.pick(_OWNERS))
    plural = dice.chance(0.2)
    noun = dice.pick(_PLURAL_KIN if plural else _KIN + _CIRCLE + ("friend",))
    determiner = "poss+" if plural else "poss"
    return _person(noun_phrase(determiner, noun, owner=owner), noun, plural)


def stranger(dice: Dice) -> Subject:
    """The doctor, the girls, this man."""
    plural = dice.chance(0.3)
    noun = dice.pick(_CROWDS if plural else _STRANGERS)
    determiner = dice.pick(("the", "the", "this")) + ("+" if plural else "")
    return _person(noun_phrase(determiner, noun), noun, plural)


def _person(phrase: Phrase, noun: str, plural: bool) -> Subject:
    known = thing(phrase, noun, plural)
    single = "she" if known.feminine else "he"
    return known._replace(english="they" if plural else single)


def somebody(dice: Dice) -> Subject:
    """Any subject that is a person or several."""
    chosen = dice.random()
    if chosen < 0.52:
        return any_pronoun(dice)
    if chosen < 0.72:
        return name(dice)
    if chosen < 0.75:
        return pair_of_names(dice)
    return relative(dice) if chosen < 0.95 else stranger(dice)


def somebody_but(dice: Dice, subject: Subject) -> Subject:
    """Any subject whose name does not end like the other one's."""
    while True:
        other = somebody(dice)
        if other.phrase.english[-1].text != subject.phrase.english[-1].text:
            return other


def asked_about(dice: Dice) -> Subject:
    """The subject of a question: mostly you, hardly ever I."""
    if dice.chance(0.4):
        return pronoun("you")
    subject = somebody(dice)
    while subject.pronoun and subject.english in ("i", "we"):
        subject = somebody(dice)
    return subject


def other_person(dice: Dice, subject: Subject) -> Phrase:
    """Somebody else than the subject; kin and friends are the subject's own, or mine."""
    while True:
        chosen = dice.random()
        if chosen < 0.45:
            person = name(dice)
        elif subject.pronoun or subject.english == "one":
            person = relative(dice, subject)
        else:
            person = relative(dice, pronoun("i")) if chosen < 0.8 else stranger(dice)
        if not share_a_word(person.phrase, subject.phrase):
            return person.phrase


def share_a_word(one: Phrase, other: Phrase) -> bool:
    """Whether both name the same person, or seem to."""
    words = {word.text for word in one.english} - {"the", "this", "these"}
    return any(word.text in words for word in other.english)


def _others(subject: Subject) -> list[str]:
    near = {"i": ("i", "we"), "we": ("i", "we"), "you": ("you",)}.get(subject.english, ())
    return [who for who in _OBJECTS if who not in near]


def object_pronoun(dice: Dice, subject: Subject, *, direct: bool) -> Subject:
    """me, him, her … with the clitic that French puts before the verb."""
    who = dice.pick(_others(subject))
    to_direct, to_indirect, feminine, plural = _OBJECTS[who]
    return Subject(fill(to_direct if direct else to_indirect), who, 0, feminine, plural)


def disjunctive(dice: Dice, subject: Subject) -> Phrase:
    """me, him, her … after a preposition."""
    return fill(_DISJUNCTIVE[dice.pick(_others(subject))])


def companion(dice: Dice, subject: Subject) -> Phrase:
    """With somebody."""
    other = disjunctive if dice.chance(0.35) else other_person
    return fill("with:1 {p} | avec:1 {p}", p=other(dice, subject))
