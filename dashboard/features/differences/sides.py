"""The chosen map of every panel, and which of them can be laid over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.charts import MapFrame, map_names, usual_map
from dashboard.charts.heatmap import masked_rows
from dashboard.features.differences.chart_linked import Tile
from dashboard.language import gettext, gettext_noop
from dashboard.records.result import Result
from dashboard.ui import maps

MEAN = "mean"
_MISFITS = (
    gettext_noop(
        "This panel's rows are other words than those of panel {panel} ({own} and {first}): the "
        "two models split the text in different ways, so their maps cannot be laid over each "
        "other."
    ),
    gettext_noop(
        "This panel's columns are other words than those of panel {panel} ({own} and {first}): "
        "the two models split the text in different ways, so their maps cannot be laid over each "
        "other."
    ),
)
_WRITTEN = ("cross", "decoder")  # kinds whose rows are the words being written


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One panel's maps of the kind that is shown, and which of them is selected.

    Args:
        letter: of the panel.
        checkpoint: its name.
        title: what the panel's model is called.
        digest: of the result that the maps are from.
        frames: the maps, one per layer.
        selected: ``layer.head`` or ``layer.mean``.
        likely: the probability of each row's word; empty where rows are no written words.
    """

    letter: str
    checkpoint: str
    title: str
    digest: str
    frames: tuple[MapFrame, ...]
    selected: str
    likely: tuple[float, ...]

    @property
    def key(self) -> str:
        """A name for its maps as they are drawn, whichever is selected."""
        return f"{self.letter} {self.digest} {self.frames[0].kind} {self.title}"

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of queries and of keys."""
        return self.frames[0].query_labels, self.frames[0].key_labels

    @property
    def weights(self) -> np.ndarray:
        """The selected map, ``(queries, keys)``, as it is drawn: NaN where masked."""
        layer, _, head = self.selected.partition(".")
        (heads,) = [frame.weights for frame in self.frames if frame.layer == int(layer) - 1]
        values = heads.astype(np.float64)
        return masked_rows(values.mean(axis=0) if head == MEAN else values[int(head) - 1])

    @property
    def heads(self) -> int:
        """How many heads all layers have together."""
        return sum(len(frame.weights) for frame in self.frames)

    def tile(self) -> Tile:
        """As the linked chart takes it; a row's note says how likely its word is."""
        notes = [gettext("probability {p:.2f}", p=p) for p in self.likely]
        return Tile(
            letter=self.letter, title=self.title, weights=self.weights, notes=notes,
            subtitle=map_title(self.frames, self.selected),
        )  # fmt: skip


def side_of(
    letter: str, checkpoint: str, title: str, result: Result, kind: str, selected: str
) -> Side | None:
    """A panel's maps of that kind with the wanted or the usual one selected; None without any."""
    frames = maps.maps_of(result, kind)
    if not frames:
        return None
    likely = result.tables["tokens"]["probability"].to_pylist() if kind in _WRITTEN else []
    return Side(
        letter=letter, checkpoint=checkpoint, title=title, digest=result.digest,
        frames=tuple(frames),
        selected=selected if selected in map_names(frames) else usual_map(frames),
        likely=tuple(likely) if len(likely) == len(frames[0].query_labels) else (),
    )  # fmt: skip


def map_title(frames: Sequence[MapFrame], name: str) -> str:
    """``2.3`` as ``layer 2 · head 3``."""
    layer, _, head = name.partition(".")
    (count,) = {len(frame.weights) for frame in frames if frame.layer == int(layer) - 1}
    if count == 1:
        return gettext("layer {layer} · one head", layer=layer)
    if head == MEAN:
        return gettext("layer {layer} · mean of {count} heads", layer=layer, count=count)
    return gettext("layer {layer} · head {head}", layer=layer, head=head)


def misfits(sides: Sequence[Side]) -> dict[str, str]:
    """By letter, why a side cannot be laid over the first one; the others can."""
    found: dict[str, str] = {}
    for side in sides[1:]:
        for text, own, first in zip(_MISFITS, side.labels, sides[0].labels, strict=True):
            if own != first:
                found[side.letter] = gettext(
                    text, panel=sides[0].letter, own=len(own), first=len(first)
                )
                break
    return found
