"""Layer norm beside batch norm: a small matrix, a padded batch, and add & norm."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, dropout, layer_norm

from attention_plugins.contract import ContractError, settle
from attention_plugins.randomness import seeded
from dashboard.features.norms.view import EXAMPLE, matrix_of
from dashboard.jobs.task_offers import offered
from dashboard.jobs.task_tables import matrix_table
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

OPTIONS = offered(__file__).OPTIONS
LENGTHS, SIZE = (5, 3), 4  # tokens of the two sentences, and their size d
_MATRIX = "x"


def perform(request: Request, context: Context) -> Result:
    """Normalise in every way that the page compares.

    Options of the request: ``x``, a matrix such as ``"1,2;2,3"``, and :data:`OPTIONS`; ``seed``
    draws the sentences and what dropout drops.

    Returns:
        Tables, each a matrix with columns ``c0``, ``c1``, …: ``x``; ``layer`` and ``batch`` (in
        training), ``evaluated`` (batch norm in evaluation); ``dropped``, ``added``, ``normed``
        (add & norm of x and x); ``change_features``, ``change_sequence``, ``change_batch``: by
        how much more padding moves each valid token (tokens x size). Facts: ``statistics``
        (``[means, variances]`` that ``layer`` used per row, ``batch`` and ``evaluated`` per
        column), ``eps``, ``lengths``, ``change``: the largest of each.

    Raises:
        ValueError: an option out of bounds, or text that is no such matrix.
    """
    options = dict(request.options)
    text = str(options.pop(_MATRIX, EXAMPLE))
    matrix, problem = matrix_of(text)
    if problem:
        raise ContractError(f"x={text[:40]!r}: {problem}")
    values = settle(OPTIONS, options)
    context.report(0.1, gettext_noop("normalising"))
    x = torch.tensor(matrix, dtype=torch.float64)
    generator = torch.Generator().manual_seed(request.seed)
    tables, facts = _both(x, float(values["momentum"]), int(values["batches"]))
    changes = _changes(int(values["padding"]), generator)
    # Post-norm in training, of an input x and a sublayer that gave x as well.
    with seeded(request.seed):  # dropout takes no generator
        dropped = dropout(x, float(values["dropout"]))
    added = x + dropped
    tables |= {"dropped": dropped, "added": added, "normed": layer_norm(added, added.shape[1:])}
    tables |= {f"change_{name}": change for name, change in changes.items()}
    return Result(
        tables={name: matrix_table(part) for name, part in tables.items()},
        facts={
            **facts,
            "lengths": list(LENGTHS),
            "change": {name: float(change.abs().max()) for name, change in changes.items()},
        },
    )


def _both(x: Tensor, momentum: float, batches: int) -> tuple[dict[str, Tensor], dict[str, Any]]:
    norm = nn.BatchNorm1d(x.shape[1], momentum=momentum, dtype=x.dtype)
    with torch.no_grad():
        trained = norm(x)
        norm.reset_running_stats()
        for _ in range(batches):
            norm(x)
        evaluated = norm.eval()(x)
    layer = layer_norm(x, x.shape[1:], eps=norm.eps)
    used = {
        "layer": (x.mean(1), x.var(1, correction=0)),
        "batch": (x.mean(0), x.var(0, correction=0)),
        "evaluated": (norm.running_mean, norm.running_var),
    }
    statistics = {name: [part.tolist() for part in parts] for name, parts in used.items()}
    tables = {"x": x, "layer": layer, "batch": trained, "evaluated": evaluated}
    return tables, {"statistics": statistics, "eps": norm.eps}


def _changes(padding: int, generator: torch.Generator) -> dict[str, Tensor]:
    """Valid outputs with more padding minus those with less: ``(tokens, size)`` per norm."""
    longest = max(LENGTHS)
    valid = torch.arange(longest) < torch.tensor(LENGTHS)[:, None]  # (sentences, longest)
    tokens = torch.randn(len(LENGTHS), longest, SIZE, dtype=torch.float64, generator=generator)
    short = tokens * valid[..., None]
    long = nn.functional.pad(short, (0, 0, 0, padding))
    norms = {
        "features": lambda x: layer_norm(x, x.shape[2:]),
        "sequence": lambda x: layer_norm(x, x.shape[1:]),
        "batch": lambda x: batch_norm(x.mT, None, None, training=True).mT,
    }
    return {n: norm(long)[:, :longest][valid] - norm(short)[valid] for n, norm in norms.items()}
