"""Two clauses in one sentence, and what has been going on for some time."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import governed, verb_phrase
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon import adverbials
from attention_plugins.datasets.phrasebook.lexicon.adjectives import CHARACTERS
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    name,
    noun_phrase,
    pronoun,
)
from attention_plugins.datasets.phrasebook.people import somebody, somebody_but
from attention_plugins.datasets.phrasebook.phrase import (
    EMPTY,
    Dice,
    Draft,
    Phrase,
    fill,
)
from attention_plugins.datasets.phrasebook.rules.being import agreeing, being
from attention_plugins.datasets.phrasebook.rules.doing import (
    DONE,
    FEELINGS,
    GOING_ON,
    STATES,
    WISHED,
    act,
)

_THINKING = {
    "think": "penser",
    "know": "savoir",
    "say": "dire",
    "hope": "espérer",
    "believe": "croire",
}


def _fact(dice: Dice, subject: Subject) -> Phrase:
    """Something that is so, that one may think, know, say or give as a reason."""
    chosen = dice.random()
    if chosen < 0.22:
        adjective = dice.pick(("tired", "happy", "sick", "late", "busy", "ready", "sad", "angry",
                               *CHARACTERS))  # fmt: skip
        return clause(dice, subject, being(agreeing(subject, adjective)))
    if chosen < 0.3:
        return clause(dice, subject, act(dice, FEELINGS, subject))
    if chosen < 0.5:
        return clause(dice, subject, act(dice, STATES, subject))
    if chosen < 0.62:
        return clause(dice, subject, act(dice, GOING_ON, subject), "progressive")
    if chosen < 0.8:
        return clause(dice, subject, act(dice, DONE, subject, company=0), "past")
    return _plan(dice, subject)


def _plan(dice: Dice, subject: Subject) -> Phrase:
    verbs = act(dice, WISHED, subject, company=0.1, times=adverbials.FUTURE, timed=0.3)
    return clause(dice, subject, verbs, "future")


def reported(dice: Dice) -> Draft:
    """*I think that Tom is sick.* – Je pense que Tom est malade: que is never left out."""
    verb = dice.pick(tuple(_THINKING))
    who = ("he", "she", "they") if verb == "say" else ("i", "i", "i", "he", "she", "we", "they")
    subject = pronoun(dice.pick(who)) if dice.chance(0.75) else name(dice)
    told_of = somebody_but(dice, subject)
    while subject.english == "we" and told_of.english == "i":
        told_of = somebody_but(dice, subject)
    said = _plan(dice, told_of) if verb == "hope" else _fact(dice, told_of)
    that = fill("that:1 {c} | que:1 {c}", c=said)
    if verb != "say" and dice.chance(0.5):
        that = Phrase(that.english[1:], that.french)
    verbs = being(that, f"{verb}:1 | {_THINKING[verb]}:1")
    return clause(dice, subject, verbs), "."


_EXPLAINED = tuple(
    action
    for action in DONE
    if action.base
    in ("leave", "call", "sell", "go", "stay", "close", "buy", "thank", "invite", "help", "lend")
)


def known(dice: Dice) -> Draft:
    """*Do you know where Tom lives?* and *I don't know why she is crying.*"""
    about = name(dice) if dice.chance(0.4) else pronoun(dice.pick(("he", "she", "they")))
    chosen = dice.random()
    if chosen < 0.15:
        verbs = being(EMPTY, dice.pick(("live:1 | habiter:1", "work:1 | travailler:1")))
        asked_for = fill("where:1 {c} | où:1 {c}", c=clause(dice, about, verbs))
    elif chosen < 0.6:
        asked_for = fill("why:1 {c} | pourquoi:1 {c}", c=_reason(dice, about))
    else:
        asked_for = fill("if:1 {c} | si:1 {c}", c=_fact(dice, about))
    if dice.chance(0.45):
        verbs = being(asked_for, "know:1 | savoir:1")
        return clause(dice, pronoun("you"), verbs, asked=True), "?"
    subject = pronoun(dice.pick(("i", "i", "we")))
    return clause(dice, subject, being(asked_for, "know:1 | savoir:1"), negation="not"), "."


