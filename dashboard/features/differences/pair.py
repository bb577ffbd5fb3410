"""Two panels whose maps are compared, and what a worker says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dashboard.charts.template import Prepared
from dashboard.features.differences.chart_linked import LinkedShape, Tile, prepare_linked
from dashboard.features.differences.sides import Side
from dashboard.features.differences.view import TASK, Differences
from dashboard.language import gettext
from dashboard.records.request import Request
from dashboard.records.result import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two sides whose maps have the same axes.

    Args:
        one, other: the difference is ``one - other``.
    """

    one: Side
    other: Side

    @property
    def name(self) -> str:
        """``a − b``."""
        return f"{self.one.letter} − {self.other.letter}"

    def request(self, view: Differences, target: str) -> Request:
        """What a worker must compare.

        Args:
            target: the words that both models write.
        """
        options = {
            "other": self.other.checkpoint, "text": view.text, "target": target, "kind": view.kind,
            "map": self.one.selected, "other_map": self.other.selected,
        }  # fmt: skip
        return Request.make(TASK, data=self.one.checkpoint, options=options, device=view.device)

    def tile(self, result: Result) -> Tile:
        """The difference as the linked chart takes it."""
        queries, keys = self.one.labels
        bits = _numbers(result.tables["divergence"], "jensen_shannon_bits")
        difference = _numbers(result.tables["differences"], "difference")
        return Tile(
            letter=self.name, title=gettext("difference"), bars=bits,
            weights=difference.reshape(len(queries), len(keys)),
            subtitle=gettext(
                "blue: {one} looks more, orange: {other}",
                one=self.one.letter, other=self.other.letter,
            ),
            notes=[gettext("Jensen–Shannon {bits:.2f} bit", bits=bit) for bit in bits],
        )  # fmt: skip

    def tables(self, result: Result) -> dict[str, pa.Table]:
        """The tables of the comparison, with the letters of the panels in them."""
        renamed = {
            "weight_one": f"weight_{self.one.letter}",
            "weight_other": f"weight_{self.other.letter}",
        }
        cells = result.tables["differences"]
        names = [renamed.get(name, name) for name in cells.column_names]
        return {
            "differences": cells.rename_columns(names),
            "divergence": result.tables["divergence"],
        }

    def verdict(self, result: Result) -> str:
        """Where the two differ most, and how much on the whole, in a sentence."""
        most, mean = result.facts["most_different"], result.facts["mean_divergence"]
        if most is None:
            return ""
        queries = self.one.labels[0]
        bits = result.tables["divergence"]["jensen_shannon_bits"][most].as_py()
        return gettext(
            "Panels {one} and {other} differ most at “{word}”: {bits:.2f} bit of Jensen–Shannon "
            "divergence (0 the same, 1 nothing in common); the mean over {count} rows is "
            "{mean:.2f}.",
            one=self.one.letter, other=self.other.letter, word=queries[most], bits=bits,
            count=len(queries), mean=mean,
        )  # fmt: skip


def pair_of(view: Differences, sides: Sequence[Side], waiting: Sequence[str]) -> Pair | None:
    """The pair that the view asks for, or the first two sides; None where it is not there.

    Args:
        waiting: panels whose maps are still on their way.
    """
    by_letter = {side.letter: side for side in sides}
    letters = view.pair.split("-") if view.pair else sorted([*by_letter, *waiting])[:2]
    if len(letters) < 2 or not by_letter.keys() >= {*letters}:
        return None
    return Pair(one=by_letter[letters[0]], other=by_letter[letters[1]])


def prepare_sides(
    sides: Sequence[Side], pair: Pair | None, result: Result | None
) -> Prepared[LinkedShape]:
    """The maps of the sides, and the difference of the pair once there is one.

    Args:
        sides: may be empty, for the difference alone.

    Raises:
        ValueError: more cells than are drawn.
    """
    tiles, labels, start = [side.tile() for side in sides], (), 0
    if sides:
        labels = sides[0].labels
    if pair and result:
        tiles.append(pair.tile(result))
        labels, start = pair.one.labels, result.facts["most_different"] or 0
    return prepare_linked(tiles, *labels, start=start)


def _numbers(table: pa.Table, column: str) -> np.ndarray:
    return table[column].to_numpy(zero_copy_only=False)
