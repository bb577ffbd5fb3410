"""Rules of metrics. Importing this registers them, in the order in which they run."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import torch

from attention_plugins.checking.devices import nothing_drawn
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checking.records import require_explained
from attention_plugins.contract import MetricSpec

__all__ = [
    "check_identical_text_scores_best",
    "check_it_draws_nothing",
    "check_scores_are_in_range",
    "check_the_record_explains_itself",
    "check_wrong_text_scores_worse",
]

_WANTED = ("a b c d e", "the old man walks home.", "wait for me here, please.")
_WRONG = ("z z", "q x y", "")
_HALF = ("a b c d e", "the old man walks home.", "")


@rule("metrics")
def check_the_record_explains_itself(spec: MetricSpec) -> None:
    """A title, and where it comes from."""
    require_explained(spec)


@rule("metrics")
def check_identical_text_scores_best(spec: MetricSpec) -> None:
    """What equals its reference has the best score, with one reference and with several."""
    for references in ([[text] for text in _WANTED], [[*_WRONG[:1], text] for text in _WANTED]):
        found = _score(spec, _WANTED, references)
        if spec.best is not None and not math.isclose(found, spec.best, abs_tol=1e-6):
            raise Broken(
                f"text that equals a reference scored {found:g}, but best is {spec.best:g}; "
                "correct best, or score against the reference that fits best"
            )


@rule("metrics")
def check_wrong_text_scores_worse(spec: MetricSpec) -> None:
    """Text that is wrong scores worse than text that is half right, and this than identical."""
    references = [[text] for text in _WANTED]
    scores = [_score(spec, texts, references) for texts in (_WRONG, _HALF, _WANTED)]
    ordered = scores if spec.higher_is_better else scores[::-1]
    if not ordered[0] < ordered[1] < ordered[2]:
        found = ", ".join(f"{score:g}" for score in scores)
        raise Broken(
            f"wrong, half right and identical text scored {found}; say higher_is_better="
            f"{not spec.higher_is_better} if that is meant"
        )


@rule("metrics")
def check_scores_are_in_range(spec: MetricSpec) -> None:
    """Finite, and between the worst and the best."""
    bounds = [bound for bound in (spec.worst, spec.best) if bound is not None]
    for texts in (_WANTED, _WRONG, _HALF):
        found = _score(spec, texts, [[text] for text in _WANTED])
        low = min(bounds) if len(bounds) == 2 else -math.inf
        high = max(bounds) if len(bounds) == 2 else math.inf
        if not low - 1e-6 <= found <= high + 1e-6:
            raise Broken(f"a score is {found:g}; need {low:g} to {high:g}, as best and worst say")


@rule("metrics")
def check_it_draws_nothing(spec: MetricSpec) -> None:
    """Equal text, equal score; others' generators stay alone."""
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        random.seed(seed)
        with nothing_drawn("score"):
            found.append(_score(spec, _HALF, [[text] for text in _WANTED]))
    if found[0] != found[1]:
        raise Broken("the same text gave two different scores; draw nothing")


def _score(
    spec: MetricSpec, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> float:
    with attempt("scoring", "let score take hypotheses and a list of references for each"):
        found = spec.score(hypotheses, references)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise Broken(f"score returned {found!r:.60}; return a finite float")
    return float(found)
