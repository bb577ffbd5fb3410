"""How people are: moods, characters, looks, trades, origins, ages."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import VerbPhrase
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import inflect
from attention_plugins.datasets.phrasebook.lexicon.adjectives import (
    ADJECTIVES,
    CHARACTERS,
    MOODS,
)
from attention_plugins.datasets.phrasebook.lexicon.adverbials import DEGREES
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS
from attention_plugins.datasets.phrasebook.lexicon.people import (
    COUNTRIES,
    NATIONALITIES,
    NUMBERS,
    TRADES,
)
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    any_pronoun,
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import asked_about, somebody
from attention_plugins.datasets.phrasebook.phrase import (
    EMPTY,
    Dice,
    Draft,
    Phrase,
    Word,
    fill,
    fresh_mark,
)

_UNGRADED = frozenset(
    "ready alone late free open closed full empty excellent delicious red blue green black white "
    "gray brown".split()
)


def agreeing(subject: Subject, adjective: str, degree: Phrase = EMPTY) -> Phrase:
    """The adjective as a predicate of the subject."""
    known, mark = ADJECTIVES[adjective], fresh_mark()
    form = known.form(subject.feminine, subject.plural)
    return Phrase(
        (*degree.english, Word(known.english, mark)),
        (*degree.french, *(Word(part, mark) for part in form.split("_"))),
    )


def being(predicate: Phrase, verbs: str = "be:1 | être:1") -> VerbPhrase:
    """*be* – être (or *look*, *become*) with what is said."""
    source, target = fill(verbs)
    return VerbPhrase(
        source[0].text,
        source[0].marks,
        (*source[1:], *predicate.english),
        target[0].text,
        target[0].marks,
        (),
        (*target[1:], *predicate.french),
    )


def degree_of(dice: Dice, adjective: str, probability: float = 0.4) -> Phrase:
    """*very*, *too* or *so*, where the adjective allows it, or nothing."""
    if adjective in _UNGRADED or not dice.chance(probability):
        return EMPTY
    return fill(dice.pick(DEGREES[:2] if adjective == "angry" else DEGREES))


def told(dice: Dice, subject: Subject, verbs: VerbPhrase, *, lasting: bool = False) -> Draft:
    """Affirmed, denied, asked, or, if it is not for good, said of the past."""
    chosen = dice.random()
    if chosen < 0.17 and subject.english not in ("i", "we"):
        return clause(dice, subject, verbs, asked=True), "?"
    negation = "not" if chosen < 0.35 else ""
    tense = "was" if chosen > 0.8 and not lasting else "present"
    return clause(dice, subject, verbs, tense, negation=negation), "."


def mood(dice: Dice) -> Draft:
    """*I am a little tired.* – Je suis un peu fatigué."""
    subject = asked_about(dice) if dice.chance(0.25) else somebody(dice)
    adjective = dice.pick(MOODS)
    return told(dice, subject, being(agreeing(subject, adjective, degree_of(dice, adjective))))


def character(dice: Dice) -> Draft:
    """*Your sister is very kind.* – Votre sœur est très gentille."""
    subject = somebody(dice)
    adjective = dice.pick(CHARACTERS)
    return told(dice, subject, being(agreeing(subject, adjective, degree_of(dice, adjective))))


_LOOKS = (
    "tired sad happy angry worried nervous sick busy nice serious shy surprised disappointed"
).split()
_PROSPECTS = "ready late busy tired happy surprised rich famous free alone disappointed".split()


def appearance(dice: Dice) -> Draft:
    """*She looks tired.* – Elle a l'air fatiguée. *We'll be ready.* – Nous serons prêts."""
    subject = somebody(dice)
    if dice.chance(0.6):
        verbs = dice.pick(("look:1 | avoir:1 l':1 air:1", "seem:1 | sembler:1"))
        little = fill("a:1 little:1 | un:1 peu:1") if dice.chance(0.3) else EMPTY
        looks = agreeing(subject, dice.pick(_LOOKS), little)
        return clause(dice, subject, being(looks, verbs)), "."
    prospect = agreeing(subject, dice.pick(_PROSPECTS))
    negation = "not" if dice.chance(0.3) else ""
    return clause(dice, subject, being(prospect), "future", negation=negation), "."


def trade(dice: Dice) -> Draft:
    """*She's a nurse.* – Elle est infirmière: French drops the article."""
    subject = somebody(dice)
    source, target = dice.pick(TRADES.split()).split("=")
    several = subject.english in ("we", "they")
    words = f"{source}s:1" if several else f"a {source}:1"
    form = inflect(target, subject.feminine, subject.plural)
    tense_or_negation = dice.random()
    verbs = being(fill(f"{words} | {form}:1"))
    if tense_or_negation < 0.15:
        return clause(dice, subject, being(fill(f"{words} | {form}:1"), "become:1 | devenir:1"),
                      "future"), "."  # fmt: skip
    return told(dice, subject, verbs)


def nationality(dice: Dice) -> Draft:
    """*She is Japanese.* – Elle est japonaise."""
    subject = somebody(dice)
    source, target = dice.pick(NATIONALITIES.split()).split("=")
    form = inflect(target, subject.feminine, subject.plural)
    return told(dice, subject, being(fill(f"{source}:1 | {form}:1")), lasting=True)


def origin(dice: Dice) -> Draft:
    """*He is from Canada.* – Il vient du Canada."""
    subject = somebody(dice)
    source, target, _, preposition = dice.pick(COUNTRIES)
    verbs = being(fill(f"from:1 {source}:2 | {preposition}:1 {target}:2"), "be:1 | venir:1")
    return told(dice, subject, verbs, lasting=True)


_ADULTS = ("father", "mother", "uncle", "aunt", "boss", "teacher", "neighbor", "colleague")
_YOUNG = ("brother", "sister", "son", "daughter", "cousin", "friend")


def age(dice: Dice) -> Draft:
    """*Tom is ten years old.* – Tom a dix ans."""
    adult = dice.chance(0.4)
    number = dice.pick(tuple(NUMBERS)[-4:] if adult else tuple(NUMBERS)[3:13])
    if dice.chance(0.5):
        subject = dice.pick((name, any_pronoun))(dice)
    else:
        noun = dice.pick(_ADULTS if adult else _YOUNG)
        owner = pronoun(dice.pick(("i", "you", "he", "she", "they")))
        subject = thing(noun_phrase("poss", noun, owner=owner), noun)._replace(
            english="she" if NOUNS[noun].feminine else "he"
        )
    years = fill(f"{number}:1 years:2 old:2 | {NUMBERS[number]}:1 ans:2")
    verbs = being(years, "be:1 | avoir:1")
    return clause(dice, subject, verbs, "was" if dice.chance(0.15) else "present"), "."


RULES = (
    (40, mood),
    (34, character),
    (12, appearance),
    (16, trade),
    (8, nationality),
    (6, origin),
    (10, age),
)
