"""Whether trainings that were given all their steps had learned what they could."""

import math
from collections import Counter
from collections.abc import Iterable

from attention_plugins.beside import beside
from attention_plugins.marking import gettext_noop
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Outcome

PART, FALL = 4, 0.99  # of the losses, and of the least before them: without that it is flat
_SAID = beside(__file__, "words.toml")["endings"]


def ending(outcome: Outcome, best: float) -> str:
    """Solved, at the ``best`` quality; flat, in the last quarter of losses; or out of budget."""
    if outcome.ended or not math.isfinite(outcome.quality):
        return outcome.ended
    if outcome.quality == best:
        return SOLVED
    last = len(outcome.losses) - len(outcome.losses) // PART
    before, since = outcome.losses[:last], outcome.losses[last:]
    return FLAT if since and min(since) > FALL * min(before) else SPENT


def sentence(outcomes: Iterable[Outcome], best: float, steps: int) -> str:
    """How many trainings that are reported ended how; empty before there is one."""
    reported = [one for one in outcomes if not one.trial.tuning and math.isfinite(one.quality)]
    found = Counter(ending(one, best) for one in reported)
    if not reported:
        return ""
    return gettext_noop(
        _SAID["all" if found[SPENT] == len(reported) else "some"], count=len(reported),
        steps=steps, solved=found[SOLVED], flat=found[FLAT], spent=found[SPENT],
    )  # fmt: skip
