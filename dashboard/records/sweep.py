"""A sweep: what a page asks for at every position of a slider, so that charts can follow it.

Between two positions charts draw a straight line from one number to the other.
"""

import json
from collections.abc import Sequence

from dashboard.language import gettext_noop
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

SWEEP = "sweep"
MOST = 41  # positions
_MOST_REQUESTS = 8 * MOST
_WIDE = 20  # times the lowest value: from here on positions are even in its logarithm


def is_wide(spec: Parameter) -> bool:
    """Whether the highest value is many times the lowest, so that their logarithms are even."""
    low, high = spec.bounds
    return low > 0 and high / low > _WIDE


def step_of(spec: Parameter) -> float:
    """The step of a number's slider; a hundredth of its range where none is declared."""
    low, high = spec.bounds
    return spec.step or (1 if spec.whole else (high - low) / 100)


def positions(spec: Parameter, most: int = MOST) -> list[Scalar]:
    """At most so many values of a number from its lowest to its highest, on its steps."""
    low, high = spec.bounds
    step = step_of(spec)
    steps = round((high - low) / step)
    shares = [each / (most - 1) for each in range(most)]
    near = [low * (high / low) ** share if is_wide(spec) else low + (high - low) * share
            for share in shares]  # fmt: skip
    chosen = {round((value - low) / step) for value in near}
    if steps < most:
        chosen = {*range(steps + 1)}
    return [type(spec.default)(round(low + one * step, 9)) for one in sorted(chosen)]


def sweep(requests: Sequence[Request]) -> Request:
    """The request of the results of all of these."""
    texts = json.dumps([*dict.fromkeys(request.to_json() for request in requests)])
    return Request.make(SWEEP, options={"requests": texts})


def asked(request: Request) -> list[Request]:
    """What :func:`sweep` was given, each once; ValueError of another request."""
    texts = json.loads(str(dict(request.options).get("requests", "[]")))
    if not isinstance(texts, list) or not 0 < len(texts) <= _MOST_REQUESTS:
        raise ValueError(
            gettext_noop("need a list of 1 to {most} requests to sweep", most=_MOST_REQUESTS)
        )
    return [Request.from_json(str(text)) for text in texts]


def results(request: Request, swept: Result) -> dict[Request, Result]:
    """The results of a sweep by what asked for them."""
    found = (Result.from_bytes(one.as_py()) for one in swept.tables["results"]["result"])
    return dict(zip(asked(request), found, strict=True))
