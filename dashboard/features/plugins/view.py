"""What the page *Plugins* shows, and its link: ``/plugins?show=<distribution>&find=<words>``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import Text
from dashboard.links.link import Field, Link
from dashboard.links.reader import Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.distributions import Distribution
from dashboard.records.text import shown

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")
_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True, kw_only=True)
class PluginsView:
    """What the page shows.

    Args:
        show: the distribution that is shown in full; by default the first that offers anything.
        find: words; if there are any, only records that have them all are shown.
    """

    show: str = ""
    find: str = ""


@dataclass(frozen=True, kw_only=True)
class DistributionName(Field[PluginsView, str]):
    """The name of a distribution, installed here or not.

    Names are compared as installers do: ``My.Kernels`` is ``my-kernels``.
    """

    def read(self, reader: Reader, view: PluginsView, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name) or ""
        if given and not _NAME.match(given):
            reader.problem(
                gettext(
                    "{name}={given}: need the name of a distribution, so it is left out",
                    name=self.name,
                    given=shown(given),
                )
            )
            return ""
        known = {_canonical(name): name for name in catalogue.distributions}
        return known.get(_canonical(given), given)

    def write(self, view: PluginsView, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {self.name: view.show} if view.show else {}


def chosen(view: PluginsView, catalogue: Catalogue) -> Distribution | None:
    """The distribution to show in full; None if it is not installed, or nothing is."""
    if view.show:
        return catalogue.distributions.get(view.show)
    return next((one for one in catalogue.distributions.values() if one.offers()), None)


def _canonical(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


FIND: Text[PluginsView] = Text(
    name="find",
    title=gettext_noop("Search"),
    placeholder=gettext_noop("a name, a word of the title, an author, a package"),
)
LINK = Link(default=lambda _: PluginsView(), fields=(DistributionName(name="show"), FIND))
