"""Examples of one attention step: who attends to whom with which numbers, each by its name.

The numbers are drawn here, not in a worker, so that a user can change any of them. They are those
of the worked examples of the texts that the examples name; where a text draws at random, so do we.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import NamedTuple

from dashboard.features.anatomy.tensors import Tensor, rounded
from dashboard.records.beside import beside
from dashboard.records.sentence import EMBEDDINGS

DRAWN, SENTENCE = "drawn", "sentence"
# How queries and keys reach the scoring; else a model's name.
GIVEN, HEADS, WORDS = "given", "heads", "words"


class Sizes(NamedTuple):
    """Of the three tensors: ``(batch, queries, query)``, ``(batch, keys, key)``, and so on."""

    batch: int
    queries: int
    keys: int
    query: int
    key: int
    value: int

    def of(self, name: str) -> tuple[int, int, int]:
        """The shape of ``"q"``, ``"k"`` or ``"v"``."""
        count = self.queries if name == "q" else self.keys
        return self.batch, count, {"q": self.query, "k": self.key, "v": self.value}[name]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A step to look at.

    Args:
        scoring: the name of one that is built in.
        sizes: of queries, keys and values; a model takes the queries as its sequence.
        lengths: valid ones, as :mod:`~dashboard.features.anatomy.tensors` writes them.
        layout: :data:`GIVEN`, :data:`HEADS`, or the name of a model that encodes.
        numbers: what each tensor holds: ``"ones"``, ``"counting"``, ``"normal"``, ``"unit"`` or
            ``"words"``, the embeddings of :mod:`dashboard.records.sentence`.
        caption: what to see, in a sentence or two.
    """

    name: str
    title: str
    scoring: str
    sizes: Sizes
    lengths: str
    caption: str
    layout: str = GIVEN
    heads: int = 3
    hidden: int = 8
    numbers: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys("qkv", "normal"))

    def tensor(self, name: str, seed: int, sizes: Sizes) -> Tensor:
        """The queries ``"q"``, keys ``"k"`` or values ``"v"`` of that seed."""
        batch, count, size = sizes.of(name)
        source = random.Random(f"{seed} {name}")
        counting = cycle(range(count * size))  # the same in every row of the batch
        words = cycle(map(float, EMBEDDINGS.replace("/", ",").split(",")))
        draw: Callable[[], float] = {
            "ones": lambda: 1.0, "counting": lambda: float(next(counting)),
            "normal": lambda: rounded(round(source.gauss(0, 1), 2)), "words": lambda: next(words),
            "unit": lambda: rounded(round(source.random(), 2)),
        }[self.numbers[name]]  # fmt: skip
        return tuple(
            tuple(tuple(draw() for _ in range(size)) for _ in range(count)) for _ in range(batch)
        )


def names(layout: str) -> str:
    """The tensors that a layout reads: a model its sequence alone, as ``"q"``."""
    return "qkv" if layout in (GIVEN, HEADS) else "q"


EXAMPLES: dict[str, Example] = {
    name: Example(name=name, **{**facts, "sizes": Sizes(**facts["sizes"])})
    for name, facts in beside(__file__, "examples.toml").items()
}
