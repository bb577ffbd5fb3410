"""Names, aches, absent friends, prices and the way to the station."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import conjugate
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, of_kind
from attention_plugins.datasets.phrasebook.lexicon.people import CITIES, NUMBERS
from attention_plugins.datasets.phrasebook.nominals import (
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import relative, somebody
from attention_plugins.datasets.phrasebook.phrase import (
    Dice,
    Draft,
    Phrase,
    Word,
    fill,
    fresh_mark,
)
from attention_plugins.datasets.phrasebook.rules.being import being

_ACHING = (
    "head",
    "back",
    "throat",
    "stomach",
    "arm",
    "leg",
    "knee",
    "tooth",
    "foot",
    "ear",
    "eye",
)


def ache(dice: Dice) -> Draft:
    """*My head hurts.* – J'ai mal à la tête: the owner becomes the subject."""
    subject = pronoun(dice.pick(("i", "you", "he", "she"))) if dice.chance(0.6) else name(dice)
    part = dice.pick(_ACHING)
    many = part in ("foot", "tooth", "eye", "ear", "leg") and dice.chance(0.6)
    if part == "tooth":
        many = True
    hurts = fresh_mark()
    noun = noun_phrase("the+" if many else "the", part)
    where = tuple(
        w if w.text not in ("LE", "la", "LES") else w._replace(marks=()) for w in noun.french
    )
    if subject.pronoun:
        owned = noun_phrase("poss+" if many else "poss", part, owner=subject).english
        tie = owned[0].marks
        source_owner = (Word(owned[0].text, tie),)
        me = (subject.phrase.french[0]._replace(marks=tie),)
    else:
        source_owner = (*subject.phrase.english, Word("'s"))
        me = subject.phrase.french
    avoir = Word(conjugate("avoir", "present", subject.person), hurts)
    source = (*source_owner, Word(noun.english[-1].text, noun.english[-1].marks),
              Word("hurt" if many else "hurts", hurts))  # fmt: skip
    return Phrase(source, (*me, avoir, Word("mal", hurts), Word("à"), *where)), "."


_MISSERS = {
    "i": ("I:1", "me:1"),
    "he": ("he:1", "lui:1"),
    "she": ("she:1", "lui:1"),
    "we": ("we:1", "nous:1"),
    "they": ("they:1", "leur:1"),
}


def missing(dice: Dice) -> Draft:
    """*I miss my mother.* – Ma mère me manque: subject and object change places."""
    who = dice.pick(tuple(_MISSERS))
    source, target = _MISSERS[who]
    missed = name(dice) if dice.chance(0.3) else relative(dice, pronoun(who))
    plural = missed.plural
    chosen = dice.random()
    if chosen < 0.25:
        n_t = "does" if who in ("he", "she") else "do"
        form = conjugate("manquer", "present", 5 if plural else 2)
        template = f"{source} {n_t} n't:3 miss:2 {{m}} | {{m}} ne:3 {target} {form}:2 pas:3"
    elif chosen < 0.5:
        form = conjugate("manquer", "imperfect", 5 if plural else 2)
        template = f"{source} missed:2 {{m}} | {{m}} {target} {form}:2"
    elif chosen < 0.65:
        form = conjugate("manquer", "future", 5 if plural else 2)
        template = f"{source} will miss:2 {{m}} | {{m}} {target} {form}:2"
    else:
        form = conjugate("manquer", "present", 5 if plural else 2)
        verb = "misses" if who in ("he", "she") else "miss"
        template = f"{source} {verb}:2 {{m}} | {{m}} {target} {form}:2"
    return fill(template, m=missed.phrase), "."


_CHEAP = (*of_kind("fruit"), "book", "novel", "magazine", "newspaper", "dictionary", "sandwich",
          "pizza", "cake", "salad", "ticket", "pen", "notebook", "toy", "map", "pie")  # fmt: skip


def price(dice: Dice) -> Draft:
    """*This coat costs fifty euros.* – Ce manteau coûte cinquante euros."""
    cheap = dice.chance(0.5)
    noun = dice.pick(_CHEAP if cheap else of_kind("clothes", "bag", "furniture"))
    many = NOUNS[noun].kind == "fruit" or (noun != "glass" and dice.chance(0.2))
    number = dice.pick(tuple(NUMBERS)[:12] if cheap else tuple(NUMBERS)[11:])
    subject = thing(noun_phrase("this+" if many else "this", noun), noun, many)
    money = noun_phrase("num+", dice.pick(("euro", "euro", "dollar")), number=number)
    tense = "was" if dice.chance(0.2) else "present"
    return clause(dice, subject, being(money, "cost:1 | coûter:1"), tense), "."


