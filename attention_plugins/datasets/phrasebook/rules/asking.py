"""Why, when, where, what, who; and everyone, someone, nobody."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import governed
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon.actions import with_use
from attention_plugins.datasets.phrasebook.nominals import (
    Subject,
)
from attention_plugins.datasets.phrasebook.people import asked_about
from attention_plugins.datasets.phrasebook.phrase import Dice, Draft, Phrase, fill
from attention_plugins.datasets.phrasebook.rules.being import agreeing, being
from attention_plugins.datasets.phrasebook.rules.doing import (
    DONE,
    GOING_ON,
    STATES,
    WISHED,
    act,
)

_MOOD_WHY = ("tired", "sad", "angry", "happy", "nervous", "worried", "late", "busy", "alone",
             "disappointed", "surprised")  # fmt: skip
_WHY = "why | pourquoi"
_WHEN = "when | quand"
_UNTIMED = tuple(a for a in with_use("t", "f") if "k" not in a.uses)


_EXPLAINED = tuple(
    action
    for action in STATES
    if action.base in ("know", "like", "hate", "understand", "believe", "trust", "live", "need")
)


def why(dice: Dice) -> Draft:
    """*Why are you crying?* – Pourquoi pleurez-vous ?"""
    subject = asked_about(dice)
    opener = fill(_WHY)
    chosen = dice.random()
    if chosen < 0.25:
        verbs = being(agreeing(subject, dice.pick(_MOOD_WHY)))
        return clause(dice, subject, verbs, asked=True, opener=opener), "?"
    if chosen < 0.45:
        verbs = act(dice, GOING_ON, subject)
        return clause(dice, subject, verbs, "progressive", asked=True, opener=opener), "?"
    if chosen < 0.7:
        verbs = act(dice, DONE, subject)
        return clause(dice, subject, verbs, "past", asked=True, opener=opener), "?"
    negated = dice.chance(0.4)
    verbs = act(dice, _EXPLAINED, subject, negative=negated)
    if dice.chance(0.5):
        verbs = governed("want", act(dice, WISHED, subject, negative=negated))
    negation = "not" if negated else ""
    return clause(dice, subject, verbs, negation=negation, asked=True, opener=opener), "?"


def when(dice: Dice) -> Draft:
    """*When did you arrive?* – Quand êtes-vous arrivé ?"""
    subject = asked_about(dice)
    opener = fill(_WHEN)
    verbs = act(dice, _UNTIMED, subject, company=0.1)
    chosen = dice.random()
    if chosen < 0.4:
        return clause(dice, subject, verbs, "past", asked=True, opener=opener), "?"
    if chosen < 0.7:
        return clause(dice, subject, governed("going", verbs), asked=True, opener=opener), "?"
    return clause(dice, subject, verbs, "future", asked=True, opener=opener), "?"


_WHERE = {
    "live": ("habiter", "present"),
    "work": ("travailler", "present"),
    "go": ("aller", "progressive"),
    "sleep": ("dormir", "present"),
    "have lunch": ("déjeuner", "present"),
    "study": ("étudier", "present"),
}


def where(dice: Dice) -> Draft:
    """*Where does your brother work?* – Où travaille votre frère ?"""
    subject = asked_about(dice)
    verb = dice.pick(tuple(_WHERE))
    infinitive, tense = _WHERE[verb]
    base, *more = verb.split()
    verbs = being(Phrase((), ()), f"{base}:1 {' '.join(f'{m}:1' for m in more)} | {infinitive}:1")
    opener = fill("where | où")
    if subject.pronoun:
        return clause(dice, subject, verbs, tense,
                      asked=True, opener=opener), "?"  # fmt: skip
    from_clause = clause(dice, subject, verbs, tense, asked=True)
    # After où, a noun stands behind the verb, without est-ce que.
    finite = from_clause.french[3 + len(subject.phrase.french) :]
    french = (*opener.french, *finite, *subject.phrase.french)
    return Phrase((*opener.english, *from_clause.english), french), "?"


_CONSUMED = {"eat": "manger", "drink": "boire", "read": "lire", "look for": "chercher",
             "look at": "regarder", "buy": "acheter", "draw": "dessiner", "write": "écrire",
             "want": "vouloir", "do": "faire", "make": "préparer",
             "learn": "apprendre"}  # fmt: skip


def what(dice: Dice) -> Draft:
    """*What is Tom reading?* – Qu'est-ce que Tom lit ? *What do you want?* – Que voulez-vous ?"""
    subject = asked_about(dice)
    verb = dice.pick(tuple(_CONSUMED))
    base, *more = verb.split()
    verbs = being(
        Phrase((), ()), f"{base}:1 {' '.join(f'{m}:1' for m in more)} | {_CONSUMED[verb]}:1"
    )
    tenses = ("present",) if verb == "want" else ("progressive", "progressive", "past", "future")
    tense = dice.pick(tenses)
    inverted = subject.person == 4 and subject.pronoun
    opener = fill("what | que") if inverted else fill("what:1 | que:1")
    return clause(dice, subject, verbs, tense, asked=True, opener=opener), "?"


_WITNESSED = tuple(a for a in DONE if a.base not in ("get", "lose"))
_NOTED = tuple(a for a in DONE if "{whom}" in a.template or "i" in a.uses)


_ASKED_FOR = with_use("f", "i")


def who(dice: Dice) -> Draft:
    """*Who broke the window?* – Qui a cassé la fenêtre ?"""
    subject = Subject(fill("who | qui"), "one", 2)
    chosen = dice.random()
    if chosen < 0.45:
        return clause(dice, subject, act(dice, _WITNESSED, subject, company=0), "past"), "?"
    if chosen < 0.65:
        return clause(dice, subject, governed(dice.pick(("want", "can")), act(
            dice, _ASKED_FOR, subject, company=0.1)), "present"), "?"  # fmt: skip
    if chosen < 0.85:
        return clause(dice, subject, act(dice, STATES, subject), "present"), "?"
    return clause(dice, subject, act(dice, WISHED, subject), "future"), "?"


def everyone(dice: Dice) -> Draft:
    """*Nobody called me.* – Personne ne m'a appelé. *Everyone*, *someone* likewise."""
    nobody = dice.chance(0.4)
    template = (
        "nobody:1 | personne:1 ne:1"
        if nobody
        else dice.pick(("everyone:1 | tout:1 le:1 monde:1", "someone:1 | quelqu':1 un:1"))
    )
    both = fill(template)
    subject = Subject(Phrase(both.english, both.french[:1] if nobody else both.french), "one", 2)
    negation = Phrase((), both.french[1:]) if nobody else ""
    someone = "someone" in template
    if someone or dice.chance(0.5):
        verbs = act(dice, _NOTED, subject, negative=nobody, company=0)
        return clause(dice, subject, verbs, "past", negation=negation), "."
    verbs = act(dice, STATES, subject, negative=nobody)
    return clause(dice, subject, verbs, negation=negation), "."


RULES = (
    (26, why),
    (16, when),
    (7, where),
    (14, what),
    (16, who),
    (20, everyone),
)
