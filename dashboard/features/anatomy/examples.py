"""Examples of one attention step: who attends to whom with which numbers, each by its name.

The numbers are drawn here, not in a worker, so that a user can change any of them. They are those
of the worked examples of the texts that the examples name; where a text draws at random, so do we.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import NamedTuple

from dashboard.features.anatomy.tensors import Tensor, rounded
from dashboard.language import gettext_noop
from dashboard.records.sentence import EMBEDDINGS

DRAWN, DOT, SELF, SENTENCE = "drawn", "dot", "self", "sentence"
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
        last = {"q": self.query, "k": self.key, "v": self.value}[name]
        return self.batch, count, last


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
            "ones": lambda: 1.0,
            "counting": lambda: float(next(counting)),
            "normal": lambda: rounded(round(source.gauss(0, 1), 2)),
            "words": lambda: next(words),
            "unit": lambda: rounded(round(source.random(), 2)),
        }[self.numbers[name]]
        return tuple(
            tuple(tuple(draw() for _ in range(size)) for _ in range(count)) for _ in range(batch)
        )


def names(layout: str) -> str:
    """The tensors that a layout reads: a model its sequence alone, as ``"q"``."""
    return "qkv" if layout in (GIVEN, HEADS) else "q"


_EQUAL_KEYS = {"q": "normal", "k": "ones", "v": "counting"}
_FIVES = gettext_noop(
    "All keys are equal, so the weights are too, over as many keys as the lengths allow: a length "
    "of 6 allows all five keys."
)
_TEN_KEYS = Example(
    name=DOT,
    title=gettext_noop("Equal keys, dot product"),
    scoring="scaled_dot",
    sizes=Sizes(2, 1, 10, 2, 2, 4),
    lengths="2,6",
    numbers={**_EQUAL_KEYS, "q": "ones"},
    caption=gettext_noop(
        "All keys are equal, so the weights are too, over as many keys as the lengths allow: the "
        "output is 2, 3, 4, 5 in the first batch row and 10, 11, 12, 13 in the other."
    ),
)
_SCALED = replace(
    _TEN_KEYS, name="scaled", title=gettext_noop("Scaled dot product"), numbers=_EQUAL_KEYS
)
_ADDITIVE = replace(
    _SCALED,
    name="additive",
    title=gettext_noop("Additive, queries of 20 numbers"),
    scoring="additive",
    sizes=Sizes(2, 1, 10, 20, 2, 4),
)
_HEADS = Example(
    name="heads",
    title=gettext_noop("Multi-head, 9 hidden, 3 heads"),
    scoring="scaled_dot",
    sizes=Sizes(2, 4, 5, 9, 9, 9),
    lengths="3,2",
    layout=HEADS,
    hidden=9,
    numbers=dict.fromkeys("qkv", "ones"),
    caption=gettext_noop(
        "Three heads of three numbers each. Equal inputs make all rows alike; change "
        "one number to tell them apart."
    ),
)
_HUNDRED = replace(
    _HEADS,
    name="heads_100",
    title=gettext_noop("Multi-head, 100 hidden, 5 heads"),
    sizes=Sizes(2, 4, 6, 100, 100, 100),
    heads=5,
    hidden=100,
    caption=gettext_noop("The output has the shape of the queries, (2, 4, 100)."),
)

EXAMPLES: dict[str, Example] = {
    example.name: example
    for example in (
        Example(
            name=DRAWN,
            title=gettext_noop("Random numbers"),
            scoring="scaled_dot",
            sizes=Sizes(2, 3, 5, 4, 4, 3),
            lengths="4,3",
            caption=gettext_noop(
                "Sizes and numbers are yours: change any of them, and every stage follows."
            ),
        ),
        Example(
            name=SENTENCE,
            title=gettext_noop("A sentence, by hand"),
            scoring="dot",
            sizes=Sizes(1, 3, 3, 2, 2, 2),
            lengths="",
            layout=WORDS,
            numbers={"q": "words", "k": "words", "v": "words"},
            caption=gettext_noop(
                "Three words from their embeddings to the output, in numbers that can be worked "
                "through by hand. A trained model learns its embeddings and matrices."
            ),
        ),
        _TEN_KEYS,
        replace(_TEN_KEYS, name="mlp", title=gettext_noop("Equal keys, MLP"), scoring="mlp"),
        _ADDITIVE,
        replace(
            _ADDITIVE, name="additive_steps", title=gettext_noop("Additive, step by step"),
            sizes=Sizes(2, 1, 5, 6, 2, 4), hidden=3, caption=_FIVES,
        ),
        _SCALED,
        replace(
            _SCALED, name="scaled_steps", title=gettext_noop("Scaled dot product, step by step"),
            sizes=Sizes(2, 1, 5, 2, 2, 4), caption=_FIVES,
        ),
        _HEADS,
        _HUNDRED,
        replace(
            _HUNDRED, name="self_heads", title=gettext_noop("Self-attention, 100 hidden, 5 heads"),
            sizes=Sizes(2, 4, 4, 100, 100, 100),
            caption=gettext_noop(
                "One sequence as queries, keys and values: the output has its shape, (2, 4, 100)."
            ),
        ),
        Example(
            name=SELF,
            title=gettext_noop("Self-attention of 3 padded sentences"),
            scoring="dot",
            sizes=Sizes(3, 10, 10, 100, 100, 100),
            lengths="7,10,4",
            layout="self_attention",
            numbers=dict.fromkeys("qkv", "unit"),
            caption=gettext_noop(
                "Sentences of 7, 10 and 4 words in a tensor of 10: no word looks at padding, "
                "and the scores are divided by nothing. Scores and weights of a sentence can be "
                "saved."
            ),
        ),
    )
}  # fmt: skip
