"""What the page *Differences* compares: the chosen map of every panel, and what they differ in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import MapFrame, usual_spot
from dashboard.charts import spots as spots_of_maps
from dashboard.charts.divergence import correlations, jensen_shannon
from dashboard.charts.heatmap import masked_rows
from dashboard.charts.linked import Tile, linked_maps
from dashboard.pages import figures
from dashboard.runs.request import Request
from dashboard.runs.result import Result

_MEAN = "mean"
_WRITTEN = ("cross", "decoder")  # kinds whose rows are the words being written


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One panel's maps of the kind that is shown, and which of them was chosen.

    ``key`` is what the maps were made of; ``likely`` the probability of each row's word, or
    empty.
    """

    letter: str
    title: str
    key: str
    frames: tuple[MapFrame, ...]
    spot: str
    likely: tuple[float, ...]

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of queries and of keys."""
        return self.frames[0].query_labels, self.frames[0].key_labels

    @property
    def weights(self) -> np.ndarray:
        """The chosen map, ``(queries, keys)``."""
        layer, _, head = self.spot.partition(".")
        (heads,) = [frame.weights for frame in self.frames if frame.layer == int(layer) - 1]
        values = heads.astype(np.float64)
        return masked_rows(values.mean(axis=0) if head == _MEAN else values[int(head) - 1])

    @property
    def heads(self) -> dict[str, np.ndarray]:
        """Every head's map by its spot."""
        return {
            f"{frame.layer + 1}.{number}": weights
            for frame in self.frames
            for number, weights in enumerate(masked_rows(frame.weights), start=1)
        }

    def tile(self) -> Tile:
        """As the linked chart takes it; a row's note tells how likely its word is."""
        notes = [f"probability {p:.2f}" for p in self.likely]
        return Tile(
            letter=self.letter, title=self.title, weights=self.weights, notes=notes,
            subtitle=spot_name(self.frames, self.spot),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two sides whose maps have the same axes."""

    one: Side
    other: Side

    @property
    def name(self) -> str:
        """``a − b``."""
        return f"{self.one.letter} − {self.other.letter}"

    @property
    def difference(self) -> np.ndarray:
        """``(queries, keys)``."""
        return self.one.weights - self.other.weights

    @property
    def divergence(self) -> np.ndarray:
        """``(queries,)``, in bits."""
        return jensen_shannon(self.one.weights, self.other.weights)

    @property
    def correlation(self) -> float:
        """Of the two chosen maps."""
        return float(correlations(self.one.weights[None], self.other.weights[None])[0, 0])

    def tile(self) -> Tile:
        """As the linked chart takes it."""
        bits = self.divergence
        return Tile(
            letter=self.name, title="difference", weights=self.difference, bars=bits,
            subtitle=f"blue: {self.one.letter} looks more, orange: {self.other.letter}",
            notes=[f"Jensen–Shannon {bit:.2f} bit" for bit in bits],
        )  # fmt: skip

    def tables(self) -> dict[str, pa.Table]:
        """One row per cell, and one per query."""
        queries, keys = self.one.labels
        query, key = (axis.ravel() for axis in np.indices(self.difference.shape))
        one, other = f"weight_{self.one.letter}", f"weight_{self.other.letter}"
        return {
            "differences": pa.table(
                {
                    "query": query,
                    "key": key,
                    "query_label": [queries[q] for q in query],
                    "key_label": [keys[k] for k in key],
                    one: pa.array(self.one.weights.ravel(), from_pandas=True),
                    other: pa.array(self.other.weights.ravel(), from_pandas=True),
                    "difference": pa.array(self.difference.ravel(), from_pandas=True),
                }
            ),
            "divergence": pa.table(
                {
                    "query": range(len(queries)),
                    "query_label": queries,
                    "jensen_shannon_bits": pa.array(self.divergence, from_pandas=True),
                }
            ),
        }


def side_of(
    letter: str, title: str, request: Request, result: Result, kind: str, spot: str
) -> Side | None:
    """A panel's maps of that kind with the wanted or the usual one chosen; None without any."""
    frames = figures.maps_of(result, kind)
    if not frames:
        return None
    chosen = spot if spot in spots_of_maps(frames) else usual_spot(frames)
    logs = result.tables["tokens"]["log_probability"].to_numpy() if kind in _WRITTEN else ()
    likely = tuple(np.exp(logs)) if len(logs) == len(frames[0].query_labels) else ()
    return Side(
        letter=letter, title=title, key=f"{letter} {request.key} {kind} {title}",
        frames=tuple(frames), spot=chosen, likely=likely,
    )  # fmt: skip


def spot_name(frames: Sequence[MapFrame], spot: str) -> str:
    """``2.3`` as ``layer 2 · head 3``."""
    layer, _, head = spot.partition(".")
    (count,) = {len(frame.weights) for frame in frames if frame.layer == int(layer) - 1}
    heads = f"mean of {count} heads" if head == _MEAN else f"head {head}"
    return f"layer {layer} · {heads if count > 1 else 'one head'}"


def misfits(sides: Sequence[Side]) -> dict[str, str]:
    """By letter, why a side cannot be laid over the first one; the others can."""
    found = {}
    for side in sides[1:]:
        for name, own, first in zip(
            ("rows", "columns"), side.labels, sides[0].labels, strict=True
        ):
            if own != first:
                found[side.letter] = (
                    f"This panel's {name} are other words than those of panel "
                    f"{sides[0].letter} ({len(own)} and {len(first)}): the two models split the "
                    "text in different ways, so their maps cannot be laid over each other."
                )
                break
    return found


def most_different_row(sides: Sequence[Side]) -> int:
    """The row in which the panels differ most: by their divergence, over all pairs."""
    two = combinations([side.weights for side in sides], 2)
    bits = [np.nan_to_num(jensen_shannon(one, other)) for one, other in two]
    return int(np.argmax(np.sum(bits, axis=0))) if bits else 0


def chart(sides: Sequence[Side], pair: Pair | None) -> alt.LayerChart:
    """All maps of the sides, and the pair's difference, in one linked chart.

    Raises:
        ValueError: more cells than are drawn.
    """
    tiles = [side.tile() for side in sides] + ([pair.tile()] if pair else [])
    return linked_maps(tiles, *sides[0].labels, start=most_different_row(sides))


def difference_chart(pair: Pair) -> alt.LayerChart:
    """The pair's difference alone; raises as :func:`chart`."""
    start = most_different_row([pair.one, pair.other])
    return linked_maps([pair.tile()], *pair.one.labels, start=start)


def verdict(pair: Pair) -> str:
    """Where the two differ most, and how much on the whole, in a sentence."""
    bits, queries = pair.divergence, pair.one.labels[0]
    if np.isnan(bits).all():
        return ""
    most = int(np.nanargmax(bits))
    return (
        f"Panels {pair.one.letter} and {pair.other.letter} differ most at “{queries[most]}”: "
        f"{bits[most]:.2f} bit of Jensen–Shannon divergence (0 the same, 1 nothing in common); "
        f"the mean over {len(queries)} rows is {np.nanmean(bits):.2f}."
    )
