"""One attention step with every tensor on its way, for any scoring and any encoding model."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

import pyarrow as pa
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop

from attention_plugins import ModelSizes, Site, Sizes, Tap, attention, contract, registry
from attention_plugins.attention import Scoring
from attention_plugins.contract import ContractError, Scalar, ScoringFactory
from attention_plugins.layers import merge_heads, split_heads
from attention_plugins.scorings.additive import Additive
from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.view import DROPOUT, HEAD_COUNT, HIDDEN
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.attending import normaliser_of, without_normaliser
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result

DTYPE = torch.float64


def options(request: Request, *names: str) -> dict[str, Scalar]:
    """The request's options but the normaliser's; ContractError for one not among ``names``."""
    given = without_normaliser(dict(request.options))
    for name in given.keys() - {"part", *names}:
        raise ContractError(f"no option {name!r}; offered: {', '.join(names)}")
    return given


def number(given: dict[str, Scalar], parameter: Parameter) -> float:
    """The option that a parameter sets; ContractError if it is no number within its bounds."""
    value = given.get(parameter.name, parameter.default)
    return float(contract.Parameter(**asdict(parameter)).check(value))


def whole(given: dict[str, Scalar], parameter: Parameter) -> int:
    """The option of a parameter that takes whole numbers, as :func:`number` gives it."""
    return int(number(given, parameter))


def tensor(given: dict[str, Scalar], name: str) -> Tensor:
    """The option's numbers as ``(B, n, d)``; ContractError for a text that is no tensor."""
    text = given.get(name)
    if not isinstance(text, str) or not text:
        raise ContractError(f"need numbers for {name}, got {text!r}")
    try:
        return torch.tensor(tensors.read(text, tensors.shape_of(text)), dtype=DTYPE)
    except tensors.TensorError as error:
        raise ContractError(f"{name}: {error}") from error


def lengths(given: dict[str, Scalar], batch: int, queries: int) -> Tensor | None:
    """Valid lengths ``(B,)`` or ``(B, n_q)``, or None; ContractError for any other text."""
    text = given.get("lengths", "")
    try:
        read = tensors.lengths(tensors.read_lengths(str(text), batch, queries))
    except tensors.TensorError as error:
        raise ContractError(f"lengths: {error}") from error
    if not read:
        return None
    per_row = len(read) == 1 and len(read[0]) == batch
    return torch.tensor(read[0] if per_row else read)


def scoring_factory(request: Request) -> ScoringFactory:
    """What builds the request's scoring with its normaliser, the parameters of both set.

    ContractError: unknown name, parameter out of bounds, or a normaliser where none is taken.
    """
    return registry.installed().scoring_factory(
        request.scoring, dict(request.parameters), *normaliser_of(dict(request.options))
    )


def scores_of(
    scoring: Scoring, queries: Tensor, keys: Tensor, needs: Mapping[str, Any] | None = None
) -> Tensor:
    """Scores ``(..., n_q, n_k)`` of projected queries and keys; ContractError for another shape.

    ``needs`` are by default those of the first queries.
    """
    if needs is None:
        needs = attention.needs_of(scoring, queries.shape[-2], keys)
    scores = scoring(queries, keys, **needs)
    wanted = (*queries.shape[:-1], keys.shape[-2])
    if not isinstance(scores, Tensor) or tuple(scores.shape) != wanted:
        got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ContractError(f"the scoring must give scores of shape {wanted}, got {got}")
    return scores


@contextmanager
def double() -> Iterator[None]:
    """Modules built inside have weights of float64, and nothing keeps a graph."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(DTYPE)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(before)


_SCHEMA = pa.schema([
    ("name", pa.string()), ("axes", pa.list_(pa.string())), ("shape", pa.list_(pa.int32())),
    ("values", pa.list_(pa.float64())),
])  # fmt: skip


class Stages:
    """Tensors in the order in which they are made, each with the names of its axes."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def add(self, name: str, axes: str, values: Tensor) -> Tensor:
        """Keep ``values``, whose axes are named by words; the same tensor."""
        self._rows.append({
            "name": name,
            "axes": axes.split(),
            "shape": list(values.shape),
            "values": values.double().reshape(-1).numpy(),
        })  # fmt: skip
        return values

    def table(self) -> pa.Table:
        """One row per tensor: ``name``, ``axes``, ``shape``, and ``values`` in C order."""
        return pa.Table.from_pylist(self._rows, schema=_SCHEMA)


_AXES = {"q": "n_q", "k": "n_k", "v": "n_k"}


class Attended(NamedTuple):
    """What reaches the scoring: ``(B, n, d)``, or ``(B, H, n, d)`` with heads."""

    scoring: Scoring
    queries: Tensor
    keys: Tensor
    values: Tensor
    mask: Tensor | None
    keys_projected: bool = False


