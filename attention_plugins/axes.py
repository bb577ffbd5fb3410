"""What the rows and columns of a site's weights stand for, so that they can be labelled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from attention_plugins.contract import ContractError
from attention_plugins.tap import Site


class Axes(NamedTuple):
    """Parts of a site's queries and of its keys, in order.

    ``"source"`` and ``"target"`` (in translation), ``"queries"`` and ``"points"`` (in regression)
    stand for as many rows or columns as there are tokens or points; any other text is the label
    of a single one, such as ``"null"`` for a key that is always there.

    A model names them by a method ``axes(site) -> Axes``, for sites that are not what their kind
    says: see :func:`axes_of`.
    """

    queries: tuple[str, ...]
    keys: tuple[str, ...]


_USUAL: Mapping[str, Axes] = {
    "pooling": Axes(("queries",), ("points",)),
    "encoder": Axes(("source",), ("source",)),
    "decoder": Axes(("target",), ("target",)),
    "cross": Axes(("target",), ("source",)),
}


def axes_of(model: Any, site: Site) -> Axes:
    """What the model says of a site, or what its kind says.

    Raises:
        ContractError: the model's ``axes`` gave something else than :class:`Axes` of texts.
    """
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
    """The label of every row or column.

    Args:
        parts: one side of :class:`Axes`.
        of: the labels of the parts that stand for several.
    """
    return tuple(label for part in parts for label in of.get(part, (part,)))


def start_of(part: str, parts: tuple[str, ...], sizes: Mapping[str, int]) -> int | None:
    """The first row or column of a part; None where the side does not hold it.

    Args:
        sizes: of the parts that stand for several.
    """
    if part not in parts:
        return None
    return sum(sizes.get(before, 1) for before in parts[: parts.index(part)])


def kept(parts: tuple[str, ...], of: Mapping[str, tuple[int, int]]) -> list[int]:
    """The rows or columns that are no padding, in order.

    Args:
        parts: one side of :class:`Axes`.
        of: for the parts that stand for several: how many count, and how many there are.
    """
    found: list[int] = []
    start = 0
    for part in parts:
        count, size = of.get(part, (1, 1))
        found += range(start, start + count)
        start += size
    return found
