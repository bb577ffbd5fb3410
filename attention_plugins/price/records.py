"""What is swapped, with what budget, and what came of it, as JSON keeps it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from attention_plugins.contract import ContractError

ORIGINAL = ""  # the name of what nobody swapped
Positions = Literal["keep", "remove"]


@dataclass(frozen=True, kw_only=True)
class Swap:
    """A scoring with a normaliser instead of a model's own attention.

    Args:
        scoring: its name, or a formula behind ``=``; empty for the original.
        normaliser: empty for the scoring's own.
        positions: whether the model's own rotary or relative positions stay.
    """

    scoring: str = ORIGINAL
    normaliser: str = ""
    positions: Positions = "keep"

    @property
    def name(self) -> str:
        """Such as ``scaled_dot + entmax15``; empty for the original."""
        return f"{self.scoring} + {self.normaliser}" if self.normaliser else self.scoring

    @property
    def key(self) -> str:
        """What tells it from the others of a table."""
        return f"{self.name} (remove)" if self.positions == "remove" else self.name


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What each swap and the original get, each seed anew.

    Args:
        steps: of tuning, at each of ``rates``, by AdamW, the rate falling to 0 along a cosine.
        batch_size: texts of a step.
        held_out: texts that are not tuned on, of which losses are reported.
        seeds: each cuts the texts, orders the batches and draws new weights.
    """

    steps: int = 100
    rates: tuple[float, ...] = (1e-3, 3e-3)
    batch_size: int = 16
    held_out: int = 100
    seeds: int = 6

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            if not 1 <= (value := getattr(self, name)) <= most:
                raise ContractError(f"need 1 <= {name} <= {most:,}, got {value:,}")
        if not 1 <= len(self.rates) <= 4 or not all(0 < rate <= 1 for rate in self.rates):
            raise ContractError(f"need one to four rates above 0 and up to 1, got {[*self.rates]}")


_MOST = {"steps": 100_000, "batch_size": 4096, "held_out": 100_000, "seeds": 1000}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What one model does with the same text, to be seen beside others.

    Args:
        text: what it writes after the beginning, the likeliest token each time.
        maps: by layer, the mean over heads: rows look, columns are seen.
        queries, keys: the tokens of rows and columns.
    """

    text: str = ""
    maps: Sequence[Sequence[Sequence[float]]] = ()
    queries: Sequence[str] = ()
    keys: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one seed says of one swap, or of the original.

    Args:
        before: nats a token of the texts that are held out, without tuning.
        after: the same after tuning, by rate, in the order of the budget.
        parameters: weights that the swap brings.
        seconds: of all that was done.
        shown_before, shown_after: of the first seed; the latter at the better rate.
        problem: why there is nothing else, in a sentence.
    """

    swap: Swap
    seed: int
    before: float = math.nan
    after: tuple[float, ...] = ()
    parameters: int = 0
    seconds: float = 0.0
    shown_before: Shown | None = None
    shown_after: Shown | None = None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """As :meth:`from_json` reads it; what is no finite number is null."""
        found = asdict(self)
        found |= {"before": _finite(self.before), "after": [*map(_finite, self.after)]}
        return {name: value for name, value in found.items() if value not in (None, "", ())}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Outcome:
        """An outcome as it was written; ContractError at anything else."""
        try:
            own = {
                "swap": Swap(**found["swap"]), "before": _number(found.get("before")),
                "after": tuple(map(_number, found.get("after", ()))), "seed": int(found["seed"]),
                **{name: Shown(**found[name]) for name in _SHOWN if found.get(name)},
            }  # fmt: skip
            return cls(**{**found, **own})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ContractError(f"this is no outcome of a swap: {error!r}") from error


_SHOWN = ("shown_before", "shown_after")


def _finite(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
