"""What a typed formula is: a scoring with its parameters, or what is wrong with it and where."""

from __future__ import annotations

import torch

from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.formula import described, package_of, spec_of
from dashboard.jobs.context import Context
from dashboard.records.request import Request
from dashboard.records.result import Result

_QUERY, _KEYS = 1.0, (0.0, 1.0, 2.0, 3.0)  # of the sample, numbers


def perform(request: Request, context: Context) -> Result:
    """Describe the formula that the option ``text`` is.

    Returns:
        The facts of :func:`attention_plugins.formula.described`. Where nothing is wrong, also
        what the catalogue says of a scoring, with the scores of a few numbers as ``description``,
        and ``files``: the package that the formula would be, by file name.

    Raises:
        ValueError: there is no such option.
    """
    text = dict(request.options).get("text")
    if not isinstance(text, str):
        raise ValueError("the task formula needs the option text, such as 'q.k / sqrt(d)'")
    facts = described(text)
    if facts["error"]:
        return Result(facts=facts)
    spec = spec_of(text)
    return Result(
        facts={
            **facts,
            "learns": bool(spec.parameters),
            "reference": spec.reference,
            "description": _sample(spec) if "regression" in spec.tasks else "",
            "files": package_of(text, facts["slug"].replace("_", "-")),
        }
    )


def _sample(spec: ScoringSpec) -> str:
    """The scores of a few keys, in a sentence."""
    scoring = spec.create(Sizes(1, 1, 1)).double()
    keys = torch.tensor(_KEYS, dtype=torch.float64)[:, None]
    with torch.no_grad():
        (scores,) = scoring(torch.full((1, 1), _QUERY, dtype=torch.float64), keys).tolist()
    pairs = zip(scores, _KEYS, strict=True)
    scored = ", ".join(f"{score + 0.0:.4g} for k = {key:g}" for score, key in pairs)  # not -0
    at = ", ".join(f"{each.name} = {each.default:g}" for each in spec.parameters)
    return f"In one dimension q = {_QUERY:g} scores {scored}{at and f' with {at}'}."
