"""Convolution, recurrence and self-attention side by side: measured here, or as recorded."""

from __future__ import annotations

import time

import torch

from attention_plugins.contract import settle
from attention_plugins.devices import resolve
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from dashboard.features.complexity import task_reference
from dashboard.features.complexity.task_offer import OPTIONS
from dashboard.features.complexity.task_timing import SCORING, points, reach, tables, timed
from dashboard.features.complexity.view import REFERENCE
from dashboard.jobs.tasks import Context
from dashboard.records.attending import normaliser_of, without_normaliser
from dashboard.records.request import Request, Result

_HALVINGS = {"n": 4, "d": 3}
_BUDGET = 6.0  # seconds


def perform(request: Request, context: Context) -> Result:
    """Time the three layers over n at the largest d, and over d at the largest n.

    Options of the request: :data:`OPTIONS` and self-attention's normaliser; ``seed`` draws weights
    and inputs. With ``data`` of :data:`REFERENCE` the result is the recorded measurement that
    ships with the product. Where it cannot be read, the layers are timed here, and the fact
    ``unreadable`` says why.

    Returns:
        Tables ``times`` (``layer``, ``axis``, ``n``, ``d``, ``seconds``: the shortest of one pass,
        ``multiply_adds``) and ``reach`` (``layer``, ``n``, ``products``, ``hops``); facts
        ``fits`` (per layer and axis ``exponent``, ``factor``, ``last``, ``counted``), ``rounds``
        that were timed, ``kernel``, ``device``, ``threads``, ``torch``, ``seconds``; of a
        recorded one also ``recorded``, see :mod:`.task_reference`.

    Raises:
        ValueError: an option out of bounds, a device that is not here.
        Cancelled: the job was stopped.
    """
    unreadable = {}
    if request.data == REFERENCE:
        try:
            return task_reference.read()
        except ValueError as error:
            unreadable = {"unreadable": str(error)}
    began = time.perf_counter()
    options = settle(OPTIONS, without_normaliser(dict(request.options)))
    attention = installed().scoring_factory(SCORING, None, *normaliser_of(dict(request.options)))
    device = resolve(request.device)
    n, d, kernel = (int(options[name]) for name in ("longest", "widest", "kernel"))
    of = points(_halved(n, "n"), d, n, _halved(d, "d"))
    with seeded(request.seed):
        found = timed(of, kernel, attention, device, int(options["repeats"]), _BUDGET, context)
    made, fits = tables(of, found.seconds, kernel, reach(of, kernel, context))
    return Result(
        tables=made,
        facts={
            "fits": fits,
            "rounds": found.rounds,
            "kernel": kernel,
            "device": str(device),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "seconds": time.perf_counter() - began,
            **unreadable,
        },
    )


def _halved(most: int, axis: str) -> list[int]:
    """The sizes of one axis, small ones first, so that there is something to see at once."""
    return [most >> halving for halving in range(_HALVINGS[axis], -1, -1)]