def _reason(dice: Dice, about: Subject) -> Phrase:
    chosen = dice.random()
    if chosen < 0.4:
        adjective = dice.pick(("tired", "happy", "late", "sad", "angry", "worried", "alone"))
        return clause(dice, about, being(agreeing(about, adjective)))
    if chosen < 0.7:
        return clause(dice, about, act(dice, _EXPLAINED, about, company=0), "past")
    return clause(dice, about, governed("want", act(dice, WISHED, about, company=0)))


_TIRING = tuple(
    a
    for a in WISHED
    if a.base in ("go", "play", "work", "study", "come", "help", "cook", "swim", "run", "dance",
                  "drive", "clean", "do", "travel", "ride", "feed", "water")
)  # fmt: skip
_OUTDOORS = tuple(
    a
    for a in WISHED
    if a.base in ("swim", "run", "walk", "ride")
    or ("walk" in a.template and a.reflexive)
    or ("the", "beach") in a.objects
)
_AT_HOME = tuple(
    a for a in WISHED if a.base in ("stay", "read", "watch", "cook", "study", "clean", "listen")
)
# The language one learns, and where it is spoken.
_SPOKEN = (
    ("French", "in:1 France:2 | en:1 France:2", "to:1 France:2 | en:1 France:2"),
    ("French", "in:1 Belgium:2 | en:1 Belgique:2", "to:1 Belgium:2 | en:1 Belgique:2"),
    ("German", "in:1 Germany:2 | en:1 Allemagne:2", "to:1 Germany:2 | en:1 Allemagne:2"),
    ("Spanish", "in:1 Spain:2 | en:1 Espagne:2", "to:1 Spain:2 | en:1 Espagne:2"),
    ("Spanish", "in:1 Mexico:2 | au:1 Mexique:2", "to:1 Mexico:2 | au:1 Mexique:2"),
    ("Italian", "in:1 Italy:2 | en:1 Italie:2", "to:1 Italy:2 | en:1 Italie:2"),
    ("Japanese", "in:1 Japan:2 | au:1 Japon:2", "to:1 Japan:2 | au:1 Japon:2"),
    ("Chinese", "in:1 China:2 | en:1 Chine:2", "to:1 China:2 | en:1 Chine:2"),
    ("Russian", "in:1 Russia:2 | en:1 Russie:2", "to:1 Russia:2 | en:1 Russie:2"),
    ("English", "in:1 England:2 | en:1 Angleterre:2", "to:1 England:2 | en:1 Angleterre:2"),
    ("English", "in:1 Australia:2 | en:1 Australie:2", "to:1 Australia:2 | en:1 Australie:2"),
)
_BAD_WEATHER = (
    "it:1 's:2 raining:2 | il:1 pleut:2",
    "it:1 's:2 snowing:2 | il:1 neige:2",
    "it:1 's:2 too:3 hot:4 | il:1 fait:2 trop:3 chaud:4",
    "it:1 's:2 too:3 cold:4 | il:1 fait:2 trop:3 froid:4",
    "it:1 's:2 late:3 | il:1 est:2 tard:3",
)


def because(dice: Dice) -> Draft:
    """*She can't come because she's sick.*: reasons that would keep anybody from it."""
    who = dice.pick(("i", "you", "he", "she", "we", "they"))
    subject, again = pronoun(who), pronoun(who)
    chosen = dice.random()
    if chosen < 0.5:
        cause = clause(dice, again, being(agreeing(again, dice.pick(("tired", "sick", "busy")))))
        verbs = governed("can", act(dice, _TIRING, subject, negative=True, company=0))
        first = clause(dice, subject, verbs, negation="not")
    elif chosen < 0.75:
        cause = fill(dice.pick(_BAD_WEATHER))
        verbs = governed("want", act(dice, _OUTDOORS, subject, negative=True, company=0))
        first = clause(dice, subject, verbs, negation="not")
    else:
        language, there, thither = dice.pick(_SPOKEN)
        wish = dice.pick((("live:1 | vivre:1", there), ("work:1 | travailler:1", there),
                          ("go:1 | aller:1", thither)))  # fmt: skip
        cause = clause(dice, again, governed("want", being(fill(wish[1]), wish[0])))
        learning = being(noun_phrase("gen", language), "learn:1 | apprendre:1")
        first = clause(dice, subject, learning, "progressive")
    return fill("{a} because:1 {b} | {a} parce:1 que:1 {b}", a=first, b=cause), "."


