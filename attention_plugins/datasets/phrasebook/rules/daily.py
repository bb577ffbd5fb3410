"""What is said every day in the same words: greetings, the clock, the weather, aches, prices."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import conjugate
from attention_plugins.datasets.phrasebook.lexicon.idioms import IDIOMS
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS, of_kind
from attention_plugins.datasets.phrasebook.lexicon.people import CITIES, COUNTRIES, NUMBERS
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import relative, somebody
from attention_plugins.datasets.phrasebook.phrase import Dice, Phrase, Word, fill, fresh_mark
from attention_plugins.datasets.phrasebook.rules.being import Draft, being

_HOURS = tuple(NUMBERS)[:11]
_PAST_HOUR = (
    ("{h} o'clock:1", "{f} heures:1"),
    ("half:1 past:1 {h}", "{f} heures et:1 demie:1"),
    ("a:2 quarter:2 past:1 {h}", "{f} heures et:1 quart:2"),
    ("ten:1 past:2 {h}", "{f} heures dix:1"),
    ("twenty:1 past:2 {h}", "{f} heures vingt:1"),
    ("a:2 quarter:2 to:1 {h}", "{f} heures moins:1 le:2 quart:2"),
    ("ten:2 to:1 {h}", "{f} heures moins:1 dix:2"),
)


def idiom(dice: Dice) -> Draft:
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
    "the weather:1 is:2 nice:3 | il fait:2 beau:3",
    "the weather:1 is:2 bad:3 | il fait:2 mauvais:3",
    "the weather:1 was:2 nice:3 | il faisait:2 beau:3",
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


_ACHING = ("head", "back", "throat", "stomach", "arm", "leg", "knee", "tooth", "foot", "ear", "eye")


def ache(dice: Dice) -> Draft:
    """*My head hurts.* – J'ai mal à la tête: the owner becomes the subject."""
    subject = pronoun(dice.pick(("i", "you", "he", "she"))) if dice.chance(0.6) else name(dice)
    part = dice.pick(_ACHING)
    many = part in ("foot", "tooth", "eye", "ear", "leg") and dice.chance(0.6)
    if part == "tooth":
        many = True
    hurts = fresh_mark()
    noun = noun_phrase("the+" if many else "the", part)
    where = tuple(w if w.text not in ("LE", "la", "LES") else w._replace(marks=()) for w in noun.french)
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
    many = NOUNS[noun].kind == "fruit" or noun != "glass" and dice.chance(0.2)
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
    faut = "a:2 fallu:2" if be == "took:2" else "faut:2"
    template = f"it:1 {be} {{h}} to go:3 to:4 {{p}} | il:1 {faut} {{h}} pour aller:3 à:4 {{p}}"
    return fill(template, h=how_long, p=place), "."


def asks_about_somebody(dice: Dice) -> Draft:
    """*Who is that woman?*, *Is Tom at home?* with here and there."""
    subject = somebody(dice)
    while subject.pronoun:
        subject = somebody(dice)
    be, est = ("are", "sont") if subject.english == "they" else ("is", "est")
    if dice.chance(0.5) and subject.phrase.english[0].text not in ("my", "our"):
        return fill(f"who:1 {be}:2 {{s}} | qui:1 {est}:2 {{s}}", s=subject.phrase), "?"
    this, ce = ("these", "ce sont") if subject.english == "they" else ("this", "c' est")
    first, second = ce.split()
    return fill(f"{this}:1 {be}:2 {{s}} | {first}:1 {second}:2 {{s}}", s=subject.phrase), "."


RULES = (
    (14, idiom),
    (6, clock),
    (12, timetable),
    (10, weather),
    (7, ache),
    (12, missing),
    (14, price),
    (14, introduction),
    (10, direction),
    (14, travel_time),
    (5, asks_about_somebody),
)

