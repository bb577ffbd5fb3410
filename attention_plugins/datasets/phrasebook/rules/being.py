"""How people and things are: moods, characters, trades, ages, origins, comparisons."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import VerbPhrase
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import inflect
from attention_plugins.datasets.phrasebook.lexicon.adjectives import (
    ADJECTIVES,
    CHARACTERS,
    MOODS,
    fitting,
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
    describe,
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import asked_about, relative, somebody
from attention_plugins.datasets.phrasebook.phrase import EMPTY, Dice, Phrase, Word, fill, fresh_mark

Draft = tuple[Phrase, str]

DESCRIBABLE = tuple(key for key in NOUNS if fitting(key))
_OWNED = tuple(
    key
    for key in DESCRIBABLE
    if NOUNS[key].kind
    in ("clothes", "shoes", "bag", "small", "vehicle", "device", "house", "room", "idea", "job")
)
_GRADED = frozenset(
    "tired happy sick busy angry nervous worried surprised disappointed sad".split()
)
_UNGRADED = frozenset(
    "ready alone late free open closed perfect full empty broken excellent delicious red blue "
    "green black white yellow gray brown absent".split()
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


def _degree(dice: Dice, adjective: str, probability: float = 0.4) -> Phrase:
    if adjective in _UNGRADED or not dice.chance(probability):
        return EMPTY
    if adjective == "angry":
        return fill(dice.pick(DEGREES[:2]))
    return fill(dice.pick(DEGREES if adjective in _GRADED else DEGREES[:3]))


def told(dice: Dice, subject: Subject, verbs: VerbPhrase) -> Draft:
    """Affirmed, denied, asked, or said of the past."""
    chosen = dice.random()
    if chosen < 0.17 and subject.english not in ("i", "we"):
        return clause(dice, subject, verbs, asked=True), "?"
    negation = "not" if chosen < 0.35 else ""
    return clause(dice, subject, verbs, "was" if chosen > 0.8 else "present", negation=negation), "."


def mood(dice: Dice) -> Draft:
    subject = asked_about(dice) if dice.chance(0.25) else somebody(dice)
    adjective = dice.pick(MOODS)
    return told(dice, subject, being(agreeing(subject, adjective, _degree(dice, adjective))))


def character(dice: Dice) -> Draft:
    subject = somebody(dice)
    adjective = dice.pick(CHARACTERS)
    return told(dice, subject, being(agreeing(subject, adjective, _degree(dice, adjective))))


def appearance(dice: Dice) -> Draft:
    """*looks tired* – a l'air fatigué; *will be ready*; *became rich*."""
    subject = somebody(dice)
    if dice.chance(0.6):
        adjective = dice.pick(("tired", "sad", "happy", "angry", "worried", "nervous", "sick",
                               "busy", "nice", "serious", "shy", "surprised", "disappointed"))  # fmt: skip
        seems = dice.pick(("look:1", "look:1", "seem:1"))
        french = "avoir:1 l':1 air:1" if seems == "look:1" else "sembler:1"
        return clause(dice, subject, being(agreeing(subject, adjective), f"{seems} | {french}")), "."
    adjective = dice.pick(("ready", "late", "busy", "tired", "happy", "surprised", "rich", "famous",
                           "free", "alone", "disappointed"))  # fmt: skip
    negation = "not" if dice.chance(0.3) else ""
    return clause(dice, subject, being(agreeing(subject, adjective)), "future", negation=negation), "."


def _some_thing(dice: Dice) -> tuple[Subject, str]:
    owned = dice.chance(0.5)
    noun = dice.pick(_OWNED if owned else DESCRIBABLE)
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
    return told(dice, subject, being(agreeing(subject, adjective, _degree(dice, adjective, 0.5))))


def two_qualities(dice: Dice) -> Draft:
    """*The soup was hot and delicious.*"""
    subject, noun = _some_thing(dice)
    first, second = ("new_" if a == "new" else a for a in _two_that_agree(dice, noun))
    both = fill(
        "{a} and:1 {b} | {a} et:1 {b}", a=agreeing(subject, first), b=agreeing(subject, second)
    )
    return clause(dice, subject, being(both), "was" if dice.chance(0.4) else "present"), "."


_PAIRS = (
    "big beautiful, small comfortable, old small, new expensive, old expensive, long boring, "
    "long difficult, short easy, good cold, hot good, fresh good, fresh delicious, hot delicious, "
    "big modern, clean quiet, small clean, dirty old, beautiful expensive, small pretty, big heavy, "
    "interesting important, big empty, interesting difficult, long interesting, black white, "
    "beautiful sad, old beautiful, small dark, modern comfortable, new comfortable, fast expensive"
)
_TOGETHER = tuple(tuple(pair.split()) for pair in _PAIRS.split(", "))
_CAN_PAIR = {
    noun: tuple(pair for pair in _TOGETHER if set(pair) <= set(fitting(noun)))
    for noun in DESCRIBABLE
}


