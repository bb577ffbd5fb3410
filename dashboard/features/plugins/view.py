"""What the page *Plugins* shows, and its link: ``/plugins?show=<distribution>&find=<words>``."""

import re
from dataclasses import dataclass

from dashboard.language import gettext
from dashboard.links.fields import Text
from dashboard.links.link import Link, Reader
from dashboard.records.attending import Distribution
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.text import shown

Names = dict[str, list[str]]


def found(one: Distribution, catalogue: Catalogue, words: str) -> Names:
    """The names that it offers, by kind, whose records have every word; all without words.

    A word may be a part of another one, in capitals or not, of the record's name, title,
    description or reference, its kind, or the name of the distribution.
    """
    wanted = words.casefold().split()

    def matches(kind: str, name: str) -> bool:
        entry = catalogue.entry(kind, name)
        reference = entry.reference if isinstance(entry, Entry) else ""
        texts = one.name, kind, catalogue.kinds[kind], name, title_of(entry, name), reference
        text = "\n".join((*texts, description_of(entry))).casefold()
        return all(word in text for word in wanted)

    matching = {
        kind: [name for name in names if matches(kind, name)]
        for kind, names in one.offers().items()
    }
    return {kind: names for kind, names in matching.items() if names}


def title_of(entry: Entry | Checkpoint | None, name: str) -> str:
    """What a record is called; its name where it cannot be used."""
    return entry.title if entry else name


def description_of(entry: Entry | Checkpoint | None) -> str:
    """A sentence on a record."""
    if entry is None:
        return gettext("It cannot be used; see above.")
    if isinstance(entry, Checkpoint):
        return gettext(
            "{model} with {scoring}, trained on {corpus}", model=entry.model,
            scoring=entry.scoring, corpus=entry.corpus,
        )  # fmt: skip
    return entry.description


_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")
_SEPARATORS = re.compile(r"[-_.]+")


@dataclass(frozen=True, kw_only=True)
class PluginsView:
    """What the page shows: a distribution in full, by default the first that offers anything.

    If there are words to find, only records that have them all are shown.
    """

    show: str = ""
    find: str = ""


class DistributionName(Text[PluginsView]):
    """The name of a distribution, installed here or not.

    Names are compared as installers do: ``My.Kernels`` is ``my-kernels``.
    """

    def read(self, reader: Reader, view: PluginsView, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name) or ""
        if given and not _NAME.match(given):
            reader.problem(gettext(
                "{name}={given}: need the name of a distribution, so it is left out",
                name=self.name, given=shown(given),
            ))  # fmt: skip
            return ""
        known = {_canonical(name): name for name in catalogue.distributions}
        return known.get(_canonical(given), given)


def chosen(view: PluginsView, catalogue: Catalogue) -> Distribution | None:
    """The distribution to show in full; None if it is not installed, or nothing is."""
    if view.show:
        return catalogue.distributions.get(view.show)
    return next((one for one in catalogue.distributions.values() if one.offers()), None)


def _canonical(name: str) -> str:
    return _SEPARATORS.sub("-", name).lower()


FIND: Text[PluginsView] = Text(
    name="find", title="Search", placeholder="a name, a word of the title, an author, a package"
)
LINK = Link(
    default=lambda _: PluginsView(), fields=(DistributionName(name="show", title=""), FIND)
)