_IF_WEATHER = (
    "it:1 rains:2 | il:1 pleut:2",
    "it:1 snows:2 | il:1 neige:2",
    "it:1 's:2 cold:3 | il:1 fait:2 froid:3",
    "it:1 's:2 hot:3 | il:1 fait:2 chaud:3",
    "the weather:1 is:2 nice:3 | il:1 fait:2 beau:3",
)


def weather_plan(dice: Dice) -> Draft:
    """*If it rains, we'll stay at home.* – S'il pleut, nous resterons à la maison."""
    weather = dice.pick(_IF_WEATHER)
    subject = somebody(dice)
    warm = "hot" in weather or "nice" in weather
    verbs = act(dice, _OUTDOORS if warm else _AT_HOME, subject)
    condition, plan = fill(weather), clause(dice, subject, verbs, "future")
    if dice.chance(0.6):
        return fill("if:1 {a} ,:2 {b} | si:1 {a} ,:2 {b}", a=condition, b=plan), "."
    return fill("{b} if:1 {a} | {b} si:1 {a}", a=condition, b=plan), "."


_UNEXPECTED = (
    "you:1 called:2 me:3 | vous:1 me:3 avez appelé:2",
    "you:1 arrived:2 | vous:1 êtes arrivé:2",
    "the:3 phone:1 rang:2 | le:3 téléphone:1 a sonné:2",
    "Tom:1 came:2 home:2 | Tom:1 est rentré:2",
    "it:1 started:2 to:3 rain:4 | il:1 a commencé:2 à:3 pleuvoir:4",
)


def interrupted(dice: Dice) -> Draft:
    """*I was sleeping when you called me.* – Je dormais quand vous m'avez appelé."""
    subject = somebody(dice)
    while subject.english == "you" or "Tom" in (word.text for word in subject.phrase.english):
        subject = somebody(dice)
    first = clause(dice, subject, act(dice, GOING_ON, subject), "was doing")
    second = fill(dice.pick(_UNEXPECTED))
    return fill("{a} when:1 {b} | {a} quand:1 {b}", a=first, b=second), "."


_LASTING = tuple(
    action
    for action in GOING_ON
    if action.base in ("learn", "study", "teach", "work", "wait", "sleep", "build", "play")
)


def lately(dice: Dice) -> Draft:
    """*She has been learning French for two years.* – Elle apprend le français depuis deux ans."""
    subject = somebody(dice)
    if dice.chance(0.45):
        verbs = verb_phrase(dice, dice.pick(_RESIDING), subject)
    else:
        verbs = verb_phrase(dice, dice.pick(_LASTING), subject)
    short = verbs.verb in ("wait", "sleep")
    times = _SHORT if short else adverbials.DURATIONS[3:]
    since = fill("for:1 {d} | depuis:1 {d}", d=fill(dice.pick(times)))
    return clause(dice, subject, verbs.also(since), "since"), "."


_RESIDING = tuple(a for a in STATES if a.base in ("live", "work"))
_SHORT = (
    "ten:1 minutes:2 | dix:1 minutes:2",
    "twenty:1 minutes:2 | vingt:1 minutes:2",
    "an:1 hour:2 | une:1 heure:2",
    "two:1 hours:2 | deux:1 heures:2",
    "three:1 hours:2 | trois:1 heures:2",
)

RULES = (
    (46, reported),
    (18, known),
    (24, because),
    (20, weather_plan),
    (14, interrupted),
    (16, lately),
)
