"""Sentences of two clauses, relative clauses, and infinitives behind an adjective."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import VerbPhrase, governed, verb_phrase
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.french import participle
from attention_plugins.datasets.phrasebook.english import verb_forms
from attention_plugins.datasets.phrasebook.lexicon import adverbials
from attention_plugins.datasets.phrasebook.lexicon.adjectives import CHARACTERS, fitting
from attention_plugins.datasets.phrasebook.lexicon.nouns import NOUNS
from attention_plugins.datasets.phrasebook.lexicon.verbs import Action, with_use
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
    name,
    noun_phrase,
    pronoun,
    thing,
)
from attention_plugins.datasets.phrasebook.people import somebody
from attention_plugins.datasets.phrasebook.phrase import EMPTY, Dice, Phrase, Word, fill, fresh_mark
from attention_plugins.datasets.phrasebook.rules.being import Draft, agreeing, being
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


def _someone_else(dice: Dice, subject: Subject) -> Subject:
    while True:
        other = somebody(dice)
        if other.phrase.english[-1].text != subject.phrase.english[-1].text:
            return other


def reported(dice: Dice) -> Draft:
    """*I think that Tom is sick.* – Je pense que Tom est malade: que is never left out."""
    verb = dice.pick(tuple(_THINKING))
    who = ("he", "she", "they") if verb == "say" else ("i", "i", "i", "he", "she", "we", "they")
    subject = pronoun(dice.pick(who)) if dice.chance(0.75) else name(dice)
    told_of = _someone_else(dice, subject)
    while subject.english == "we" and told_of.english == "i":
        told_of = _someone_else(dice, subject)
    said = _plan(dice, told_of) if verb == "hope" else _fact(dice, told_of)
    that = fill("that:1 {c} | que:1 {c}", c=said)
    if verb != "say" and dice.chance(0.5):
        that = Phrase(that.english[1:], that.french)
    verbs = being(that, f"{verb}:1 | {_THINKING[verb]}:1")
    return clause(dice, subject, verbs), "."


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
        return clause(dice, about, act(dice, DONE, about, company=0), "past")
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
_LEARNING = tuple(a for a in GOING_ON if a.base == "learn")
_ABROAD = tuple(a for a in WISHED if "country" in a.template or a.template.startswith("travel:v |"))
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
        cause = clause(dice, again, governed("want", act(dice, _ABROAD, again, company=0)))
        first = clause(dice, subject, act(dice, _LEARNING, subject, company=0), "progressive")
    return fill("{a} because:1 {b} | {a} parce:1 que:1 {b}", a=first, b=cause), "."


_IF_WEATHER = (
    "it:1 rains:2 | il:1 pleut:2",
    "it:1 snows:2 | il:1 neige:2",
    "it:1 's:2 cold:3 | il:1 fait:2 froid:3",
    "it:1 's:2 hot:3 | il:1 fait:2 chaud:3",
    "the weather:1 is:2 nice:3 | il fait:2 beau:3",
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


def lately(dice: Dice) -> Draft:
    """*She has been learning French for two years.* – Elle apprend le français depuis deux ans."""
    subject = somebody(dice)
    actions = tuple(a for a in GOING_ON if a.base in ("learn", "study", "teach", "work", "wait", "sleep",
                                                      "build", "play", "sing", "paint"))  # fmt: skip
    if dice.chance(0.45):
        verbs = verb_phrase(dice, dice.pick(_RESIDING), subject)
    else:
        verbs = verb_phrase(dice, dice.pick(actions), subject)
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

_JUDGED = (
    ("easy", "facile"), ("difficult", "difficile"), ("important", "important"),
    ("dangerous", "dangereux"), ("possible", "possible"), ("impossible", "impossible"),
    ("useful", "utile"), ("necessary", "nécessaire"),
)  # fmt: skip
_GENERAL = {
    "dangerous": "swim drive walk run smoke touch ride",
    "useful": "learn speak study know read travel",
    "easy": "find learn open cook cook draw choose clean make play",
    "difficult": "find learn open play draw understand choose drive teach build",
    "important": "learn sleep study work eat read listen rest help finish",
    "possible": "visit buy pay go see leave find rest travel order",
    "impossible": "find sleep work open repair forget see understand finish",
    "necessary": "work finish leave wait clean repair sleep study learn",
}


def judged(dice: Dice) -> Draft:
    """*It's difficult to learn Chinese.* – Il est difficile d'apprendre le chinois."""
    anybody = pronoun("you")
    adjective, target = dice.pick(_JUDGED)
    verbs_allowed = _GENERAL[adjective].split()
    actions = [a for a in with_use("f") if a.base in verbs_allowed and not a.reflexive]
    verbs = verb_phrase(dice, dice.pick(actions), anybody)
    infinitive = _infinitive(verbs)
    denied = dice.chance(0.3) and adjective != "impossible"
    negation = ("n't:3", "ne:3", "pas:3") if denied else ("", "", "")
    be = "is:2" if denied or dice.chance(0.4) else "'s:2"
    template = (
        f"it:1 {be} {negation[0]} {adjective}:4 to {{v}} | "
        f"il:1 {negation[1]} est:2 {negation[2]} {target}:4 de {{v}}"
    )
    return fill(template, v=infinitive), "."


_TOO = {
    "tired": "go cook work play do dance run swim study read drive travel clean write",
    "busy": "go cook help play come rest do watch read travel visit call",
    "sick": "go work travel play come swim eat drive study",
    "shy": "sing dance speak talk answer call",
    "lazy": "do clean wash cook work get study run write",
    "nervous": "eat sleep speak sing drive",
    "angry": "eat speak talk sleep listen",
}
_WILLING = {
    "ready": ("à", "go leave eat work start pay help travel learn play have order"),
    "happy": ("de", "help see meet visit go travel play learn teach come"),
}


def _able(bases: str) -> tuple[Action, ...]:
    return tuple(action for action in WISHED if action.base in bases.split())


_TOO_ACTIONS = {adjective: _able(bases) for adjective, bases in _TOO.items()}
_WILLING_ACTIONS = {adjective: _able(bases) for adjective, (_, bases) in _WILLING.items()}


def too_much(dice: Dice) -> Draft:
    """*I'm too tired to cook.* – Je suis trop fatigué pour cuisiner."""
    subject = somebody(dice)
    adjective = dice.pick(tuple(_TOO))
    infinitive = _infinitive(act(dice, _TOO_ACTIONS[adjective], subject, company=0))
    how = agreeing(subject, adjective, fill("too | trop"))
    what = fill("{h} to {v} | {h} pour {v}", h=how, v=infinitive)
    return clause(dice, subject, being(what), "was" if dice.chance(0.2) else "present"), "."


