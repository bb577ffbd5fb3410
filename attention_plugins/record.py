"""Sites, and what a pass leaves behind: attention maps with their labels, validated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention_plugins.contract import ContractError, SiteKind
from attention_plugins.marking import gettext_noop


class Site(NamedTuple):
    """Where in a model attention happens."""

    kind: SiteKind
    layer: int = 0


TEXT = "text"


class Axes(NamedTuple):
    """Parts of a site's queries and of its keys, in order.

    ``"source"`` and ``"target"`` (in translation), ``"queries"`` and ``"points"`` (in regression)
    stand for as many rows or columns as there are tokens or points; any other text is the label
    of a single one, such as ``"null"`` for a key that is always there. A model names them by a
    method ``axes(site) -> Axes``, for sites that are not what their kind says.

    ``"text"`` is what a decoder without an encoder reads: ``<bos>``, the source without its
    ``<eos>``, and the target without its last token, in one row. Each row and each column is
    labelled by the token that it reads. It has one fewer than source and target together.
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]


_USUAL: Mapping[str, Axes] = {
    "pooling": Axes(("queries",), ("points",)), "encoder": Axes(("source",), ("source",)),
    "decoder": Axes(("target",), ("target",)), "cross": Axes(("target",), ("source",)),
}  # fmt: skip


def axes_of(model: Any, site: Site) -> Axes:
    """What the model says of a site, else what its kind says."""
    named = getattr(model, "axes", None)
    if named is None:
        return _USUAL[site.kind]
    axes = named(site)
    good = isinstance(axes, Axes) and all(
        isinstance(side, tuple) and side and all(isinstance(part, str) for part in side)
        for side in axes
    )
    if not good:
        raise ContractError(
            f"axes({site.kind} {site.layer}) of {type(model).__name__} gave {axes!r}; need "
            'Axes(queries, keys), each a tuple of names such as ("source", "target")'
        )
    return axes


def labels(parts: tuple[str, ...], of: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The label of every row or column of a side; ``of`` has those of parts of several."""
    return tuple(label for part in parts for label in of.get(part, (part,)))


def start_of(part: str, parts: tuple[str, ...], sizes: Mapping[str, int]) -> int | None:
    """A part's first row or column, by the sizes of others; None where there is none."""
    if part not in parts:
        return None
    return sum(sizes.get(before, 1) for before in parts[: parts.index(part)])


def kept(parts: tuple[str, ...], of: Mapping[str, tuple[int, int]]) -> list[int]:
    """The rows or columns that are no padding: of parts of several, how many of how many count."""
    found: list[int] = []
    start = 0
    for part in parts:
        count, size = of.get(part, (1, 1))
        found += range(start, start + count)
        start += size
    return found


_ROW_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, kw_only=True)
class AttentionMap:
    """The weights ``(heads, queries, keys)`` of one site, with a label per row and per column.

    ``signed``: they may be below 0, and are drawn on a scale of two sides.

    Raises:
        ContractError: a weight below 0 that is not ``signed``.
        ValueError: another shape, labels that do not fit, a weight not finite, a row that sums to
            neither 1 nor 0 (``normalised=False`` allows other sums, after an intervention).
    """

    site: Site
    weights: Tensor
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    normalised: bool = True
    signed: bool = False

    def __post_init__(self) -> None:
        where = gettext_noop(f"map of {self.site.kind} layer {self.site.layer + 1}")
        if self.weights.dim() != 3:
            raise ValueError(
                f"{where}: need weights (heads, queries, keys), got {tuple(self.weights.shape)}"
            )
        labelled = (len(self.query_labels), len(self.key_labels))
        if tuple(self.weights.shape[1:]) != labelled:
            raise ValueError(
                f"{where}: {labelled[0]} query and {labelled[1]} key labels do not fit weights "
                f"of shape {tuple(self.weights.shape)}"
            )
        if not torch.isfinite(self.weights).all():
            raise ValueError(f"{where}: weights are not finite; the scoring gave NaN or infinity")
        if not self.signed and (self.weights < 0).any():
            raise ContractError(
                f"{where}: some weights are below 0, and nothing in the model says that they may "
                "be; write signed = True in the class of its scoring, layer or model"
            )
        sums = self.weights.sum(dim=-1)
        # A bfloat16 weight alone is rounded by more than the tolerance.
        tolerance = max(_ROW_SUM_TOLERANCE, torch.finfo(self.weights.dtype).eps)
        if self.normalised and (torch.minimum((sums - 1).abs(), sums.abs()) > tolerance).any():
            raise ValueError(
                f"{where}: rows sum to {sums.min():.3f}…{sums.max():.3f}, need 1 or 0"
            )


@dataclass(frozen=True, kw_only=True)
class Translation:
    """One sentence's translation; log-probabilities are in nats.

    ``tokens`` and ``source_tokens`` end in ``<eos>`` where the model wrote or read it.
    """

    text: str
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    source_tokens: tuple[str, ...]
    unknown: tuple[str, ...]
    target_unknown: tuple[str, ...] = ()
    maps: tuple[AttentionMap, ...] = field(default=())

    @property
    def log_probability(self) -> float:
        """Of all tokens together, in nats."""
        return sum(self.log_probabilities)
