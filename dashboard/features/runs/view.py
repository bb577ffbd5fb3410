"""What the page *Runs* shows, and its link: ``/runs?id=<32 hexadecimal digits>``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.language import gettext
from dashboard.links.link import Field, Link, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import shown
from dashboard.storage.files import ID


@dataclass(frozen=True, kw_only=True)
class RunsView:
    """What the page shows: one run, or all of them where ``id`` is empty."""

    id: str = ""


@dataclass(frozen=True, kw_only=True)
class RunId(Field[RunsView, str]):
    """The id of a run, kept here or not."""

    def read(self, reader: Reader, view: RunsView, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name) or ""
        if given and not ID.match(given):
            reader.problem(
                gettext(
                    "{name}={given}: need the 32 hexadecimal digits of a run, so all runs are "
                    "shown",
                    name=self.name,
                    given=shown(given),
                )
            )
            return ""
        return given

    def write(self, view: RunsView, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {self.name: view.id} if view.id else {}


LINK = Link(default=lambda _: RunsView(), fields=(RunId(name="id"),))
