"""Trainings as a page sees them: what was asked for, where each stands, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dashboard.runs.request import Request

State = Literal["queued", "running", "pausing", "paused", "done", "failed", "cancelled"]
ENDED: frozenset[State] = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """What was measured after an epoch.

    Args:
        epoch: counts from 1.
        loss: mean over the epoch, in nats per target token.
        seconds: that the epoch's steps took.
        tokens_per_second: target tokens learned from.
        bleu: of held-out sentences, 0 to 100; None if none was held out.
        probe: the probe sentence's translation, empty if there is no probe.
    """

    epoch: int
    loss: float
    seconds: float
    tokens_per_second: float
    bleu: float | None
    probe: str


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training, as it was when it was asked about.

    Args:
        id: 32 hexadecimal digits.
        request: what determines it.
        created: in seconds since 1970.
        state: ``pausing`` until the step that is being worked on has ended.
        note: one sentence: how far it is, or why it failed.
        epochs: those that have ended.
        live: while it runs ``epoch``, ``epochs``, ``step``, ``steps``, ``loss``,
            ``tokens_per_second``, ``fraction`` (of the whole training); else, and before its
            first step, empty.
        checkpoint: what it was kept as, empty before.
        facts: ``title``, ``model``, ``scoring``, ``corpus``; once it has begun also
            ``parameters``, ``source_words``, ``target_words``, ``trained_on``,
            ``held_out_sources``; once it is done ``alignment_error``, ``relative_entropy``,
            ``peak_memory`` in megabytes (None where not measured) and ``memory_of``, whose; if it
            failed what is known of ``culprit`` and ``traceback``.
    """

    id: str
    request: Request
    created: float
    state: State
    note: str
    epochs: tuple[Epoch, ...] = ()
    live: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
