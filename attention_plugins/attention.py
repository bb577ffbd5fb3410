"""Attention, in one place: the scoring's seams, scores, weights, weighted values."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from attention_plugins.errors import ContractError
from attention_plugins.masking import (
    as_mask,
    masked_softmax,  # noqa: F401 - plugins import it from here
    masked_weights,
    part_of_mask,
    ruled_out,
    softmax,
)
from attention_plugins.randomness import dropout as drop

Need = Literal["positions", "memory", "queries", "mask", "scores"]
NEEDS: tuple[Need, ...] = ("positions", "memory", "queries", "mask", "scores")
# Of the queries before: a scoring that needs them meets one query at a time.
_EARLIER = ("memory", "scores")
Made = TypeVar("Made")


class Positions(NamedTuple):
    """Where queries ``(n_q,)`` and keys ``(n_k,)`` stand in their sequences, from 0; integers.

    Queries are counted through a whole decoding: the third word that is written is query 2,
    whether the words were scored all at once or one by one.
    """

    queries: Tensor
    keys: Tensor

    @property
    def distances(self) -> Tensor:
        """Key minus query, ``(n_q, n_k)``: negative for what came before."""
        return self.keys - self.queries[:, None]


def _of_any_needs(method: Callable[..., Made]) -> Callable[..., Made]:
    """To type checkers a method of any arguments: overriding ones name their needs."""
    return method


class Scoring(nn.Module):
    """A scoring function ``a(q, k)``: raw scores of every query against every key.

    It never masks and never moves devices. Only :meth:`forward` is a must. The projections are
    seams of their own so that keys are projected once, also while decoding; while decoding they
    may see one token at a time. In multi-head attention the heads' axis is the third from last:
    queries are ``(batch, heads, n_q, d_q)``. Queries may arrive in blocks. A score of minus
    infinity rules its key out: its weight is exactly 0.

    Attributes:
        needs: what :meth:`forward` and :meth:`pool` are given besides, as keyword arguments:
            ``"positions"`` (:class:`Positions`), and ``"memory"``: the weights of all earlier
            queries at this site, before dropout, ``(..., n_before, n_k)``; none at the first
            query. A scoring with memory meets one query at a time, in training too. ``"scores"``
            are the scores of these queries, of the same shape, and also one query at a time:
            minus infinity where a key was ruled out, or had not come. ``"mask"`` is boolean,
            ``(..., n_q or 1, n_k)``, and broadcasts to the scores; True: may attend.
            ``"queries"`` are the projected ones ``(..., n_q, d)``, for :meth:`pool` alone:
            :meth:`forward` is given them anyway.
        sums_to_one: whether each row of weights sums to 1 (or to 0, where every key is ruled out).
        signed: whether weights may be negative; their maps then have a scale of two sides.
        elements_per_pair: how many numbers :meth:`forward` makes of each query and key on its way
            to their score. A matrix product makes 1; an additive scoring makes a vector of the
            key's size, which None stands for. Blocks of queries are chosen by it so that they stay
            in cache: a wrong number costs time or memory, never a result.
        normaliser: scores to weights, as chosen beside the scoring; None is the softmax.
    """

    needs: tuple[Need, ...] = ()
    sums_to_one: bool = True
    signed: bool = False
    elements_per_pair: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.normaliser: nn.Module | None = None

    def project_queries(self, queries: Tensor) -> Tensor:
        """Queries ``(..., n_q, d_q)`` into the space where they are compared."""
        return queries

    def project_keys(self, keys: Tensor) -> Tensor:
        """Keys ``(..., n_k, d_k)`` into the space where they are compared."""
        return keys

    @_of_any_needs
    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        """Projected queries and keys to scores ``(..., n_q, n_k)``.

        ``needs``: what :attr:`needs` names, but for the queries; nothing else is passed.
        """
        raise NotImplementedError(f"{type(self).__name__} needs forward(queries, keys)")

    def normalise(self, scores: Tensor) -> Tensor:
        """Scores ``(..., n_q, n_k)`` to weights of the same shape.

        Keys that are ruled out have the lowest finite score here, and weight 0 afterwards,
        whatever is returned for them. Override this to change the weights of whatever normaliser
        was chosen, by way of ``super().normalise(scores)``.
        """
        return softmax(scores) if self.normaliser is None else self.normaliser(scores)

    @_of_any_needs
    def pool(self, weights: Tensor, values: Tensor, **needs: Any) -> Tensor:
        """Weights ``(..., n_q, n_k)`` and values ``(..., n_k, d_v)`` to ``(..., n_q, d_v)``.

        ``needs``: what :attr:`needs` names.
        """
        return weights @ values


class Product(NamedTuple):
    """Scores as a matrix product: ``scale * queries @ keys.mT``.

    ``queries (..., n_q, r)`` and ``keys (..., n_k, r)``.
    """

    queries: Tensor
    keys: Tensor
    scale: float = 1.0


class ProductScoring(Scoring):
    """A scoring whose scores are products ``q' . k'`` of vectors of the query and of the key.

    Where nobody asks for the weights, the output is computed by
    :func:`torch.nn.functional.scaled_dot_product_attention`, which never holds all scores. Either
    :meth:`factors` or the projections say what is multiplied; as they stand, projected queries
    and keys are. A class that overrides :meth:`forward` alone is attended with by its scores.
    """

    elements_per_pair = 1

    @_of_any_needs
    def factors(self, queries: Tensor, keys: Tensor, **needs: Any) -> Product:
        """Projected queries ``(..., n_q, d)`` and keys ``(..., n_k, d)`` to what is multiplied.

        Where :meth:`forward` is overridden too, a number for each query may be missing here: the
        softmax does not see it.

        ``needs``: as in :meth:`forward`.
        """
        return Product(queries, keys)

    @_of_any_needs
    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        """The product of the :meth:`factors`."""
        queries, keys, scale = self.factors(queries, keys, **needs)
        # The queries are scaled, not the scores: fewer numbers, and none grows large on the way.
        return (queries if scale == 1.0 else queries * scale) @ keys.mT


class KernelScoring(Scoring):
    """A scoring whose weights are a kernel ``phi(q) . psi(k)``, divided by each row's sum.

    The kernel is never negative, though single features may be; a key where it is 0 is ruled out.
    Where nobody asks for the weights, the output is computed in time and memory linear in queries
    and keys: ``phi(Q) (psi(K)^T V)``.

    Katharopoulos et al. 2020, Transformers are RNNs, section 3.2.
    """

    elements_per_pair = 1

    @_of_any_needs
    def query_features(self, queries: Tensor, **needs: Any) -> Tensor:
        """Projected queries to ``phi(q)``, ``(..., n_q, r)``.

        ``needs``: those that :meth:`forward` is given and this method has an argument for.
        """
        raise NotImplementedError(f"{type(self).__name__} needs query_features(queries)")

    @_of_any_needs
    def key_features(self, keys: Tensor, **needs: Any) -> Tensor:
        """Projected keys to ``psi(k)``, ``(..., n_k, r)``.

        ``needs``: as in :meth:`query_features`.
        """
        raise NotImplementedError(f"{type(self).__name__} needs key_features(keys)")

    @_of_any_needs
    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        """``log(phi(q) . psi(k))``, so that a softmax divides the kernel by its sum."""
        asks = self.query_features(queries, **taken(self.query_features, needs))
        kernel = asks @ self.key_features(keys, **taken(self.key_features, needs)).mT
        # Not below the smallest normal number: the gradient of log at 0 would be infinite.
        logarithms = kernel.clamp_min(torch.finfo(kernel.dtype).tiny).log()
        return logarithms.masked_fill(kernel <= 0.0, -torch.inf)


def taken(method: Callable[..., Any], needs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the needs that a method has an argument for: features of 1.1 have none."""
    names = _arguments(getattr(method, "__func__", method))
    return dict(needs) if names is None else {n: needs[n] for n in needs if n in names}


