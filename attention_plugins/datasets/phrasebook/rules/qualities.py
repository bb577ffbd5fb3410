"""How things are, and whose they are."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon.adjectives import (
    fitting,
)
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    describe,
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.phrase import (
    Dice,
    Draft,
    Phrase,
    fill,
)
from attention_plugins.datasets.phrasebook.rules.being import (
    agreeing,
    being,
    degree_of,
    told,
)

DESCRIBABLE = tuple(key for key in NOUNS if fitting(key))
OWNED = tuple(
    key
    for key in DESCRIBABLE
    if key not in ("dress", "skirt", "doll")
    and NOUNS[key].kind
    in ("clothes", "shoes", "bag", "small", "vehicle", "device", "house", "room", "idea", "job")
)


def _some_thing(dice: Dice) -> tuple[Subject, str]:
    owned = dice.chance(0.5)
    noun = dice.pick(OWNED if owned else DESCRIBABLE)
    owner = pronoun(dice.pick(("i", "i", "you", "he", "she", "we", "they")))
    kind = NOUNS[noun].kind
    many = kind in ("shoes", "fruit", "produce", "plant", "animal") and dice.chance(0.7)
    determiner = ("poss" if owned else dice.pick(("the", "this"))) + ("+" if many else "")
    if owned and not many and dice.chance(0.2):
        return thing(_of_somebody(dice, noun), noun), noun
    return thing(noun_phrase(determiner, noun, owner=owner), noun, many), noun


def _of_somebody(dice: Dice, noun: str) -> Phrase:
    """*Tom's car* – la voiture de Tom."""
    owned = noun_phrase("none", noun)
    owner = name(dice).phrase
    the = "LES" if NOUNS[noun].french_plural_only else "la" if NOUNS[noun].feminine else "LE"
    return fill(f"{{o}} 's:1 {{n}} | {the} {{n}} de:1 {{o}}", o=owner, n=owned)


def _as_predicates(noun: str) -> tuple[str, ...]:
    """The adjectives that fit; what was just made is neuf, what just came out is nouveau."""
    if NOUNS[noun].kind in ("reading", "show", "job"):
        return tuple(a for a in fitting(noun) if a != "new")
    return tuple("new_" if a == "new" else a for a in fitting(noun))


def quality(dice: Dice) -> Draft:
    """*This lesson is too difficult.*"""
    subject, noun = _some_thing(dice)
    adjective = dice.pick(_as_predicates(noun))
    return told(
        dice, subject, being(agreeing(subject, adjective, degree_of(dice, adjective, 0.5)))
    )


_PAIRS = (
    "big beautiful, small comfortable, old small, new expensive, old expensive, long boring, "
    "long difficult, short easy, good cold, hot good, fresh good, fresh delicious, hot delicious, "
    "big modern, clean quiet, small clean, dirty old, beautiful expensive, small pretty, "
    "big heavy, interesting important, big empty, interesting difficult, long interesting, "
    "beautiful sad, old beautiful, small dark, modern comfortable, new comfortable, fast expensive"
)
_TOGETHER = tuple(tuple(pair.split()) for pair in _PAIRS.replace("new", "new_").split(", "))
_CAN_PAIR = {
    noun: tuple(pair for pair in _TOGETHER if set(pair) <= set(_as_predicates(noun)))
    for noun in DESCRIBABLE
}


def two_qualities(dice: Dice) -> Draft:
    """*The soup was hot and delicious.*"""
    subject, noun = _some_thing(dice)
    while not _CAN_PAIR[noun]:
        subject, noun = _some_thing(dice)
    first, second = (agreeing(subject, a) for a in dice.pick(_CAN_PAIR[noun]))
    both = fill("{a} and:1 {b} | {a} et:1 {b}", a=first, b=second)
    return clause(dice, subject, being(both), "was" if dice.chance(0.4) else "present"), "."


def possession(dice: Dice) -> Draft:
    """*This is my new car.* – C'est ma nouvelle voiture."""
    noun = dice.pick(OWNED)
    many = NOUNS[noun].kind == "shoes"
    owner = pronoun(dice.pick(("i", "you", "he", "she", "we", "they")))
    determiner = "poss+" if many else "poss"
    adjective = describe(dice, determiner, noun, 0.4)
    owned = noun_phrase(determiner, noun, adjective=adjective, owner=owner)
    if dice.chance(0.15) and not many:
        owned = _of_somebody(dice, noun)
    plural = many or NOUNS[noun].english_plural_only
    plusieurs = many or NOUNS[noun].french_plural_only
    these, are = ("these", "are") if plural else ("this", "is")
    sont = "sont" if plusieurs else "est"
    ce = "ce" if plusieurs else "c'"
    chosen = dice.random()
    if chosen < 0.25:
        asked = f"{are}:2 {these}:1 {{o}} | est:2 -ce:1 {{o}}"
        if plusieurs:
            asked = f"{are}:23 {these}:1 {{o}} | est:2 -ce:2 que:2 ce:1 sont:3 {{o}}"
        return fill(asked, o=owned), "?"
    if chosen < 0.45:
        denied = f"{these}:1 {are}:2 n't:3 {{o}} | ce:1 ne:3 {sont}:2 pas:3 {{o}}"
        return fill(denied, o=owned), "."
    return fill(f"{these}:1 {are}:2 {{o}} | {ce}:1 {sont}:2 {{o}}", o=owned), "."


RULES = (
    (62, quality),
    (14, two_qualities),
    (26, possession),
)