def _two_that_agree(dice: Dice, noun: str) -> tuple[str, str]:
    pairs = _CAN_PAIR[noun]
    if pairs:
        return dice.pick(pairs)
    return dice.pick(fitting(noun)), dice.pick(("useful", "strange", "perfect"))


def possession(dice: Dice) -> Draft:
    """*This is my new car.* – C'est ma nouvelle voiture."""
    noun = dice.pick(_OWNED)
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
    subject = somebody(dice)
    source, target = dice.pick(NATIONALITIES.split()).split("=")
    form = inflect(target, subject.feminine, subject.plural)
    return told(dice, subject, being(fill(f"{source}:1 | {form}:1")))


def origin(dice: Dice) -> Draft:
    subject = somebody(dice)
    source, target, _, preposition = dice.pick(COUNTRIES)
    verbs = being(fill(f"from:1 {source}:2 | {preposition}:1 {target}:2"), "be:1 | venir:1")
    return told(dice, subject, verbs)


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


_COMPARED = {"tall": "taller", "old": "older", "young": "younger",
             "strong": "stronger", "rich": "richer", "nice": "nicer", "kind": "kinder",
             "happy": "happier"}  # fmt: skip


def comparison(dice: Dice) -> Draft:
    """*My brother is taller than Tom.* – Mon frère est plus grand que Tom."""
    subject = somebody(dice)
    other = name(dice) if dice.chance(0.5) else relative(dice, pronoun("i"))
    while other.phrase.english[-1].text == subject.phrase.english[-1].text:
        other = name(dice)
    adjective = dice.pick(tuple(_COMPARED) + ("intelligent", "serious", "patient", "careful"))
    form = ADJECTIVES[adjective].form(subject.feminine, subject.plural)
    form = inflect("âgé", subject.feminine, subject.plural) if adjective == "old" else form
    if dice.chance(0.35):
        template = f"as:1 {adjective}:2 as:3 {{o}} | aussi:1 {form}:2 que:3 {{o}}"
        form_of = fill(template, o=other.phrase)
        return told(dice, subject, being(form_of))
    if adjective in _COMPARED:
        template = f"{_COMPARED[adjective]}:1 than:2 {{o}} | plus:1 {form}:1 que:2 {{o}}"
    else:
        template = f"more:3 {adjective}:1 than:2 {{o}} | plus:3 {form}:1 que:2 {{o}}"
    return told(dice, subject, being(fill(template, o=other.phrase)))


def comparison_of_things(dice: Dice) -> Draft:
    """*My car is more expensive than yours* would need pronouns: *than this car* does not."""
    noun = dice.pick(_OWNED + tuple(k for k in DESCRIBABLE if NOUNS[k].kind in
                                    ("house", "furniture", "reading", "task", "town")))  # fmt: skip
    many = NOUNS[noun].kind == "shoes"
    mark = "+" if many else ""
    owner = pronoun(dice.pick(("i", "you", "he", "she", "we")))
    subject = thing(noun_phrase(f"poss{mark}" if noun in _OWNED else f"the{mark}", noun,
                                owner=owner), noun, many)  # fmt: skip
    than_whose = dice.pick(_YOURS)
    source, person, gender_forms = than_whose
    adjective = dice.pick([a for a in fitting(noun) if a in _THING_COMPARED])
    form = ADJECTIVES[adjective].form(subject.feminine, subject.plural)
    column = subject.feminine + 2 * subject.plural
    short = _THING_COMPARED[adjective]
    more = f"{short}:1" if short else f"more:3 {adjective}:1"
    if owner.english == person:
        return quality(dice)
    the = ("LE", "la", "LES", "LES")[column]
    template = f"{more} than:2 {source}:4 | plus:{'1' if short else '3'} {form}:1 que:2 "
    return clause(dice, subject, being(fill(f"{template}{the}:4 {gender_forms[column]}:4"))), "."


_YOURS = (
    ("mine", "i", ("mien", "mienne", "miens", "miennes")),
    ("yours", "you", ("vôtre", "vôtre", "vôtres", "vôtres")),
    ("hers", "she", ("sien", "sienne", "siens", "siennes")),
    ("ours", "we", ("nôtre", "nôtre", "nôtres", "nôtres")),
)
_THING_COMPARED = {"big": "bigger", "small": "smaller", "old": "older", "heavy": "heavier",
                   "fast": "faster", "long": "longer", "expensive": "", "comfortable": "",
                   "modern": "", "beautiful": "", "interesting": "", "difficult": "",
                   "dirty": "dirtier", "clean": "cleaner", "elegant": "", "easy": "easier",
                   "pretty": "prettier", "quiet": "quieter", "boring": "", "important": ""}  # fmt: skip

RULES = (
    (40, mood),
    (34, character),
    (12, appearance),
    (62, quality),
    (14, two_qualities),
    (26, possession),
    (16, trade),
    (8, nationality),
    (6, origin),
    (10, age),
    (18, comparison),
    (12, comparison_of_things),
)
