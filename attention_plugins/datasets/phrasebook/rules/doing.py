"""What people do, did, will do and want to do, and what is so with them: one row a pattern."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from attention_plugins.datasets.phrasebook.actions import VerbPhrase, governed, verb_phrase
from attention_plugins.datasets.phrasebook.clauses import clause
from attention_plugins.datasets.phrasebook.lexicon import adverbials
from attention_plugins.datasets.phrasebook.lexicon.actions import Action, with_use
from attention_plugins.datasets.phrasebook.nominals import Subject
from attention_plugins.datasets.phrasebook.people import asked_about, companion, somebody
from attention_plugins.datasets.phrasebook.phrase import EMPTY, Dice, Draft, Phrase, fill

DONE = with_use("t")
WISHED = with_use("f")
GOING_ON = with_use("p")
HABITS = with_use("h")
STATES = with_use("s")
FEELINGS = with_use("m")
DONE_AND_WISHED = with_use("t", "f")
ORDERED = with_use("f", "i")
LONG_PLANS = with_use("f", "b")
ENJOYED = tuple(action for action in with_use("h", "f") if "d" not in action.uses)
PAST_STATES = tuple(action for action in STATES if "o" not in action.uses)

_LONG = {adverbials.PAST: adverbials.LONG_PAST, adverbials.FUTURE: adverbials.LONG_FUTURE}


def act(
    dice: Dice,
    actions: tuple[Action, ...],
    subject: Subject,
    *,
    negative: bool = False,
    company: float = 0.15,
    times: tuple[str, ...] = (),
    timed: float = 1.0,
) -> VerbPhrase:
    """One of the actions, now and then with somebody, and at one of the times that suit it."""
    action = dice.pick(actions)
    while negative and "o" in action.uses:
        action = dice.pick(actions)
    verbs = verb_phrase(dice, action, subject, negative=negative)
    if "w" in action.uses and dice.chance(company):
        verbs = verbs.also(companion(dice, subject))
    if times and "k" not in action.uses and dice.chance(timed):
        verbs = verbs.also(fill(dice.pick(_suiting(times, action))))
    return verbs


def _suiting(times: tuple[str, ...], action: Action) -> tuple[str, ...]:
    """The times of this kind that suit an action that takes long, or that is done daily."""
    if "b" in action.uses:
        return _LONG.get(times, times)
    if "d" in action.uses and times is adverbials.HABIT:
        return adverbials.DAILY
    return times


class Pattern(NamedTuple):
    """Sentences that differ only in their words.

    Args:
        actions: what may be done.
        tense: a key of ``clauses.TENSES``.
        governors: keys of ``actions.GOVERNORS``, one of which governs the action.
        negations: keys of ``clauses``' negations, one of which denies it.
        adverbs, late: where ``clause`` puts them; one is always chosen.
        times: one is chosen in ``timed`` of the cases.
    """

    actions: tuple[Action, ...]
    tense: str = "present"
    governors: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    adverbs: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    timed: float = 0.3
    asked: bool = False


def say(pattern: Pattern, dice: Dice) -> Draft:
    """One sentence of the pattern."""
    subject = asked_about(dice) if pattern.asked else somebody(dice)
    verbs = act(
        dice,
        pattern.actions,
        subject,
        negative=bool(pattern.negations),
        times=pattern.times,
        timed=pattern.timed,
    )
    if pattern.governors:
        verbs = governed(dice.pick(pattern.governors), verbs)
    phrase = clause(
        dice,
        subject,
        verbs,
        pattern.tense,
        negation=dice.pick(pattern.negations) if pattern.negations else "",
        adverb=_one_of(dice, pattern.adverbs),
        late=_one_of(dice, pattern.late),
        asked=pattern.asked,
    )
    return phrase, "?" if pattern.asked else "."


def _one_of(dice: Dice, templates: tuple[str, ...]) -> Phrase:
    return fill(dice.pick(templates)) if templates else EMPTY


def just_done(dice: Dice) -> Draft:
    """*has just read* – vient de lire: a governor that English lacks."""
    subject = somebody(dice)
    verbs = act(dice, DONE_AND_WISHED, subject, company=0)
    recent = fill("just:1 | venir:1 de")
    french_only = verbs._replace(
        infinitive="venir",
        infinitive_marks=recent.french[0].marks,
        clitics=(),
        rest=(recent.french[1], *verbs.infinitive_words),
        reflexive=False,
    )
    just = Phrase(recent.english, ())
    return clause(dice, subject, french_only, "has been", adverb=just), "."


_NOT = ("not",)
_FUTURE = adverbials.FUTURE
_PAST = adverbials.PAST
_PATTERNS = (
    (46, Pattern(GOING_ON, "progressive", times=adverbials.NOW, timed=0.12)),
    (6, Pattern(GOING_ON, "progressive", adverbs=(adverbials.STILL,))),
    (16, Pattern(GOING_ON, "progressive", negations=_NOT)),
    (20, Pattern(GOING_ON, "progressive", asked=True)),
    (10, Pattern(GOING_ON, "was doing")),
    (22, Pattern(HABITS, adverbs=adverbials.FREQUENCY)),
    (26, Pattern(HABITS, times=adverbials.HABIT, timed=1.0)),
    (20, Pattern(HABITS, negations=("not", "never", "never", "no longer"))),
    (12, Pattern(HABITS, asked=True, times=adverbials.HABIT, timed=0.4)),
    (6, Pattern(HABITS, asked=True, adverbs=("often | souvent",))),
    (12, Pattern(HABITS, "used to", times=adverbials.HABIT, timed=0.6)),
    (40, Pattern(STATES)),
    (24, Pattern(STATES, negations=_NOT)),
    (2, Pattern(STATES, negations=("no longer",))),
    (20, Pattern(STATES, asked=True)),
    (8, Pattern(PAST_STATES, "was")),
    (4, Pattern(PAST_STATES, "was", negations=_NOT)),
    (4, Pattern(FEELINGS)),
    (2, Pattern(FEELINGS, negations=_NOT)),
    (2, Pattern(FEELINGS, "was")),
    (2, Pattern(FEELINGS, asked=True)),
    (74, Pattern(DONE, "past", times=_PAST, timed=0.4)),
    (30, Pattern(DONE, "past", negations=_NOT, times=_PAST[:5], timed=0.25)),
    (26, Pattern(DONE, "past", asked=True, times=_PAST, timed=0.25)),
    (14, Pattern(DONE_AND_WISHED, "perfect", adverbs=(adverbials.ALREADY,))),
    (12, Pattern(DONE_AND_WISHED, "perfect", negations=_NOT, late=("yet | encore",))),
    (24, Pattern(WISHED, "future", times=_FUTURE, timed=0.5)),
    (6, Pattern(WISHED, "future", negations=_NOT)),
    (4, Pattern(WISHED, "future", asked=True, times=_FUTURE)),
    (26, Pattern(WISHED, governors=("going",), times=_FUTURE, timed=0.5)),
    (5, Pattern(WISHED, governors=("going",), negations=_NOT)),
    (12, Pattern(WISHED, governors=("going",), asked=True, times=_FUTURE)),
    (50, Pattern(WISHED, governors=("want", "want", "can", "can", "must", "must", "have", "need"),
                 times=_FUTURE, timed=0.2)),
    (18, Pattern(WISHED, governors=("want", "can", "can"), negations=_NOT)),
    (16, Pattern(WISHED, governors=("want", "can", "have"), asked=True)),
    (24, Pattern(WISHED, "conditional", governors=("would", "should", "could"), times=_FUTURE)),
    (7, Pattern(WISHED, "was", governors=("want",))),
    (4, Pattern(WISHED, "was", governors=("want",), negations=_NOT)),
    (12, Pattern(ENJOYED, governors=("like", "like", "love", "hate", "prefer"))),
    (4, Pattern(ENJOYED, governors=("like",), negations=_NOT)),
    (5, Pattern(ENJOYED, governors=("like",), asked=True)),
    (12, Pattern(WISHED, "past", governors=("try", "decide", "decide", "refuse"))),
    (6, Pattern(ORDERED, "past", governors=("forget",))),
    (4, Pattern(LONG_PLANS, governors=("hope",))),
)  # fmt: skip

RULES = (
    *((weight, partial(say, pattern)) for weight, pattern in _PATTERNS),
    (10, just_done),
)
