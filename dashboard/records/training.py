"""A training as a page sees it: its request, its status, its epochs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from dashboard.language import gettext, listed
from dashboard.records.beside import beside
from dashboard.records.request import Request, Result

NEAR, FAR, COPIED = "near", "far", "copied"
_WORDS = beside(__file__, "words.toml")
PARTS = _WORDS["parts"]
_TITLES = _WORDS["titles"]
Parts = Mapping[str, Mapping[str, float]]


def parts_of(score: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Of a score as a card has it: ``sentences`` and ``score`` of each part that it has."""
    own = "value" if "metric" in score else "bleu"
    return {name: {"sentences": score[name]["sentences"], "score": score[name][own]}
            for name in PARTS if name in score}  # fmt: skip


def said(parts: Parts) -> str:
    """``near 53.9, far 36.8, copied 22.9``; empty where nothing is known."""
    return listed(f"{gettext(_TITLES[name])} {part['score']:.1f}" for name, part in parts.items())


def explained(parts: Parts) -> str:
    """What each part is, with its number of sentences; empty where nothing is known."""
    return "\n\n".join(
        gettext(
            "**{part}**, {count:,} sentences. {explanation}", count=int(part["sentences"]),
            part=gettext(_TITLES[name]).capitalize(), explanation=gettext(PARTS[name]),
        )
        for name, part in parts.items()
    )  # fmt: skip


State = Literal["queued", "running", "pausing", "paused", "done", "failed", "cancelled"]
# Why a training is stopped; "remove" also deletes its files.
StopReason = Literal["pause", "cancel", "remove"]
# Options with which the server asks for a training; not part of what determines it.
FOLDER, MOST_SECONDS, MOST_PARAMETERS = "training", "limit.seconds", "limit.parameters"
OF_SERVER = frozenset((FOLDER, MOST_SECONDS, MOST_PARAMETERS))
EPOCHS = "recipe.epochs"  # the option that says how many are asked for
ENDED: frozenset[State] = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """The measurements after an epoch, counted from 1.

    Args:
        loss: mean over the epoch, in nats per target token.
        seconds, tokens_per_second: of the epoch's steps; the tokens are the target's.
        bleu: of held-out sentences, 0 to 100; None if none was held out.
        probe: the translation of the probe sentence; empty if there is no probe.
        score: of held-out sentences by the data set's own metric; None where that is BLEU.
        parts: of ``near``, ``far`` and ``copied`` their ``sentences`` and ``score`` by the same
            metric; what has no sentence is left out.
        evaluation_seconds: how long it took after the steps to score and to store the model.
    """

    epoch: int
    loss: float
    seconds: float
    tokens_per_second: float
    bleu: float | None
    probe: str
    score: float | None = None
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    evaluation_seconds: float = 0.0


_NUMBERS = ("loss", "seconds", "tokens_per_second", "bleu", "score")
_EPOCHS = pa.schema(
    {"epoch": pa.int64(), **dict.fromkeys(_NUMBERS, pa.float64()), "probe": pa.string()}
)
_LOSSES = pa.schema([("step", pa.int64()), ("loss", pa.float64())])


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What is ahead of a training: trainings before it, seconds until its start and its end."""

    before: int | None = None
    starts_in: float | None = None
    left: float | None = None


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training at one moment.

    Args:
        created: in seconds since 1970.
        owner: who began it; empty for the user of this machine.
        state: ``pausing`` until the present step has ended.
        note: one sentence: its progress, or why it failed.
        epochs: those that have ended.
        losses: the training loss from the first step on, thinned: the step, counted from 1 over
            all epochs, and the mean of the steps since the one before.
        live: while it runs ``epoch``, ``epochs``, ``step``, ``steps``, ``loss``,
            ``tokens_per_second``, ``fraction`` (of the whole training), ``seconds_left`` and
            ``seconds_whole`` (estimates, None before step 2); empty otherwise and before step 1.
        checkpoint: the name of the exported checkpoint; empty if it was not exported.
        facts: ``title``, ``model``, ``scoring``, ``corpus``; from its first step also ``code``
            (kind, name and fingerprint of each plugin that the model is made of), ``parameters``,
            ``source_words``, ``target_words``, ``pairs`` (of the corpus), ``trained_on`` (pairs),
            ``steps`` (of an epoch), ``held_out_sources``, ``metric`` (``name``, ``title``,
            ``unit``, ``higher_is_better`` of the data set's own, where that is not BLEU); once it
            is done what was measured of the whole training, by the names of its metrics (None
            where not measured), and ``memory_of``, what its peak memory counts; if it failed
            ``culprit`` and ``traceback``, as far as known.
        ahead: where that was asked for.
    """

    id: str
    request: Request
    created: float
    state: State
    note: str
    owner: str = ""
    epochs: tuple[Epoch, ...] = ()
    losses: tuple[tuple[int, float], ...] = ()
    live: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    ahead: Ahead = Ahead()

    def result(self) -> Result:
        """What is measured so far, as the result of its request: ``epochs``, ``losses``, facts."""
        rows = [{name: getattr(epoch, name) for name in _EPOCHS.names} for epoch in self.epochs]
        steps = [{"step": step, "loss": loss} for step, loss in self.losses]
        tables = {
            "epochs": pa.Table.from_pylist(rows, schema=_EPOCHS),
            "losses": pa.Table.from_pylist(steps, schema=_LOSSES),
        }
        return Result(tables=tables, facts={**self.facts, "state": self.state})

    def held_out(self, epoch: Epoch) -> float | None:
        """The score of an epoch by the data set's own metric, else its BLEU."""
        return epoch.score if self.facts.get("metric") else epoch.bleu
