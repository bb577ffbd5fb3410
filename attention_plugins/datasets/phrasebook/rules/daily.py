"""Greetings, the clock, timetables and the weather."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import conjugate
from attention_plugins.datasets.phrasebook.lexicon.idioms import IDIOMS
from attention_plugins.datasets.phrasebook.lexicon.people import CITIES, COUNTRIES, NUMBERS
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
)
from attention_plugins.datasets.phrasebook.phrase import Dice, Draft, Phrase, fill
from attention_plugins.datasets.phrasebook.rules.being import being

_HOURS = tuple(NUMBERS)[:11]
_PAST_HOUR = (
    ("{h} o'clock:1", "{f} heures:1"),
    ("half:1 past:1 {h}", "{f} heures et:1 demie:1"),
    ("a:2 quarter:2 past:1 {h}", "{f} heures et:1 quart:2"),
    ("ten:1 past:2 {h}", "{f} heures:2 dix:1"),
    ("twenty:1 past:2 {h}", "{f} heures:2 vingt:1"),
    ("a:2 quarter:2 to:1 {h}", "{f} heures moins:1 le:2 quart:2"),
    ("ten:2 to:1 {h}", "{f} heures moins:1 dix:2"),
)


def idiom(dice: Dice) -> Draft:
    """*Good morning.* – Bonjour."""
    line = dice.pick(IDIOMS)
    template, end = line[:-1].strip(), line[-1]
    return fill(template), end


def _hour(dice: Dice) -> Phrase:
    hour = dice.pick([h for h in _HOURS if h != "twelve"])
    source, target = dice.pick(_PAST_HOUR)
    return fill(f"{source.format(h=hour + ':9')} | {target.format(f=NUMBERS[hour] + ':9')}")


def clock(dice: Dice) -> Draft:
    """*It's half past three.* – Il est trois heures et demie."""
    be = dice.pick(("'s", "is", "'s", "was"))
    est = "était" if be == "was" else "est"
    return fill(f"it:1 {be}:2 {{h}} | il:1 {est}:2 {{h}}", h=_hour(dice)), "."


_TIMETABLE = (
    ("the:1 train:2 {v} | le:1 train:2 {v}", "leave", "partir"),
    ("the:1 bus:2 {v} | le:1 bus:2 {v}", "leave", "partir"),
    ("the:1 train:2 {v} | le:1 train:2 {v}", "arrive", "arriver"),
    ("my:1 plane:2 {v} | mon:1 avion:2 {v}", "leave", "partir"),
    ("the:1 movie:2 {v} | le:1 film:2 {v}", "start", "commencer"),
    ("the:1 concert:2 {v} | le:1 concert:2 {v}", "start", "commencer"),
    ("the:1 meeting:2 {v} | la:1 réunion:2 {v}", "start", "commencer"),
    ("the:1 bakery:2 {v} | la:1 boulangerie:2 {v}", "open", "ouvrir"),
    ("the:1 museum:2 {v} | le:1 musée:2 {v}", "close", "fermer"),
    ("the:1 bank:2 {v} | la:1 banque:2 {v}", "close", "fermer"),
)


def timetable(dice: Dice) -> Draft:
    """*The train leaves at ten past six.* – Le train part à six heures dix."""
    template, verb, infinitive = dice.pick(_TIMETABLE)
    source, target = template.split(" | ")
    asked = dice.chance(0.12)
    if asked:
        who, qui = source.replace(" {v}", ""), target.replace(" {v}", "")
        form = conjugate(infinitive, "present", 2)
        return fill(f"what:3 time:4 does {who} {verb}:5 | à quelle:3 heure:4 {form}:5 {qui}"), "?"
    future = dice.chance(0.3)
    verbs = being(fill("at:1 {h} | à:1 {h}", h=_hour(dice)), f"{verb}:1 | {infinitive}:1")
    subject = Subject(fill(template, v=Phrase((), ())), "it", 2)
    return clause(dice, subject, verbs, "future" if future else "present"), "."


