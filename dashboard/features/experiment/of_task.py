"""Attributes of a view that are read and written in another way for each task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.links.link import Field
from dashboard.links.reader import Reader
from dashboard.records.catalogue import Catalogue


@dataclass(frozen=True, kw_only=True)
class OfTask(Field[Any, Any]):
    """An attribute that another field reads and writes for each task, and for some none.

    Args:
        fields: by task.
    """

    fields: Mapping[str, Field[Any, Any]]

    def read(self, reader: Reader, view: Any, catalogue: Catalogue) -> Any:
        """See :meth:`Field.read`."""
        field = self.fields.get(view.task)
        return field.read(reader, view, catalogue) if field else self.of(view)

    def write(self, view: Any, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        field = self.fields.get(view.task)
        return field.write(view, catalogue) if field else {}
