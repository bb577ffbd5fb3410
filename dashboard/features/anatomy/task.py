"""One attention step taken apart; the masked softmax, the root and a landscape beside it."""

import math
from collections.abc import Callable

import pyarrow as pa
import torch
from torch import Tensor

from attention_plugins import Sizes
from attention_plugins.attention import as_mask, masked_softmax, masked_weights
from attention_plugins.randomness import seeded
from dashboard.features.anatomy import task_step
from dashboard.features.anatomy.task_step import Stages, number, options, scores_of, whole
from dashboard.features.anatomy.view import AT_X, AT_Y, COUNT, HIDDEN, LANDSCAPE, MASK, ROOT, STEP
from dashboard.jobs.task_tables import columns_table
from dashboard.jobs.tasks import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

SIDE = 41  # keys along each axis
_REACH = 3.0


def landscape(request: Request, context: Context) -> Result:
    """The scores of the query ``(x, y)`` against keys on a grid from -3 to 3.

    Returns:
        A table ``landscape``: ``x``, ``y`` of a key, its ``score``, and its ``weight`` among all
        keys of the grid.
    """
    given = options(request, "x", "y", "hidden")
    query = torch.tensor(
        [[[number(given, AT_X), number(given, AT_Y)]]], dtype=torch.get_default_dtype()
    )
    axis = torch.linspace(-_REACH, _REACH, SIDE)
    keys = torch.cartesian_prod(axis, axis)[None]
    scoring = task_step.scoring_factory(request)(Sizes(2, 2, whole(given, HIDDEN)))
    scores = scores_of(scoring, scoring.project_queries(query), scoring.project_keys(keys))
    weights = masked_weights(scores, None, scoring.normalise)
    context.report(0.9, gettext_noop("scored"))
    x, y = keys[0].unbind(dim=1)
    columns = {"x": x, "y": y, "score": scores[0, 0], "weight": weights[0, 0]}
    return Result(tables={"landscape": columns_table(columns)})


def masked_with_zero(scores: Tensor, allowed: Tensor) -> Tensor:
    """The softmax of scores whose padding was set to 0, as if 0 were nothing: ``exp(0)`` is 1."""
    return scores.masked_fill(~allowed, 0.0).softmax(dim=-1)


def overwritten(scores: Tensor, allowed: Tensor) -> Tensor:
    """What is left of a caller's scores when ``scores[~allowed] = 0`` is written into them.

    ``scores`` itself, of this process, is not changed.
    """
    callers = scores.clone()
    view = callers.reshape(-1, scores.shape[-1])  # no copy: the caller's own numbers
    view[~allowed.reshape(view.shape)] = 0.0
    return callers


def masked(request: Request, context: Context) -> Result:
    """Scores ``(B, n_q, n_k)`` masked by ``lengths``, rightly and wrongly.

    Returns:
        A table ``stages`` with ``scores allowed weights wrong callers again again_wrong``: the
        weights, those of masking with 0, the caller's scores after they were overwritten, and
        the softmax without lengths of the scores before and after. Facts: ``leak``, the weight
        that each row loses to padding by masking with 0, row by row of the batch.
    """
    given = options(request, "scores", "lengths")
    scores = task_step.tensor(given, "scores")
    mask = task_step.lengths(given, *scores.shape[:2])
    whole = torch.ones_like(scores, dtype=torch.bool)
    allowed = whole if mask is None else as_mask(mask, scores.shape).expand_as(scores)
    wrong, callers = masked_with_zero(scores, allowed), overwritten(scores, allowed)
    stages = Stages()
    for name, part in {
        "scores": scores, "allowed": allowed, "weights": masked_softmax(scores, mask),
        "wrong": wrong, "callers": callers, "again": scores.softmax(dim=-1),
        "again_wrong": callers.softmax(dim=-1),
    }.items():  # fmt: skip
        stages.add(name, "B n_q n_k", part)
    context.report(0.9, gettext_noop("masked"))
    leak = wrong.masked_fill(allowed, 0.0).sum(dim=-1).reshape(-1)
    return Result(tables={"stages": stages.table()}, facts={"leak": leak.tolist()})


DIMENSIONS = tuple(2**power for power in range(10))  # 1 to 512
_NUMBERS = 4_000_000  # drawn at once
_FEWEST, _MOST = 50, 2_000  # queries

Scores = Callable[[Tensor, Tensor], Tensor]


def root(request: Request, context: Context) -> Result:
    """Scores of queries and keys drawn from a standard normal, at each of :data:`DIMENSIONS`.

    Measured without the root (``dot``), with it (``scaled_dot``), and of the request's scoring
    where it is neither, with ``count`` keys per query.

    Returns:
        A table ``spread``: ``scoring``, ``d``, ``variance`` of all scores, and the mean over
        queries of the ``largest`` weight and of the ``entropy`` of the weights in nats.
    """
    given = options(request, "count", "hidden")
    count, hidden = whole(given, COUNT), whole(given, HIDDEN)
    rows = []
    for step, d in enumerate(DIMENSIONS):
        if context.stopped():
            raise Cancelled
        n_queries = min(max(_NUMBERS // (count * d), _FEWEST), _MOST)
        queries, keys = (_drawn(n_queries, each, d) for each in (1, count))
        for name, score in _compared(request, d, hidden).items():
            scores = score(queries, keys)
            weights = masked_softmax(scores)
            row = {
                "scoring": name, "d": d,
                "variance": float(scores[~scores.isneginf()].var()),  # of keys not ruled out
                "largest": float(weights.amax(dim=-1).mean()),
                "entropy": float(torch.special.entr(weights).sum(dim=-1).mean()),
            }  # fmt: skip
            rows.append(row)
        context.report((step + 1) / len(DIMENSIONS), gettext_noop("measured at d = {d}", d=d))
    return Result(tables={"spread": pa.Table.from_pylist(rows)})


def _drawn(*shape: int) -> Tensor:
    """Standard normals as float64, drawn as float32: in half the time, and as good a sample."""
    return torch.randn(shape, dtype=torch.float32).double()


def _compared(request: Request, d: int, hidden: int) -> dict[str, Scores]:
    compared: dict[str, Scores] = {
        "dot": lambda queries, keys: queries @ keys.mT,
        "scaled_dot": lambda queries, keys: queries @ keys.mT / math.sqrt(d),
    }
    if request.scoring and request.scoring not in compared:
        scoring = task_step.scoring_factory(request)(Sizes(d, d, hidden))
        compared[request.scoring] = lambda queries, keys: scores_of(
            scoring, scoring.project_queries(queries), scoring.project_keys(keys)
        )
    return compared


_PARTS: dict[str, Callable[[Request, Context], Result]] = {
    STEP: task_step.perform, MASK: masked, ROOT: root, LANDSCAPE: landscape,
}  # fmt: skip


def perform(request: Request, context: Context) -> Result:
    """Whatever the option ``part`` names; see the module of each.

    Raises:
        ValueError: an unknown part, scoring, model or option; numbers or lengths that do not
            fit; a scoring that gives scores of another shape.
        Cancelled: the job was stopped.
    """
    part = str(dict(request.options).get("part", STEP))
    if part not in _PARTS:
        raise ValueError(f"no part {part!r}; there are {', '.join(_PARTS)}")
    context.report(0.1, gettext_noop("reading the numbers"))
    with seeded(request.seed), task_step.double():
        return _PARTS[part](request, context)