@cache
def _arguments(function: Callable[..., Any]) -> frozenset[str] | None:
    """The names of a function's arguments; None where it takes any."""
    arguments = inspect.signature(function).parameters.values()
    takes_any = any(each.kind is each.VAR_KEYWORD for each in arguments)
    return None if takes_any else frozenset(each.name for each in arguments)


def needs_of(
    scoring: Scoring, n_queries: int, keys: Tensor, first: int = 0, memory: Tensor | None = None,
    key_positions: Tensor | None = None, mask: Tensor | None = None, scores: Tensor | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What :meth:`Scoring.forward` is given besides queries and keys, see :attr:`Scoring.needs`.

    The mask is boolean; the other arguments are as those of :class:`Inputs`. :func:`pooled`
    adds what ``pool`` is given besides.
    """
    asked: dict[str, Any] = {}
    if "positions" in scoring.needs:
        counted = torch.arange(first, first + n_queries, device=keys.device)
        if key_positions is None:
            key_positions = torch.arange(keys.shape[-2], device=keys.device)
        asked["positions"] = Positions(counted, key_positions)
    if "memory" in scoring.needs:
        asked["memory"] = _none_before(keys) if memory is None else memory
    if "scores" in scoring.needs:
        asked["scores"] = _none_before(keys) if scores is None else scores
    if "mask" in scoring.needs:
        asked["mask"] = _rows_of(mask, n_queries, keys)
    return asked


def _none_before(keys: Tensor) -> Tensor:
    return keys.new_zeros(*keys.shape[:-2], 0, keys.shape[-2])


def _rows_of(mask: Tensor | None, n_queries: int, keys: Tensor) -> Tensor:
    """A mask with a row for all queries or for each, and a column for every key."""
    if mask is None:
        return torch.ones(n_queries, keys.shape[-2], dtype=torch.bool, device=keys.device)
    mask = mask[None] if mask.dim() == 1 else mask
    return mask.expand(*mask.shape[:-1], keys.shape[-2])


def weigh(
    scoring: Scoring, queries: Tensor, keys: Tensor, mask: Tensor | None = None,
    needs: Mapping[str, Any] | None = None,
) -> Tensor:  # fmt: skip
    """The weights ``(..., n_q, n_k)`` of projected queries and keys, with what was asked for."""
    return masked_weights(scored(scoring, queries, keys, needs), mask, scoring.normalise)


def scored(
    scoring: Scoring, queries: Tensor, keys: Tensor, needs: Mapping[str, Any] | None = None
) -> Tensor:
    """The scores ``(..., n_q, n_k)`` of projected queries and keys.

    ContractError: the scoring returned another shape, which might broadcast over the batch unseen.
    """
    scores = scoring(queries, keys, **(needs or {}))
    if scores.shape == (*queries.shape[:-1], keys.shape[-2]):
        return scores
    wanted = (*together(queries.shape[:-2], keys.shape[:-2]), queries.shape[-2], keys.shape[-2])
    if scores.shape != wanted:
        raise ContractError(
            f"the scoring returned scores {tuple(scores.shape)} of queries {tuple(queries.shape)} "
            f"and keys {tuple(keys.shape)}, need {wanted}; compare each query with each key, as "
            "queries.unsqueeze(-2) - keys.unsqueeze(-3) does, or multiply by keys.mT"
        )
    return scores


def together(*shapes: torch.Size) -> tuple[int, ...]:
    """What tensors of these shapes broadcast to; torch's own way imports sympy."""
    rank = max(map(len, shapes))
    filled = ((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*filled, strict=True))


Kind_co = TypeVar("Kind_co", bound=Scoring, covariant=True)


@dataclass(frozen=True, eq=False)
class Inputs(Generic[Kind_co]):
    """What one site attends with.

    Attributes:
        keys: ``(..., n_k, d_k)``, or what ``scoring.project_keys`` made of them.
        mask: see :func:`masked_softmax`.
        dropout: share of weights dropped, after normalising; 0 outside training.
        first: the number of the first query, for scorings that need positions.
        memory: weights of the queries before it ``(..., first, n_k)``, for those that need them.
        scores: and their scores, minus infinity where a key was ruled out.
        key_positions: where the keys stand ``(n_k,)``; None: in their order, from 0.
    """

    scoring: Kind_co
    queries: Tensor
    keys: Tensor
    values: Tensor
    mask: Tensor | None = None
    dropout: float = 0.0
    keys_projected: bool = False
    first: int = 0
    memory: Tensor | None = None
    key_positions: Tensor | None = None
    scores: Tensor | None = None

    def with_projected_keys(self) -> "Inputs[Kind_co]":
        """The same, with keys where they are compared."""
        if self.keys_projected:
            return self
        return replace(self, keys=self.scoring.project_keys(self.keys), keys_projected=True)

    def allowed(self) -> Tensor | None:
        """The mask as a boolean one that broadcasts to the scores."""
        shape = torch.Size((*self.queries.shape[:-1], self.keys.shape[-2]))
        return None if self.mask is None else as_mask(self.mask, shape)

    def needs(self) -> dict[str, Any]:
        """What the scoring asks for; see :func:`needs_of`."""
        return needs_of(
            self.scoring, self.queries.shape[-2], self.keys, self.first, self.memory,
            self.key_positions, self.allowed() if "mask" in self.scoring.needs else None,
            self.scores,
        )  # fmt: skip


def attend(
    scoring: Scoring, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, *,
    dropout: float = 0.0, keys_projected: bool = False, first: int = 0,
    memory: Tensor | None = None, key_positions: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``normalise(mask(a(Q, K))) V``, where ``normalise`` is the softmax unless another is chosen.

    For the arguments see :class:`Inputs`.

    Returns the output ``(..., n_q, d_v)`` and the weights ``(..., n_q, n_k)`` before dropout.
    """
    return attend_with(Inputs(
        scoring, queries, keys, values, mask, dropout, keys_projected, first, memory, key_positions
    ))  # fmt: skip


def attend_with(inputs: Inputs[Scoring]) -> tuple[Tensor, Tensor]:
    """See :func:`attend`."""
    inputs = inputs.with_projected_keys()
    if remembers(inputs.scoring) and inputs.queries.shape[-2] != 1:
        output, (weights, _) = attend_in_turn(inputs, lambda one, _: attend_to_one(one))
        return output, weights[..., -inputs.queries.shape[-2] :, :]
    return attend_to_one(inputs)[:2]


def attend_to_one(inputs: Inputs[Scoring]) -> tuple[Tensor, Tensor, Tensor | None]:
    """Output, weights and scores of queries that need not know of each other; keys projected.

    The scores are None unless the scoring needs those of earlier queries.
    """
    scoring, needs = inputs.scoring, inputs.needs()
    asked = scoring.project_queries(inputs.queries)
    scores = None
    if "scores" in scoring.needs:
        scores = scored(scoring, asked, inputs.keys, needs)
        weights = masked_weights(scores, inputs.mask, scoring.normalise)
    else:
        weights = weigh(scoring, asked, inputs.keys, inputs.mask, needs)
    output = pooled(scoring, weights, inputs.values, needs, asked=asked, dropout=inputs.dropout)
    if scores is not None and (forbidden := ruled_out(scores, inputs.mask)) is not None:
        scores = scores.masked_fill(forbidden, -torch.inf)
    return output, weights, scores


def pooled(
    scoring: Scoring, weights: Tensor, values: Tensor, needs: Mapping[str, Any], *,
    asked: Tensor | None = None, dropout: float = 0.0,
) -> Tensor:  # fmt: skip
    """The values under weights that are known, ``(..., n_q, d_v)``.

    ``needs`` are those of forward; ``asked``, the projected queries, is for scorings that need it.
    """
    if "queries" in scoring.needs:
        needs = {**needs, "queries": asked}
    return scoring.pool(drop(weights, dropout) if dropout else weights, values, **needs)


class Earlier(NamedTuple):
    """Weights, and scores if they are needed, of queries and of those before, a row for each."""

    weights: Tensor
    scores: Tensor | None


def attend_in_turn(
    inputs: Inputs[Scoring],
    step: Callable[[Inputs[Scoring], Tensor | None], tuple[Tensor, Tensor, Tensor | None]],
) -> tuple[Tensor, Earlier]:
    """One query after the other, each with weights and scores of those before it.

    ``step`` makes output, weights and scores of one query and of the boolean mask of it and of
    all after it. The output is ``(..., n_q, d_v)``; what was remembered comes before what is new.
    """
    allowed = inputs.allowed()
    outputs = []
    rows, marks = ([] if kept is None else [kept] for kept in (inputs.memory, inputs.scores))
    for number in range(inputs.queries.shape[-2]):
        part = slice(number, number + 1)
        one = replace(
            inputs, queries=inputs.queries[..., part, :], mask=part_of_mask(allowed, part),
            first=inputs.first + number, memory=torch.cat(rows, dim=-2) if rows else None,
            scores=torch.cat(marks, dim=-2) if marks else None,
        )  # fmt: skip
        output, weights, scores = step(one, part_of_mask(allowed, slice(number, None)))
        outputs.append(output)
        rows.append(weights)
        marks += [] if scores is None else [scores]
    earlier = Earlier(torch.cat(rows, dim=-2), torch.cat(marks, dim=-2) if marks else None)
    return torch.cat(outputs, dim=-2), earlier


def remembers(scoring: Scoring) -> bool:
    """Whether a scoring asks for weights or scores of earlier queries."""
    return any(need in scoring.needs for need in _EARLIER)


def needs_memory(model: Any) -> bool:
    """Whether a scoring in a model (an ``nn.Module``) asks for what earlier queries got."""
    return any(remembers(m) for m in model.modules() if isinstance(m, Scoring))


def rows_sum_to_one(model: Any) -> bool:
    """Whether a model (an ``nn.Module``) makes rows that sum to 1, and so does all that is in it.

    Scorings, attention layers and models say so by an attribute ``sums_to_one``.
    """
    return all(getattr(m, "sums_to_one", True) is not False for m in model.modules())


def weights_are_signed(model: Any) -> bool:
    """Whether a part of a model (an ``nn.Module``) says by ``signed`` that weights may be < 0."""
    return any(getattr(m, "signed", False) is True for m in model.modules())