class _Probe(Tap):
    """A tap that keeps what a model attends with."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Attended] = []

    def attend(
        self, site: Site, scoring: Scoring, queries: Tensor, keys: Tensor, values: Tensor,
        mask: Tensor | None = None, **how: Any,
    ) -> Tensor:  # fmt: skip
        self.seen.append(
            Attended(scoring, queries, keys, values, mask, how.get("keys_projected", False))
        )
        return super().attend(site, scoring, queries, keys, values, mask, **how)


def perform(request: Request, context: Context) -> Result:
    """Queries, keys and values as given, through heads, or through a model, to the output.

    Options: ``q``, ``k``, ``v`` and ``lengths`` as text (a model reads its sequence from ``q``),
    ``heads`` (0 for none), ``hidden``, ``dropout``; ``w_q``, ``w_k``, ``w_v``, which make
    queries, keys and values of the one sequence ``q``.

    Returns:
        A table ``stages``, see :meth:`Stages.table`: ``q k v``, what projections make of them
        (``linear_q`` …, ``split_q`` …, or ``model_q`` …; ``w_q`` … of ``x``), ``projected_q
        projected_k scores allowed weights dropped pooled``, with heads also ``merged`` and
        ``mixed``, of a model ``encoded``; of an additive scoring ``sums features vector``. Facts:
        whether the scoring compares queries and keys ``as_they_are``, whether everything is
        ``finite`` but scores of minus infinity, whether rows of weights should be ``sums_to_one``,
        what the scoring ``needs`` beside queries and keys, how often a model ``attends``.
    """
    given = options(request, *"qkv", "lengths", "heads", "hidden", "dropout", *_WEIGHTS)
    stages, facts = Stages(), {}
    if request.model:
        attended, facts["attends"] = _through_model(request, given, stages)
        _walk(attended, given, stages)
        return _result(stages, facts, attended)
    if given.keys() & _WEIGHTS:
        attended = _projected(request, given, stages)
        _walk(attended, given, stages)
        return _result(stages, facts, attended)
    q, k, v = (stages.add(n, f"B {_AXES[n]} d_{n}", tensor(given, n)) for n in "qkv")
    if len({len(q), len(k), len(v)}) > 1 or k.shape[1] != v.shape[1]:
        raise ContractError(
            "need q, k and v of one batch, and a value for every key; got "
            f"{tuple(q.shape)}, {tuple(k.shape)}, {tuple(v.shape)}"
        )
    mask = lengths(given, len(q), q.shape[1])
    if given.get("heads"):
        attended, mix = _through_heads(request, given, stages, (q, k, v, mask))
        merged = stages.add("merged", "B n_q H·d", merge_heads(_walk(attended, given, stages)))
        stages.add("mixed", "B n_q p", mix(merged))
    else:
        sizes = Sizes(q.shape[-1], k.shape[-1], whole(given, HIDDEN), value=v.shape[-1])
        attended = Attended(scoring_factory(request)(sizes), q, k, v, mask)
        _walk(attended, given, stages)
    context.report(0.9, gettext_noop("done"))
    return _result(stages, facts, attended)


def _through_heads(
    request: Request, given: dict[str, Scalar], stages: Stages,
    inputs: tuple[Tensor, Tensor, Tensor, Tensor | None],
) -> tuple[Attended, nn.Linear]:  # fmt: skip
    """Projected without biases and cut into heads; also what mixes the heads afterwards."""
    hidden, heads = whole(given, HIDDEN), whole(given, HEAD_COUNT)
    if hidden % heads:
        raise ContractError(f"need heads that divide the hidden size {hidden}, got {heads}")
    *parts, mask = inputs
    layers = [nn.Linear(part.shape[-1], hidden, bias=False) for part in parts]
    mix = nn.Linear(hidden, hidden, bias=False)
    linear = {
        name: stages.add(f"linear_{name}", f"B {_AXES[name]} H·d", layer(part))
        for name, part, layer in zip("qkv", parts, layers, strict=True)
    }
    q, k, v = (
        stages.add(f"split_{name}", f"B H {_AXES[name]} d", split_heads(part, heads))
        for name, part in linear.items()
    )
    size = hidden // heads
    sizes = Sizes(size, size, size, heads=heads, value=size)
    return Attended(scoring_factory(request)(sizes), q, k, v, mask), mix


_WEIGHTS = ("w_q", "w_k", "w_v")


def _projected(request: Request, given: dict[str, Scalar], stages: Stages) -> Attended:
    """Queries, keys and values as given matrices make them of one sequence."""
    x = stages.add("x", "B n d", tensor(given, "q"))
    weights = [tensor(given, name)[0] for name in _WEIGHTS]
    if {w.shape for w in weights} != {(x.shape[-1], weights[0].shape[-1])}:
        shapes = ", ".join(str(tuple(w.shape)) for w in weights)
        raise ContractError(f"need three matrices ({x.shape[-1]}, h) of one shape, got {shapes}")
    for name, weight in zip(_WEIGHTS, weights, strict=True):
        stages.add(name, "d h", weight)
    q, k, v = (
        stages.add(f"model_{name}", f"B {_AXES[name]} h", x @ weight)
        for name, weight in zip("qkv", weights, strict=True)
    )
    sizes = Sizes(q.shape[-1], k.shape[-1], whole(given, HIDDEN), value=v.shape[-1])
    mask = lengths(given, len(x), x.shape[1])
    return Attended(scoring_factory(request)(sizes), q, k, v, mask)


def _through_model(
    request: Request, given: dict[str, Scalar], stages: Stages
) -> tuple[Attended, int]:
    """What a model's first attention is given, and how often it attends."""
    spec = registry.installed().model(request.model)
    if spec.task != "encoding":
        raise ContractError(f"model {spec.name!r} is for {spec.task}; need one for encoding")
    sequence = stages.add("x", "B n d", tensor(given, "q"))
    known = lengths(given, len(sequence), 0)
    valid = torch.full((len(sequence),), sequence.shape[1]) if known is None else known
    sizes = ModelSizes(sequence.shape[-1], whole(given, HIDDEN))
    model = spec.create(scoring_factory(request), sizes).eval()
    probe = _Probe()
    encoded = model(sequence, valid, probe)
    if not probe.seen or probe.seen[0].queries.dim() not in (3, 4):
        raise ContractError(
            f"model {spec.name!r} must attend through its tap, with queries (B, n, d) or "
            "(B, H, n, d)"
        )
    attended = probe.seen[0]
    leading = "B H" if attended.queries.dim() == 4 else "B"
    for name, part in zip("qkv", attended[1:4], strict=True):
        stages.add(f"model_{name}", f"{leading} {_AXES[name]} h", part)
    stages.add("encoded", "B n h", encoded)
    return attended, len(probe.seen)