def willing(dice: Dice) -> Draft:
    """*She's ready to leave.* – Elle est prête à partir."""
    subject = somebody(dice)
    adjective = dice.pick(tuple(_WILLING))
    infinitive = _infinitive(act(dice, _WILLING_ACTIONS[adjective], subject, company=0.1))
    how = agreeing(subject, adjective)
    what = fill(f"{{h}} to {{v}} | {{h}} {_WILLING[adjective][0]} {{v}}", h=how, v=infinitive)
    negation = "not" if adjective == "ready" and dice.chance(0.3) else ""
    return clause(dice, subject, being(what), negation=negation), "."


def _infinitive(verbs: VerbPhrase) -> Phrase:
    return Phrase((Word(verbs.verb, verbs.verb_marks), *verbs.after), verbs.infinitive_words)


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
    noun = dice.pick([n for n in _described(kinds) if n != "photo"])
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
    whole = fill(
        "{n} that:1 {c} | {n} que:1 {c}", n=what.phrase, c=Phrase(source, target)
    )
    if dice.chance(0.25):
        whole = Phrase(
            tuple(w for w in whole.english if w.text != "that"), whole.french
        )
    subject = what._replace(phrase=whole)
    adjective = dice.pick(fitting(noun))
    adjective = "new_" if adjective == "new" else adjective
    return clause(dice, subject, being(agreeing(subject, adjective))), "."


def _described(kinds: tuple[str, ...]) -> list[str]:
    return [key for key, noun in NOUNS.items() if noun.kind in kinds and fitting(key)]


_RELATIONS = {
    "woman": ("sister", "aunt", "mother", "wife"),
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


def told_to(dice: Dice) -> Draft:
    """*She asked Tom to wash his car.* – Elle a demandé à Tom de laver sa voiture."""
    other = name(dice)
    subject = _someone_else(dice, other)
    verbs = act(dice, _ORDERED, other, company=0)
    infinitive = _infinitive(verbs)
    asked = fill("{p} to {v} | à {p} de {v}", p=other.phrase, v=infinitive)
    return clause(dice, subject, being(asked, "ask:1 | demander:1"), "past"), "."


_ORDERED = with_use("f", "i")

RULES = (
    (46, reported),
    (18, known),
    (24, because),
    (20, weather_plan),
    (14, interrupted),
    (16, lately),
    (14, judged),
    (13, too_much),
    (9, willing),
    (26, that_was),
    (14, somebody_who),
    (12, told_to),
)
