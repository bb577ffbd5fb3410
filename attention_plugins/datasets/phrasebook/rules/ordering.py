"""Orders, prohibitions, proposals, requests and wishes at the counter."""

from __future__ import annotations

from attention_plugins.datasets.phrasebook.actions import VerbPhrase, governed
from attention_plugins.datasets.phrasebook.clauses import clause, order
from attention_plugins.datasets.phrasebook.lexicon.actions import with_use
from attention_plugins.datasets.phrasebook.lexicon.nouns import of_kind
from attention_plugins.datasets.phrasebook.lexicon.people import NUMBERS
from attention_plugins.datasets.phrasebook.nominals import Subject, name, noun_phrase, pronoun
from attention_plugins.datasets.phrasebook.phrase import EMPTY, Dice, Draft, Phrase, fill
from attention_plugins.datasets.phrasebook.rules.being import agreeing, being
from attention_plugins.datasets.phrasebook.rules.doing import DONE, STATES, WISHED, act

_ORDERED = with_use("i")
_FORBIDDEN = with_use("n")
_TOGETHER = (
    *with_use("f", "w"),
    *(a for a in WISHED if a.base in ("drink", "eat", "listen", "see")),
)

_PLEASE = "{c} ,:2 please:1 | {c} ,:2 s':1 il:1 vous:1 plaît:1"
_PLEASE_FIRST = "please:1 {c} | {c} , s':1 il:1 vous:1 plaît:1"


def _addressed(dice: Dice, phrase: Phrase, who: Phrase) -> Phrase:
    """Somebody is called by name, before or after."""
    if dice.chance(0.5):
        return fill("{w} ,:1 {c} | {w} ,:1 {c}", w=who, c=phrase)
    return fill("{c} ,:1 {w} | {c} ,:1 {w}", w=who, c=phrase)


def command(dice: Dice) -> Draft:
    """*Close the door, please.* Whoever is called by name is tu, all others are vous."""
    called = dice.chance(0.3)
    you = pronoun("thou" if called else "you")
    negation = "not" if dice.chance(0.3) else ""
    actions = _FORBIDDEN if negation else _ORDERED
    verbs = act(dice, actions, you, negative=bool(negation), company=0)
    phrase = order(verbs, you.person, negation=negation)
    if called:
        return _addressed(dice, phrase, name(dice).phrase), "."
    chosen = dice.random()
    if not negation and chosen < 0.25:
        return fill(_PLEASE, c=phrase), "."
    if not negation and chosen < 0.45:
        return fill(_PLEASE_FIRST, c=phrase), "."
    return phrase, "!" if chosen > 0.85 else "."


_WELL_BEHAVED = ("careful", "polite", "patient", "honest", "serious", "kind", "brave", "generous")
_ILL_BEHAVED = ("late", "shy", "sad", "angry", "jealous", "lazy", "nervous")


def behave(dice: Dice) -> Draft:
    """*Be patient.* – Soyez patient."""
    called = dice.chance(0.5)
    who = name(dice) if called else None
    person = pronoun("thou", feminine=who.feminine) if who else pronoun("you")
    negation = "not" if dice.chance(0.5) else ""
    adjective = dice.pick(_ILL_BEHAVED if negation else _WELL_BEHAVED)
    so = fill("so | si") if negation and adjective != "late" and dice.chance(0.5) else EMPTY
    phrase = order(being(agreeing(person, adjective, so)), person.person, negation=negation)
    return (_addressed(dice, phrase, who.phrase) if who else phrase), "."


def proposal(dice: Dice) -> Draft:
    """*Let's play cards.* – Jouons aux cartes."""
    we = pronoun("we")
    verbs = act(dice, _TOGETHER, we, company=0.1)
    return order(verbs, 3, first=fill("let:1 's:1 |")), "."


def request(dice: Dice) -> Draft:
    """*Could you open the window, please?*"""
    called = dice.chance(0.25)
    you = pronoun("thou" if called else "you")
    verbs = act(dice, _ORDERED, you, company=0)
    polite = dice.chance(0.55)
    governor, tense = ("could", "conditional") if polite else ("can", "present")
    phrase = clause(dice, you, governed(governor, verbs), tense, asked=True)
    if called:
        return _addressed(dice, phrase, name(dice).phrase), "?"
    return (fill(_PLEASE, c=phrase) if dice.chance(0.35) else phrase), "?"


def invitation(dice: Dice) -> Draft:
    """*Would you like to dance?*"""
    called = dice.chance(0.25)
    you = pronoun("thou" if called else "you")
    verbs = act(dice, _TOGETHER, you, company=0)
    if dice.chance(0.35):
        verbs = verbs.also(fill("with:1 {p} | avec:1 {p}", p=_us(dice)))
    phrase = clause(dice, you, governed("would", verbs), "conditional", asked=True)
    return (_addressed(dice, phrase, name(dice).phrase) if called else phrase), "?"


def _us(dice: Dice) -> Phrase:
    return fill(dice.pick(("me:1 | moi:1", "us:1 | nous:1")))


def asked_of_a_friend(dice: Dice) -> Draft:
    """*Are you tired, Marie?* – Es-tu fatiguée, Marie ?"""
    friend = name(dice)
    thou = pronoun("thou", feminine=friend.feminine)
    phrase = _question_to(dice, thou)
    return _addressed(dice, phrase, friend.phrase), "?"


def _question_to(dice: Dice, thou: Subject) -> Phrase:
    chosen = dice.random()
    if chosen < 0.2:
        adjective = dice.pick(
            ("tired", "ready", "sick", "happy", "busy", "angry", "alone", "worried")
        )
        return clause(dice, thou, being(agreeing(thou, adjective)), asked=True)
    if chosen < 0.45:
        return clause(dice, thou, act(dice, STATES, thou), asked=True)
    if chosen < 0.7:
        return clause(dice, thou, act(dice, DONE, thou), "past", asked=True)
    verbs: VerbPhrase = act(dice, WISHED, thou)
    return clause(dice, thou, governed(dice.pick(("want", "can", "going")), verbs), asked=True)


_SERVED = (
    *(("a", noun) for noun in ("coffee", "tea", "beer", "juice", *of_kind("dish", "fruit"))),
    *(("some", noun) for noun in ("water", "milk", "bread", "wine", "cheese", "sugar", "butter")),
)


def at_the_counter(dice: Dice) -> Draft:
    """*I'd like two coffees, please.* – Je voudrais deux cafés, s'il vous plaît."""
    determiner, noun = dice.pick([pair for pair in _SERVED if pair[1] != "meal"])
    if determiner == "a" and dice.chance(0.4):
        number = dice.pick(tuple(NUMBERS)[:4])
        what = noun_phrase("num+", noun, number=number)
    else:
        what = noun_phrase(determiner, noun)
    chosen = dice.random()
    if chosen < 0.3 and determiner == "a":
        wish = fill("I:1 'll take:2 {w} | je:1 vais prendre:2 {w}", w=what)
    elif chosen < 0.5:
        wish = fill("do you:1 want:2 {w} | voulez:2 -vous:1 {w}", w=what)
        return wish, "?"
    elif chosen < 0.7:
        wish = fill("would you:1 like:2 {w} | voudriez:2 -vous:1 {w}", w=what)
        return wish, "?"
    else:
        wish = fill("I:1 'd like:2 {w} | je:1 voudrais:2 {w}", w=what)
    return fill(_PLEASE, c=wish), "."


RULES = (
    (54, command),
    (6, behave),
    (16, proposal),
    (26, request),
    (16, invitation),
    (22, asked_of_a_friend),
    (9, at_the_counter),
)
