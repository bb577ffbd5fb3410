"""How many, how much, how old, which, what color; and what a beautiful house!"""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon.adjectives import fitting
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, of_kind
from attention_plugins.datasets.phrasebook.nominals import (
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import asked_about, relative
from attention_plugins.datasets.phrasebook.phrase import Dice, Draft, Phrase, fill
from attention_plugins.datasets.phrasebook.rules.being import being

_HAD = ("dog", "cat", "horse", "rabbit", "cow", "sheep", "book", "car", "child", "brother",
        "sister",
        "friend", "house", "room", "cousin", "bicycle", "computer", "key", "egg", "ticket", "son",
        "daughter", "uncle", "aunt", "suitcase", "hat", "student", "chair")  # fmt: skip


def how_many(dice: Dice) -> Draft:
    """*How many dogs do you have?* – Combien de chiens avez-vous ?"""
    subject = asked_about(dice)
    counted = noun_phrase("none+", dice.pick(_HAD))
    opener = fill("how:1 many:1 {n} | combien:1 de:1 {n}", n=counted)
    verbs = being(Phrase((), ()), "have:1 | avoir:1")
    return clause(dice, subject, verbs, asked=True, opener=opener), "?"


def how_much(dice: Dice) -> Draft:
    """*How much does this coat cost?* – Combien coûte ce manteau ?"""
    noun = dice.pick(
        of_kind("clothes", "furniture", "vehicle", "device", "fruit", "bag", "reading")
    )
    many = dice.chance(0.3) and noun != "glass"
    known = thing(noun_phrase("this+" if many else "this", noun), noun, many)
    do = "do" if known.english == "they" else "does"
    cost = "coûtent" if known.plural else "coûte"
    if dice.chance(0.4):
        be = "are" if known.english == "they" else "is"
        return fill(f"how:1 much:1 {be}:2 {{n}} | combien:1 {cost}:2 {{n}}", n=known.phrase), "?"
    template = f"how:1 much:1 {do} {{n}} cost:2 | combien:1 {cost}:2 {{n}}"
    return fill(template, n=known.phrase), "?"


def how_is(dice: Dice) -> Draft:
    """*How is your mother?* – Comment va votre mère ? *How old is Tom?* – Quel âge a Tom ?"""
    subject = name(dice) if dice.chance(0.4) else relative(dice, pronoun("you"))
    be, va = ("are", "vont") if subject.plural else ("is", "va")
    if dice.chance(0.5):
        return fill(f"how:1 {be}:2 {{s}} | comment:1 {va}:2 {{s}}", s=subject.phrase), "?"
    a = "ont" if subject.plural else "a"
    return fill(f"how:1 old:2 {be}:3 {{s}} | quel:1 âge:2 {a}:3 {{s}}", s=subject.phrase), "?"


_SHADED = ("clothes", "vehicle", "shoes")
_ANIMALS = ("dog", "cat", "horse", "rabbit")


def what_color(dice: Dice) -> Draft:
    """*What color is your car?* – De quelle couleur est votre voiture ?"""
    noun = dice.pick((*of_kind(*_SHADED), *_ANIMALS, "house", "door", "bag"))
    many = NOUNS[noun].kind == "shoes"
    owner = pronoun(dice.pick(("you", "you", "he", "she", "they")))
    known = thing(noun_phrase("poss+" if many else "poss", noun, owner=owner), noun, many)
    be, est = ("are" if known.english == "they" else "is"), ("sont" if known.plural else "est")
    template = f"what:1 color:2 {be}:3 {{n}} | de quelle:1 couleur:2 {est}:3 {{n}}"
    return fill(template, n=known.phrase), "?"


_CHOSEN = {
    "prefer": (
        "préférez",
        ("clothes", "show", "reading", "town", "instrument", "vehicle", "shop"),
    ),
    "want": ("voulez", ("fruit", "dish", "clothes", "device", "bag")),
}


def which(dice: Dice) -> Draft:
    """*Which dress do you prefer?* – Quelle robe préférez-vous ?"""
    verb = dice.pick(("prefer", "prefer", "want"))
    target, kinds = _CHOSEN[verb]
    noun = dice.pick([n for n in of_kind(*kinds) if not NOUNS[n].english_plural_only])
    many = dice.chance(0.2)
    opener = noun_phrase("which+" if many else "which", noun)
    if dice.chance(0.35):
        subject = asked_about(dice)
        infinitive = {"prefer": "préférer", "want": "vouloir"}[verb]
        verbs = being(Phrase((), ()), f"{verb}:1 | {infinitive}:1")
        return clause(dice, subject, verbs, asked=True, opener=opener), "?"
    if dice.chance(0.5) and kinds[0] != "fruit":
        return fill("{n} do you:1 like:2 | {n} aimez:2 -vous:1", n=opener), "?"
    return fill(f"{{n}} do you:1 {verb}:2 | {{n}} {target}:2 -vous:1", n=opener), "?"


def exclamation(dice: Dice) -> Draft:
    """*What a beautiful house!* – Quelle belle maison !"""
    nouns = of_kind("house", "town", "outdoors", "clothes", "plant", "show", "room", "idea",
                    "vehicle",
                    "dish", "animal", "public")  # fmt: skip
    noun = dice.pick([n for n in nouns if not NOUNS[n].english_plural_only])
    choices = [a for a in fitting(noun) if a in _EXCLAIMED]
    adjective = dice.pick(choices) if choices else "strange"
    phrase = noun_phrase("which", noun, adjective=adjective)
    source = phrase.english
    what_a = (source[0]._replace(text="what"), source[0]._replace(text="a", marks=()), *source[1:])
    return Phrase(what_a, phrase.french), "!"


_EXCLAIMED = ("beautiful", "pretty", "strange", "good", "excellent", "big", "delicious", "boring",
              "sad", "elegant", "interesting")  # fmt: skip

RULES = (
    (7, how_many),
    (8, how_much),
    (5, how_is),
    (5, what_color),
    (8, which),
    (5, exclamation),
)
