"""What the page *Runs* shows, and its link: ``/runs?id=<32 hexadecimal digits>``."""

from dataclasses import dataclass

from dashboard.language import gettext
from dashboard.links.fields import Text
from dashboard.links.link import Link, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import shown
from dashboard.storage.files import ID

TASK = "runs"
LEFT_OUT = "pictures left out"  # the fact that says why, by name


@dataclass(frozen=True, kw_only=True)
class RunsView:
    """What the page shows: one run, or all of them where ``id`` is empty."""

    id: str = ""


class RunId(Text[RunsView]):
    """The id of a run, kept here or not."""

    def read(self, reader: Reader, view: RunsView, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name) or ""
        if given and not ID.match(given):
            reader.problem(gettext(
                "{name}={given}: need the 32 hexadecimal digits of a run, so all runs are "
                "shown",
                name=self.name, given=shown(given),
            ))  # fmt: skip
            return ""
        return given


LINK = Link(default=lambda _: RunsView(), fields=(RunId(name="id", title=""),))
