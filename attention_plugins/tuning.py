"""The declared grid over which the parameters of a scoring are tuned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from attention_plugins.contract import Parameter

VALUES, COMBINATIONS = 7, 64  # of one parameter besides its default; of all parameters together
_MOST = int(math.log2(COMBINATIONS))  # parameters, two values each


def grid(parameters: Sequence[Parameter]) -> list[dict[str, float]]:
    """Every combination of values of the parameters that are real numbers with bounds.

    Each takes its default, and 7 values from its lowest to its highest: in equal ratios where
    both are above 0, else in equal steps. Where that makes more than 64 combinations, all take
    fewer, and those after the sixth their default. Whole numbers and choices change what a
    scoring is, and stay as they are.

    Returns:
        Values by name, the defaults first; one empty combination where nothing is tuned.
    """
    tuned = [one for one in parameters if _is_tuned(one)][:_MOST]
    most = min(VALUES, int(COMBINATIONS ** (1 / len(tuned)) + 1e-9) - 1) if tuned else 0
    values = [_values(one, max(1, most)) for one in tuned]
    return [
        {one.name: value for one, value in zip(tuned, combination, strict=True)}
        for combination in product(*values)
    ]


def _is_tuned(parameter: Parameter) -> bool:
    bounded = parameter.low is not None and parameter.high is not None
    return isinstance(parameter.default, float) and bounded


def _values(parameter: Parameter, count: int) -> list[float]:
    default, low, high = (
        float(end) for end in (parameter.default, parameter.low or 0.0, parameter.high or 0.0)
    )
    shares = [n / (count - 1) for n in range(count)] if count > 1 else [0.5]
    if low > 0:
        found = [low * (high / low) ** share for share in shares]
    else:
        found = [low + (high - low) * share for share in shares]
    rounded = [min(high, max(low, float(f"{value:.3g}"))) for value in found]
    others = [value for value in rounded if not math.isclose(value, default, rel_tol=1e-3)]
    return [default, *others]
