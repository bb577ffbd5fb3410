"""Infinitives behind an adjective, and behind somebody who is asked to do something."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import VerbPhrase, verb_phrase
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon.actions import Action, with_use
from attention_plugins.datasets.phrasebook.nominals import (
    name,
    pronoun,
)
from attention_plugins.datasets.phrasebook.people import somebody, somebody_but
from attention_plugins.datasets.phrasebook.phrase import (
    Dice,
    Draft,
    Phrase,
    Word,
    fill,
)
from attention_plugins.datasets.phrasebook.rules.being import agreeing, being
from attention_plugins.datasets.phrasebook.rules.doing import (
    WISHED,
    act,
)

_JUDGED = (
    ("easy", "facile"), ("difficult", "difficile"), ("important", "important"),
    ("dangerous", "dangereux"), ("possible", "possible"), ("impossible", "impossible"),
    ("useful", "utile"), ("necessary", "nécessaire"),
)  # fmt: skip
_GENERAL = {
    "dangerous": "swim drive walk run smoke ride",
    "useful": "learn speak study know read travel",
    "easy": "find learn open cook cook draw choose clean make play",
    "difficult": "find learn open play draw understand choose drive teach build",
    "important": "learn sleep study work listen rest help finish",
    "possible": "visit buy pay go see leave find rest travel order",
    "impossible": "find sleep work open repair forget see understand finish",
    "necessary": "work finish leave wait clean repair sleep study learn",
}


_GENERAL_ACTIONS = {
    adjective: tuple(a for a in WISHED if a.base in bases.split() and not a.reflexive)
    for adjective, bases in _GENERAL.items()
}


def judged(dice: Dice) -> Draft:
    """*It's difficult to learn Chinese.* – Il est difficile d'apprendre le chinois."""
    anybody = pronoun("you")
    adjective, target = dice.pick(_JUDGED)
    infinitive = _infinitive(verb_phrase(dice, dice.pick(_GENERAL_ACTIONS[adjective]), anybody))
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


def told_to(dice: Dice) -> Draft:
    """*She asked Tom to wash his car.* – Elle a demandé à Tom de laver sa voiture."""
    other = name(dice)
    subject = somebody_but(dice, other)
    verbs = act(dice, _ORDERED, other, company=0)
    infinitive = _infinitive(verbs)
    asked = fill("{p} to {v} | à {p} de {v}", p=other.phrase, v=infinitive)
    return clause(dice, subject, being(asked, "ask:1 | demander:1"), "past"), "."


_ORDERED = with_use("f", "i")

RULES = (
    (14, judged),
    (13, too_much),
    (9, willing),
    (12, told_to),
)