def _walk(attended: Attended, given: dict[str, Scalar], stages: Stages) -> Tensor:
    scoring, queries, keys, values, mask, projected = attended
    leading = "B H" if queries.dim() == 4 else "B"
    of_queries = scoring.project_queries(queries)
    of_keys = keys if projected else scoring.project_keys(keys)
    stages.add("projected_q", f"{leading} n_q h", of_queries)
    stages.add("projected_k", f"{leading} n_k h", of_keys)
    if isinstance(scoring, Additive):
        sums = of_queries.unsqueeze(-2) + of_keys.unsqueeze(-3)
        stages.add("sums", f"{leading} n_q n_k h", sums)
        stages.add("features", f"{leading} n_q n_k h", sums.tanh())
        stages.add("vector", "h", scoring.weight.weight[0])
    shape = torch.Size((*of_queries.shape[:-1], of_keys.shape[-2]))
    allowed = torch.ones(shape, dtype=torch.bool)
    if mask is not None:
        allowed = attention.as_mask(mask, shape).expand(shape)
    scores, weights = _weighed(scoring, of_queries, of_keys, allowed)
    for name, part in (("scores", scores), ("allowed", allowed), ("weights", weights)):
        stages.add(name, f"{leading} n_q n_k", part)
    rate = number(given, DROPOUT)
    dropped = stages.add("dropped", f"{leading} n_q n_k", drop(weights, rate) if rate else weights)
    needs = attention.needs_of(scoring, shape[-2], of_keys, mask=allowed)
    output = attention.pooled(scoring, dropped, values, needs, asked=of_queries)
    return stages.add("pooled", f"{leading} n_q d_v", output)


def _weighed(
    scoring: Scoring, queries: Tensor, keys: Tensor, allowed: Tensor
) -> tuple[Tensor, Tensor]:
    """Scores and weights ``(..., n_q, n_k)``; one query after the other where it remembers."""
    together = 1 if attention.remembers(scoring) else queries.shape[-2]
    nothing = allowed.new_zeros((*allowed.shape[:-2], 0, allowed.shape[-1])).to(keys)
    scores, known, weights = [], [nothing], [nothing]
    for first in range(0, queries.shape[-2], together):
        part = slice(first, first + together)
        asked, seen = queries[..., part, :], allowed[..., part, :]
        needs = attention.needs_of(
            scoring, asked.shape[-2], keys, first, torch.cat(weights, dim=-2),
            mask=seen, scores=torch.cat(known, dim=-2),
        )  # fmt: skip
        scores.append(scores_of(scoring, asked, keys, needs))
        known.append(scores[-1].masked_fill(~seen, -torch.inf))
        weights.append(attention.masked_weights(scores[-1], seen, scoring.normalise))
    return torch.cat(scores, dim=-2), torch.cat(weights, dim=-2)


def _result(stages: Stages, facts: dict[str, Any], attended: Attended) -> Result:
    table = stages.table()
    finite = True
    for name, values in zip(table["name"].to_pylist(), table["values"].to_pylist(), strict=True):
        part = torch.tensor(values)
        # A score of minus infinity is an answer: this key is ruled out.
        ruled_out = torch.isneginf(part) & (name == "scores")
        finite &= bool((torch.isfinite(part) | ruled_out).all())
    facts |= {
        "finite": finite,
        "sums_to_one": attention.rows_sum_to_one(attended.scoring),
        "needs": [*attended.scoring.needs],
        "as_they_are": attended.scoring.project_queries(attended.queries) is attended.queries,
        "torch": str(torch.__version__),
    }
    return Result(tables={"stages": table}, facts=facts)
