"""A list of a model's parts that knows what they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar, cast

from torch import nn

Part = TypeVar("Part", bound=nn.Module)


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