def introduction(dice: Dice) -> Draft:
    """*My name is Tom.* – Je m'appelle Tom; *His sister is called Emma.*"""
    called = name(dice)
    chosen = dice.random()
    if chosen < 0.3:
        return fill("my:1 name:2 is:2 {n} | je:1 me:1 appelle:2 {n}", n=called.phrase), "."
    owner = pronoun(dice.pick(("i", "he", "she", "you")))
    women = ("sister", "mother", "daughter", "aunt", "grandmother")
    men = ("brother", "father", "son", "uncle", "grandfather", "cousin", "boss", "neighbor")
    kin = dice.pick(women if called.feminine else men)
    who = noun_phrase("poss", kin, owner=owner)
    if chosen < 0.6:
        template = "{w} 's name:2 is:2 {n} | {w} se:2 appelle:2 {n}"
        return fill(template, w=who, n=called.phrase), "."
    template = "{n} is:1 {w} | {n} est:1 {w}"
    return fill(template, w=who, n=called.phrase), "."


_NEAREST = (*of_kind("shop", "public"), "market", "beach", "park")


def direction(dice: Dice) -> Draft:
    """*Is the station far from here?* – Est-ce que la gare est loin d'ici ?"""
    noun = dice.pick(_NEAREST)
    the, a = noun_phrase("the", noun), noun_phrase("a", noun)
    chosen = dice.random()
    if chosen < 0.2:
        asked = "is:13 {n} far:2 from:4 here:5 | est:3 -ce:3 que:3 {n} est:1 loin:2 de:4 ici:5"
        return fill(asked, n=the), "?"
    if chosen < 0.4:
        return fill("is:2 there:1 {n} near:3 here:4 | y:1 a:2 -il:1 {n} près:3 de ici:4", n=a), "?"
    if chosen < 0.6:
        how = "how:1 do I get:4 to:5 {n} | comment:1 aller:4 à:5 {n}"
        return fill(how, n=the), "?"
    if chosen < 0.7:
        return fill("I:1 'm looking:2 for:2 {n} | je:1 cherche:2 {n}", n=the), "."
    if chosen < 0.85:
        far = "{n} is:1 far:2 from:3 here:4 | {n} est:1 loin:2 de:3 ici:4"
        return fill(far, n=the), "."
    return fill("{n} is:1 near:2 here:3 | {n} est:1 près:2 de ici:3", n=the), "."


def travel_time(dice: Dice) -> Draft:
    """*It takes ten minutes to go to the station.* – Il faut dix minutes pour aller à la gare."""
    near = dice.chance(0.75)
    number = dice.pick(("five", "ten", "fifteen", "twenty", "thirty", "forty") if near else
                       ("two", "three", "four", "five", "six"))  # fmt: skip
    how_long = noun_phrase("num+", "minute" if near else "hour", number=number)
    city, _, ville = dice.pick(CITIES).partition("=")
    place = noun_phrase("the", dice.pick(_NEAREST)) if near else fill(f"{city} | {ville or city}")
    be = dice.pick(("takes:2", "takes:2", "took:2"))
    faut = "a fallu:2" if be == "took:2" else "faut:2"
    template = f"it:1 {be} {{h}} to go:3 to:4 {{p}} | il:1 {faut} {{h}} pour aller:3 à:4 {{p}}"
    return fill(template, h=how_long, p=place), "."


def asks_about_somebody(dice: Dice) -> Draft:
    """*Who is that woman?*, *Is Tom at home?* with here and there."""
    subject = somebody(dice)
    while subject.pronoun or subject.phrase.english[0].text in ("this", "these"):
        subject = somebody(dice)
    be, est = ("are", "sont") if subject.english == "they" else ("is", "est")
    if dice.chance(0.5) and subject.phrase.english[0].text not in ("my", "our"):
        return fill(f"who:1 {be}:2 {{s}} | qui:1 {est}:2 {{s}}", s=subject.phrase), "?"
    this, ce = ("these", "ce sont") if subject.english == "they" else ("this", "c' est")
    first, second = ce.split()
    return fill(f"{this}:1 {be}:2 {{s}} | {first}:1 {second}:2 {{s}}", s=subject.phrase), "."


RULES = (
    (7, ache),
    (12, missing),
    (14, price),
    (14, introduction),
    (10, direction),
    (14, travel_time),
    (5, asks_about_somebody),
)
