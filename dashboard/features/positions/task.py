"""Sinusoidal positions: the encoding, how it comes about, and the rotation that shifts it."""

import pyarrow as pa
import torch

from attention_plugins.contract import ContractError, settle
from attention_plugins.models.parts import angular_frequencies, sinusoidal_positions
from dashboard.jobs.task_offers import offered
from dashboard.jobs.task_tables import columns_table, matrix_table
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

OPTIONS = offered(__file__).OPTIONS
_DTYPE = torch.float64


def perform(request: Request, context: Context) -> Result:
    """Everything about one size: :data:`OPTIONS` are the request's options.

    Returns:
        Tables, each a matrix with columns ``c0``, ``c1``, …: ``encoding`` (positions x size),
        ``bits`` (positions x bits, the lowest bit first), ``similarity`` (dot products of the
        rows), ``flow_*`` (the steps of a small encoding, in the order of ``flow``); and
        ``by_distance`` (``distance``, ``value``). Facts: ``shapes`` of the flow, ``wavelengths``
        per pair in positions, ``rotation`` (see :func:`_rotation`), ``similarity_spread``: by how
        much two dot products over the same distance differ at most.

    Raises:
        ValueError: an option out of bounds, or a pair, a position or tokens beyond the size.
    """
    options = {name: int(value) for name, value in settle(OPTIONS, dict(request.options)).items()}
    size, count = options["size"], options["positions"]
    ends = {"pair": size // 2 - 1, "position": count - 1, "flow_tokens": options["flow_rows"]}
    for name, most in ends.items():
        if (value := options[name]) > most:
            raise ContractError(f"need {name} <= {most} here, got {name}={value}")
    context.report(0.1, gettext_noop("encoding the positions"))
    positions = torch.arange(count, dtype=_DTYPE)
    encoding = sinusoidal_positions(positions, size, _DTYPE)
    similarity = encoding @ encoding.T
    by_distance, spread = _by_distance(similarity)
    flow = _flow(options)
    digits = torch.arange((count - 1).bit_length())  # the lowest first
    bits = (torch.arange(count)[:, None] >> digits & 1).to(_DTYPE)
    tables = {"encoding": encoding, "bits": bits, "similarity": similarity}
    tables |= {f"flow_{name}": step.reshape(-1, step.shape[-1]) for name, step in flow.items()}
    return Result(
        tables={
            **{name: matrix_table(matrix) for name, matrix in tables.items()},
            "by_distance": by_distance,
        },
        facts={
            "shapes": {name: list(step.shape) for name, step in flow.items()},
            "wavelengths": (2 * torch.pi / angular_frequencies(size, positions)).tolist(),
            "rotation": _rotation(positions, size),
            "similarity_spread": spread,
        },
    )


def _by_distance(similarity: torch.Tensor) -> tuple[pa.Table, float]:
    diagonals = [similarity.diagonal(k) for k in range(len(similarity))]
    table = columns_table({
        "distance": torch.arange(len(similarity), dtype=_DTYPE),
        "value": torch.stack([part.mean() for part in diagonals]),
    })  # fmt: skip
    return table, max(float(part.max() - part.min()) for part in diagonals)


def _flow(options: dict[str, int]) -> dict[str, torch.Tensor]:
    """The steps from positions to ``X + P``, small enough to be written out whole."""
    size, tokens = options["flow_size"], options["flow_tokens"]
    rows = torch.arange(options["flow_rows"], dtype=_DTYPE)[:, None]
    divisors = 1 / angular_frequencies(size, rows)
    encoding = sinusoidal_positions(rows[:, 0], size, _DTYPE)
    tokens_in = torch.zeros(1, tokens, size, dtype=_DTYPE)
    return {
        "positions": rows, "divisors": divisors, "angles": rows / divisors,
        "sines": encoding[:, 0::2], "cosines": encoding[:, 1::2], "encoding": encoding[None],
        "output": tokens_in + encoding[None, :tokens],
    }  # fmt: skip


def _rotation(positions: torch.Tensor, size: int) -> dict[str, float]:
    """How well a turn carries i to i + δ (equation 10.6.3 of *Dive into Deep Learning*).

    Returns:
        ``deviation``: the largest over all positions, all pairs and all offsets that can be set;
        ``compared``: how many points these are.
    """
    complete = size // 2 * 2  # the last sine of an odd size has no cosine to turn with
    (offset,) = (each for each in OPTIONS if each.name == "offset")
    low, high = map(int, offset.bounds)
    count, offsets = len(positions), torch.arange(low, high + 1, dtype=_DTYPE)
    angles = offsets[:, None, None] * angular_frequencies(size, positions)[: size // 2, None]
    here, there = (
        sinusoidal_positions(places, size, _DTYPE)[:, :complete].unflatten(-1, (-1, 2))
        for places in (positions, torch.arange(low, high + count, dtype=_DTYPE))
    )  # (places, pairs, 2)
    sines, cosines = here.permute(2, 1, 0)
    ends = there.unfold(0, count, 1).permute(2, 0, 1, 3)  # (2, offsets, pairs, positions)
    turned = (
        angles.cos() * sines + angles.sin() * cosines,
        angles.cos() * cosines - angles.sin() * sines,
    )
    misses = (torch.stack(turned) - ends).abs()
    return {"deviation": float(misses.max()), "compared": misses[0].numel()}
