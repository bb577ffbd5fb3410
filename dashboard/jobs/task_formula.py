"""What a typed formula is: a scoring with its parameters, or what is wrong with it and where."""

import torch

from attention_plugins.attention import needs_of
from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.formula import completions, described, package_of, spec_of
from attention_plugins.registry import origin
from attention_plugins.scaffold import names_of
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

_QUERY, _KEYS = 1.0, (0.0, 1.0, 2.0, 3.0)  # of the sample, numbers


def perform(request: Request, context: Context) -> Result:
    """Describe the formula that the option ``text`` is.

    Returns:
        The facts of :func:`attention_plugins.formula.described`, and ``completions`` of the word
        that the text ends with; none where nothing is wrong, since that word is whole. Where
        nothing is wrong, also what the catalogue says of a scoring, with the scores of a few
        numbers as ``description`` and the fingerprint of the code that computes formulas, and
        ``files``: the package that the formula would be, by file name.

    With the option ``name`` the scoring of the package is called so, and so is ``slug``.

    Raises:
        ValueError: there is no text, or the name cannot be a package's.
    """
    text = dict(request.options).get("text")
    if not isinstance(text, str):
        raise ValueError("the task formula needs the option text, such as 'q.k / sqrt(d)'")
    facts = {**described(text), "completions": []}
    if facts["error"]:
        facts["completions"] = [
            each for each in completions(text, len(text))
            if each["insert"] and not each["insert"].startswith(each["word"])
        ]  # fmt: skip
        return Result(facts=facts)
    name = str(dict(request.options).get("name", ""))
    slug = names_of("-".join(name.split())).module if name else facts["slug"]
    spec = spec_of(text)
    return Result(
        facts={
            **facts, "learns": bool(spec.parameters), "plugin": {"code": origin(spec.name).code},
            "reference": spec.reference, "description": _sample(spec), "slug": slug,
            "files": package_of(text, slug.replace("_", "-")),
        }
    )  # fmt: skip


def _sample(spec: ScoringSpec) -> str:
    scoring = spec.create(Sizes(1, 1, 1)).double()
    keys = torch.tensor(_KEYS, dtype=torch.float64)[:, None]
    with torch.no_grad():
        query = torch.full((1, 1), _QUERY, dtype=torch.float64)
        (scores,) = scoring(query, keys, **needs_of(scoring, 1, keys)).tolist()
    scored = ", ".join(
        gettext_noop("{score:.4g} for k = {key:g}", score=score + 0.0, key=key)  # not -0
        for score, key in zip(scores, _KEYS, strict=True)
    )
    at = [f"{each.name} = {each.default:g}" for each in spec.parameters]
    at += ["i = 0", f"j = 0 to {len(_KEYS) - 1}"] if "positions" in scoring.needs else []
    if not at:
        return gettext_noop("In one dimension q = {q:g} scores {scored}.", q=_QUERY, scored=scored)
    return gettext_noop(
        "In one dimension q = {q:g} scores {scored} with {at}.",
        q=_QUERY, scored=scored, at=", ".join(at),
    )  # fmt: skip
