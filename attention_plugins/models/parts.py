"""Small parts that models share: layers in a row, words as vectors, and where a word stands."""

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attention_plugins.randomness import dropout

Part = TypeVar("Part", bound=nn.Module)

# The wavelengths grow from 2 pi to this times 2 pi.
_LONGEST = 10_000.0


class Stack(nn.ModuleList, Generic[Part]):
    """An ``nn.ModuleList`` of parts of one type."""

    def __init__(self, parts: Iterable[Part]) -> None:
        super().__init__(parts)

    def __iter__(self) -> Iterator[Part]:
        return cast("Iterator[Part]", super().__iter__())


class Repeated(Stack[Part]):
    """One part that stands for several: each time it comes it is the same."""

    def __init__(self, part: Part, times: int) -> None:
        super().__init__([part])
        self.times = times

    def __iter__(self) -> Iterator[Part]:
        for _ in range(self.times):
            yield from super().__iter__()


def angular_frequencies(size: int, like: Tensor) -> Tensor:
    """``10000 ** (-2 j / size)`` for every pair of columns j, ``(ceil(size / 2),)``, in radians.

    Precision and device are those of the floating-point tensor ``like``.
    """
    exponents = torch.arange(0, size, 2, dtype=like.dtype, device=like.device) / size
    return _LONGEST**-exponents


def sinusoidal_positions(
    positions: Tensor, size: int, dtype: torch.dtype = torch.float32
) -> Tensor:
    """The sinusoidal encoding of Vaswani et al. 2017, section 3.5: sin and cos in turn.

    Of ``positions (...)``, any numbers; ``(..., size)``, without the last cosine of an odd size.
    """
    places = positions.to(dtype)[..., None]
    angles = places * angular_frequencies(size, places)  # (..., pairs)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :size]


def placed(embedding: nn.Embedding, tokens: Tensor, places: Tensor, rate: float) -> Tensor:
    """Scaled embeddings plus sinusoidal positions, ``(B, m, size)``.

    Of ids ``tokens (B, m)`` that stand at ``places``, ``(m,)`` or ``(B, m)``, from 0; ``rate`` is
    the share of the numbers dropped. Vaswani et al. 2017, sections 3.4 and 3.5.
    """
    size = embedding.embedding_dim
    words = embedding(tokens) * size**0.5
    return dropout(words + sinusoidal_positions(places, size, words.dtype), rate)


def grown(rows: Tensor, new: Tensor, places: Tensor) -> Tensor:
    """``rows (B, [heads,] n, d)`` grown by ``new (B, [heads,] m, d)``, at ``places (B, m)``.

    What was padding at a place is overwritten: in each row the new ones follow the old.
    """
    heads = (1,) * (new.dim() - 3)
    where = places.reshape(len(places), *heads, -1, 1).expand_as(new)
    return pad(rows, (0, 0, 0, new.shape[-2])).scatter(-2, where, new)


def tie(output: nn.Linear, shared: nn.Embedding, embeddings: Iterable[nn.Embedding]) -> None:
    """Let ``output`` score words with the matrix of ``shared``, and start all embeddings small.

    One matrix reads words and scores them: unit rows as input would give huge logits.
    """
    output.weight = shared.weight
    for embedding in embeddings:
        nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)
    nn.init.zeros_(output.bias)
