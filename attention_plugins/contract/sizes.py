"""What scorings, normalisers and attention layers are told of the place where they are built."""

from typing import Literal, NamedTuple

SiteKind = Literal["pooling", "encoder", "decoder", "cross"]


class Sizes(NamedTuple):
    """What a scoring meets at its site.

    The last dimensions of queries and keys and of the scoring's own hidden space; how many heads
    share the scoring, which then sees them as the third axis from last; the last dimension of
    values, 0 where it is that of keys; and the kind of its site.

    ``kind`` is that of :class:`~attention_plugins.tap.Site`: ``"encoder"`` where a sequence looks
    at itself, ``"decoder"`` where it looks back at itself, ``"cross"`` where it looks at another,
    whose positions are no distances to its own, ``"pooling"`` of points, and ``""`` where a model
    says nothing. A site whose keys are two sequences in a row is of the kind ``"decoder"``.
    """

    query: int
    key: int
    hidden: int
    heads: int = 1
    value: int = 0
    kind: SiteKind | Literal[""] = ""


class LayerSizes(NamedTuple):
    """What an attention layer meets: inputs and outputs ``(B, n, hidden)``.

    ``dropout`` is the share of weights to drop in training; ``kind`` as in :class:`Sizes`.
    """

    hidden: int
    heads: int = 1
    dropout: float = 0.0
    kind: SiteKind | Literal[""] = ""
