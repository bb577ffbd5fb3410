"""What the page *Positional encoding* shows, its link, and its request.

``/positions?size=16&columns=0,1,2&offset=-7``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard.language import gettext
from dashboard.links.fields import Settings, read_parameters, refused
from dashboard.links.link import Field, Link, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults, pairs
from dashboard.records.request import Pairs, Request

TASK = "positions"
MOST_COLUMNS = 4
_COLUMNS = (6, 7, 8, 9)  # those that d2l.ai, section 10.6, draws
_SIZES = ("size", "positions", "flow_rows")  # what bounds other parameters
_LIST = re.compile(r"[0-9]{1,3}(,[0-9]{1,3})*\Z")


@dataclass(frozen=True, kw_only=True)
class Positions:
    """What the page shows: all parameters' values, and the columns that are drawn as curves."""

    settings: Pairs = ()
    columns: tuple[int, ...] = _COLUMNS

    @property
    def size(self) -> int:
        """How many columns the encoding has."""
        return int(dict(self.settings)["size"])


@dataclass(frozen=True, kw_only=True)
class BoundedSettings(Settings[Positions]):
    """Settings of which the sizes bound the others; they are therefore read first."""

    def read(self, reader: Reader, view: Positions, catalogue: Catalogue) -> Pairs:
        """See :meth:`Field.read`."""
        parameters = catalogue.options[TASK]
        sizes = read_parameters(reader, [each for each in parameters if each.name in _SIZES])
        others = [each for each in _bounded(parameters, sizes) if each.name not in _SIZES]
        return pairs(dict((*sizes, *read_parameters(reader, others))))


@dataclass(frozen=True, kw_only=True)
class Columns(Field[Positions, tuple[int, ...]]):
    """Numbers of the encoding's columns with commas between them."""

    def read(self, reader: Reader, view: Positions, catalogue: Catalogue) -> tuple[int, ...]:
        """See :meth:`Field.read`."""
        usual = usual_columns(view.size)
        given = reader.take(self.name)
        if given is None:
            return usual
        chosen = tuple(dict.fromkeys(map(int, given.split(",")))) if _LIST.match(given) else ()
        if chosen and len(chosen) <= MOST_COLUMNS and max(chosen) < view.size:
            return tuple(sorted(chosen))
        wanted = gettext(
            "1 to {most} numbers from 0 to {last} with commas between",
            most=MOST_COLUMNS, last=view.size - 1,
        )  # fmt: skip
        refused(reader, self.name, given, wanted, ",".join(map(str, usual)))
        return usual

    def write(self, view: Positions, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        if view.columns == usual_columns(view.size):
            return {}
        return {self.name: ",".join(map(str, view.columns))}


def usual_columns(size: int) -> tuple[int, ...]:
    """Columns 6 to 9, or the last four of an encoding that has fewer."""
    first = max(0, min(_COLUMNS[0], size - len(_COLUMNS)))
    return tuple(range(first, min(size, first + len(_COLUMNS))))


def requests(view: Positions, _: Catalogue) -> Iterable[Request]:
    """What a worker must compute; the columns that are drawn do not change it."""
    yield Request.make(TASK, options=dict(view.settings))


def _bounded(parameters: Sequence[Parameter], settings: Pairs) -> tuple[Parameter, ...]:
    held = {name: int(value) for name, value in settings if name in _SIZES}
    most = {
        "pair": held["size"] // 2 - 1, "position": held["positions"] - 1,
        "flow_tokens": held["flow_rows"],
    }  # fmt: skip
    return tuple(
        replace(each, high=most[each.name], default=min(int(each.default), most[each.name]))
        if each.name in most
        else each
        for each in parameters
    )


SETTINGS = BoundedSettings(
    name="settings",
    parameters=lambda view, catalogue: _bounded(catalogue.options[TASK], view.settings),
)
LINK = Link(
    default=lambda catalogue: Positions(settings=defaults(catalogue.options[TASK])),
    fields=(SETTINGS, Columns(name="columns")),
)