_WEATHER = (
    "it:1 's:2 raining:2 | il:1 pleut:2",
    "it:1 's:2 snowing:2 | il:1 neige:2",
    "it:1 's:2 cold:3 | il:1 fait:2 froid:3",
    "it:1 's:2 hot:3 | il:1 fait:2 chaud:3",
    "it:1 's:2 very:4 cold:3 | il:1 fait:2 très:4 froid:3",
    "it:1 's:2 very:4 hot:3 | il:1 fait:2 très:4 chaud:3",
    "it:1 was:2 cold:3 | il:1 faisait:2 froid:3",
    "it:1 was:2 very:4 hot:3 | il:1 faisait:2 très:4 chaud:3",
    "it:1 often:2 rains:3 | il:1 pleut:3 souvent:2",
    "it:1 rarely:2 snows:3 | il:1 neige:3 rarement:2",
    "it:1 's:2 not:4 cold:3 | il:1 ne:4 fait:2 pas:4 froid:3",
    "it:1 is:2 n't:4 very:5 hot:3 | il:1 ne:4 fait:2 pas:4 très:5 chaud:3",
    "the weather:1 is:2 nice:3 | il:1 fait:2 beau:3",
    "the weather:1 is:2 bad:3 | il:1 fait:2 mauvais:3",
    "the weather:1 was:2 nice:3 | il:1 faisait:2 beau:3",
)
_FORECAST = (
    "it:1 will rain:2 {t} | il:1 pleuvra:2 {t}",
    "it:1 will snow:2 {t} | il:1 neigera:2 {t}",
    "it:1 's going:2 to rain:3 {t} | il:1 va:2 pleuvoir:3 {t}",
    "it:1 's going:2 to snow:3 {t} | il:1 va:2 neiger:3 {t}",
    "it:1 will be:2 cold:3 {t} | il:1 fera:2 froid:3 {t}",
    "it:1 will be:2 hot:3 {t} | il:1 fera:2 chaud:3 {t}",
    "it:1 rained:2 {p} | il:1 a plu:2 {p}",
    "it:1 snowed:2 {p} | il:1 a neigé:2 {p}",
    "it:1 was:2 cold:3 {p} | il:1 faisait:2 froid:3 {p}",
)
_COMING = ("tomorrow | demain", "tonight:1 | ce:1 soir:1", "this:1 weekend:2 | ce:1 week-end:2",
           "soon | bientôt", "tomorrow:1 morning:2 | demain:1 matin:2",
           "this:1 afternoon:2 | cet:1 après-midi:2")  # fmt: skip
_GONE = ("yesterday | hier", "last:1 night:2 | hier:1 soir:2", "this:1 morning:2 | ce:1 matin:2",
         "last:1 week:2 | la semaine:2 dernière:1", "on Sunday:1 | dimanche:1")  # fmt: skip


def weather(dice: Dice) -> Draft:
    """*It's going to rain tomorrow.* – Il va pleuvoir demain."""
    place = _in_place(dice)
    if dice.chance(0.5):
        phrase = fill(dice.pick(_WEATHER))
        return (phrase + place if dice.chance(0.7) else phrase), "."
    phrase = fill(dice.pick(_FORECAST), t=fill(dice.pick(_COMING)), p=fill(dice.pick(_GONE)))
    return (phrase + place if dice.chance(0.3) else phrase), "."


def _in_place(dice: Dice) -> Phrase:
    if dice.chance(0.5):
        source, target, preposition, _ = dice.pick(COUNTRIES)
        return fill(f"in:1 {source}:2 | {preposition}:1 {target}:2")
    source, _, target = dice.pick(CITIES).partition("=")
    return fill(f"in:1 {source}:2 | à:1 {target or source}:2")


RULES = (
    (14, idiom),
    (6, clock),
    (12, timetable),
    (10, weather),
)
