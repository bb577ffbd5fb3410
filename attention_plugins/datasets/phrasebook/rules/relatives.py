"""Relative clauses: the car that Tom bought, the man who is reading."""

from __future__ import annotations

from functools import cache

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.english import verb_forms
from attention_plugins.datasets.phrasebook.french import participle
from attention_plugins.datasets.phrasebook.lexicon.adjectives import CHARACTERS, fitting
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, of_kind
from attention_plugins.datasets.phrasebook.nominals import (
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.phrase import (
    Dice,
    Draft,
    Phrase,
    Word,
    fill,
    fresh_mark,
)
from attention_plugins.datasets.phrasebook.rules.being import agreeing, being
from attention_plugins.datasets.phrasebook.rules.doing import (
    GOING_ON,
    act,
)

_GOT = {
    "buy": ("acheter", ("clothes", "vehicle", "furniture", "device", "reading", "fruit", "bag")),
    "read": ("lire", ("reading",)),
    "find": ("trouver", ("small", "bag", "clothes")),
    "write": ("écrire", ("paper",)),
    "choose": ("choisir", ("clothes", "furniture", "reading")),
    "lose": ("perdre", ("small", "bag")),
    "see": ("voir", ("house", "town", "animal", "vehicle")),
    "sell": ("vendre", ("vehicle", "house", "furniture")),
    "draw": ("dessiner", ("animal", "plant")),
}


def that_was(dice: Dice) -> Draft:
    """*The car that Tom bought is red.* – La voiture que Tom a achetée est rouge."""
    verb = dice.pick(tuple(_GOT))
    infinitive, kinds = _GOT[verb]
    noun = dice.pick(_described(kinds))
    many = dice.chance(0.25)
    what = thing(noun_phrase("the+" if many else "the", noun), noun, many)
    who = pronoun(dice.pick(("i", "you", "he", "she", "we", "they"))) if dice.chance(
        0.6
    ) else name(dice)  # fmt: skip
    mark = fresh_mark()
    past = participle(infinitive, feminine=what.feminine, plural=what.plural)
    avoir = ("ai", "as", "a", "avons", "avez", "ont")[who.person]
    source = (*who.phrase.english, Word(verb_forms(verb).past, mark))
    target = (*who.phrase.french, Word(avoir), Word(past, mark))
    whole = fill("{n} that:1 {c} | {n} que:1 {c}", n=what.phrase, c=Phrase(source, target))
    if dice.chance(0.25):
        whole = Phrase(tuple(w for w in whole.english if w.text != "that"), whole.french)
    subject = what._replace(phrase=whole)
    adjective = dice.pick(fitting(noun))
    adjective = "new_" if adjective == "new" else adjective
    return clause(dice, subject, being(agreeing(subject, adjective))), "."


@cache
def _described(kinds: tuple[str, ...]) -> tuple[str, ...]:
    nouns = (key for key in of_kind(*kinds) if fitting(key))
    return tuple(key for key in nouns if key != "photo")


_RELATIONS = {
    "woman": ("sister", "aunt", "mother"),
    "girl": ("sister", "daughter"),
    "boy": ("brother", "son", "cousin"),
}
_SEEN = ("man", "woman", "boy", "girl", "student", "doctor", "teacher")


def somebody_who(dice: Dice) -> Draft:
    """*The man who is reading the newspaper is my uncle.* – L'homme qui lit le journal est …"""
    noun = dice.pick(_SEEN)
    who = thing(noun_phrase("the", noun), noun)._replace(
        english="she" if NOUNS[noun].feminine else "he"
    )
    relative_subject = who._replace(phrase=fill("who | qui"))
    doing = clause(dice, relative_subject, act(dice, GOING_ON, who, company=0), "progressive")
    whole = who._replace(phrase=who.phrase + doing)
    if dice.chance(0.4):
        adjective = dice.pick(CHARACTERS)
        return clause(dice, whole, being(agreeing(who, adjective))), "."
    relation = dice.pick(_RELATIONS.get(noun, ("brother", "uncle", "father")))
    owner = pronoun(dice.pick(("i", "i", "he", "we")))
    return clause(dice, whole, being(noun_phrase("poss", relation, owner=owner))), "."


RULES = (
    (26, that_was),
    (14, somebody_who),
)
