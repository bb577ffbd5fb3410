"""How a page's view becomes a link, and a link a view.

A page's whole state is its link: short, readable, defaults left out. Reading never raises:
whatever a link holds, it gives a view that can be shown, and one sentence for everything that was
refused. What is not installed here stays in the view, so that its panel can say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from dashboard.links.reader import Query, Reader
from dashboard.records.catalogue import Catalogue


class Record(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


View = TypeVar("View", bound=Record)
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Field(Generic[View, Value]):
    """One attribute of a view, and the parameters of the link that say it.

    A field that comes later may depend on those before it: on the data set, say, whose
    parameters it holds.

    Args:
        name: the view's attribute.
    """

    name: str

    def of(self, view: View) -> Value:
        """The attribute's value."""
        return getattr(view, self.name)

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> Value:
        """The value that the link asks for, or the default.

        Args:
            view: holds what the fields before this one have read.
        """
        raise NotImplementedError

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """The parameters that :meth:`read` turns into the view's value; none at the default."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Link(Generic[View]):
    """All fields of a page, in the order in which they are read.

    Args:
        default: the view of a bare address.
        fitted: brings attributes into agreement once all are read; by default as they are.
    """

    default: Callable[[Catalogue], View]
    fields: tuple[Field[View, Any], ...] = ()
    fitted: Callable[[View, Catalogue], View] = lambda view, _: view

    def parse(self, query: Query, catalogue: Catalogue) -> tuple[View, list[str]]:
        """The view that a link asks for, and a sentence on everything that was refused."""
        reader = Reader(query)
        view = self.default(catalogue)
        for field in self.fields:
            view = replace(view, **{field.name: field.read(reader, view, catalogue)})
        return self.fitted(view, catalogue), reader.finish()

    def format(self, view: View, catalogue: Catalogue) -> dict[str, str]:
        """The parameters of the link to ``view``, without what is at its default."""
        link: dict[str, str] = {}
        for field in self.fields:
            link |= field.write(view, catalogue)
        return link
