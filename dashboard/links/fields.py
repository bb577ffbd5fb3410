"""The kinds of fields that pages are made of; :mod:`dashboard.ui.fields` draws them.

A field is declared once, in its page's ``view.py``: its name in the link, its title, its default,
its bounds. How it is read, written, refused and drawn follows from its kind.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.language import gettext, gettext_noop
from dashboard.links.link import Field, Reader, View
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults, pairs
from dashboard.records.request import UPLOAD, Pairs, Scalar
from dashboard.records.text import LONGEST_LINE, one_line, shown

LETTERS = "abcd"  # of a page's panels
MOST_PANELS = len(LETTERS)
AUTO = "auto"
NOBODY = "none"  # stands for an empty list, since a parameter that is left out is its default
MOST_SCORINGS = 8  # of a page that lists them
_MOST_NAMED = 12  # of what is offered, in a sentence on what was refused
UPLOADED = re.compile(rf"{UPLOAD}[0-9a-f]{{64}}\Z")
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")  # of a model or a scoring, installed here or not

_LAST_SEED = 9999
SEED = Parameter(
    name="seed", title="Seed", default=0, low=0, high=_LAST_SEED, step=1,
    help="Another seed draws other points and other starting weights.",
)  # fmt: skip

KeyOf = Callable[[str], str]


def next_seed(seed: int) -> int:
    """The seed after this one; the first after the last."""
    return (seed + 1) % (_LAST_SEED + 1)


def refused(reader: Reader, key: str, given: str, wanted: str, instead: str) -> None:
    """Note that ``key=given`` was refused, what would be right, and what is used instead."""
    words = gettext_noop("{key}={given}: need {wanted}, so it is left out")
    if instead:
        words = gettext_noop("{key}={given}: need {wanted}, so {instead} is used")
    reader.problem(gettext(words, key=key, given=shown(given), wanted=wanted, instead=instead))


@dataclass(frozen=True, kw_only=True)
class Setting(Field[View, Any]):
    """One number, switch or choice; where ``typed``, a number is typed rather than dragged."""

    parameter: Parameter | Callable[[View, Catalogue], Parameter]
    typed: bool = False

    def bounds(self, view: View, catalogue: Catalogue) -> Parameter:
        """The parameter as it is for this view."""
        if isinstance(self.parameter, Parameter):
            return self.parameter
        return self.parameter(view, catalogue)

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> Scalar:
        """See :meth:`Field.read`."""
        return reader.parameter(self.bounds(view, catalogue), self.name)

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        parameter, value = self.bounds(view, catalogue), self.of(view)
        return {} if value == parameter.default else {self.name: parameter.write(value)}


@dataclass(frozen=True, kw_only=True)
class Settings(Field[View, Pairs]):
    """The parameters of something that a view names, such as its data set.

    Widgets of another ``owner`` are other widgets; ``key_of`` gives a parameter's key in the link.
    """

    parameters: Callable[[View, Catalogue], Sequence[Parameter]]
    owner: Callable[[View], str] = lambda _: ""
    key_of: KeyOf = str

    def default(self, view: View, catalogue: Catalogue) -> Pairs:
        """Every parameter at its default."""
        return defaults(self.parameters(view, catalogue))

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> Pairs:
        """See :meth:`Field.read`."""
        return read_parameters(reader, self.parameters(view, catalogue), self.key_of)

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return write_parameters(self.parameters(view, catalogue), dict(self.of(view)), self.key_of)


@dataclass(frozen=True, kw_only=True)
class ForeignSettings(Settings[View]):
    """The parameters of a plugin; those of one that is not ``installed`` stay as they came."""

    installed: Callable[[View, Catalogue], bool]

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> Pairs:
        """See :meth:`Field.read`."""
        if self.installed(view, catalogue):
            return super().read(reader, view, catalogue)
        foreign = reader.below(self.key_of(""))
        return pairs({name: one_line(text) for name, text in foreign.items() if NAME.match(name)})

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        if self.installed(view, catalogue):
            return super().write(view, catalogue)
        return {self.key_of(name): str(value) for name, value in self.of(view)}


@dataclass(frozen=True, kw_only=True)
class Choice(Field[View, str]):
    """One of several names.

    Args:
        options: what is offered, as it is for this view; the first is the ``default``.
        unknown: names that are kept though they are not offered, since a link may come from
            somebody who has more plugins.
        key: its name in the link, where that is not the attribute's.
    """

    options: Callable[[View, Catalogue], Sequence[str]]
    title: str
    help: str = ""
    default: Callable[[View, Catalogue], str] | None = None
    titles: Callable[[str, Catalogue], str] = lambda name, _: name
    unknown: re.Pattern[str] | None = None
    key: str = ""

    def usual(self, view: View, catalogue: Catalogue) -> str:
        """The default; empty where nothing is offered."""
        if self.default:
            return self.default(view, catalogue)
        return next(iter(self.options(view, catalogue)), "")

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        usual = self.usual(view, catalogue)
        given = reader.take(self.key or self.name)
        if given is None:
            return usual
        offered = self.options(view, catalogue)
        if given in offered or (self.unknown and self.unknown.match(given)):
            return given
        named = ", ".join(offered[:_MOST_NAMED]) or gettext("none")
        wanted = gettext("one of {names}", names=named)
        if (more := len(offered) - _MOST_NAMED) > 0:
            wanted = gettext("one of {names} and {more:,} more", names=named, more=more)
        refused(reader, self.key or self.name, given, wanted, usual)
        return usual

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        value = self.of(view)
        return {} if value == self.usual(view, catalogue) else {self.key or self.name: value}


@dataclass(frozen=True, kw_only=True)
class Text(Field[View, str]):
    """One line of text, or several where it may be ``longest``; ``default`` of a bare address."""

    title: str
    longest: int = LONGEST_LINE
    help: str = ""
    placeholder: str = ""
    default: Callable[[View, Catalogue], str] = lambda _view, _catalogue: ""

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        return reader.text(self.name, self.default(view, catalogue), self.longest)

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        value = self.of(view)
        return {} if value == self.default(view, catalogue) else {self.name: value}


def device() -> Choice[Any]:
    """The field ``device``: where a worker computes."""
    return Choice(
        name="device", title="Device",
        options=lambda _, catalogue: tuple(dict.fromkeys((AUTO, *catalogue.devices))),
    )  # fmt: skip


def data(task: str, default: Callable[[Any, Catalogue], str]) -> Choice[Any]:
    """The field ``data``: a data set of ``regression`` or ``translation``, or an uploaded file."""
    return Choice(
        name="data", title="Data",
        options=lambda _, catalogue: tuple(catalogue.of_task("datasets", task)), default=default,
        unknown=UPLOADED,
    )  # fmt: skip


def read_parameters(reader: Reader, parameters: Iterable[Parameter], key_of: KeyOf = str) -> Pairs:
    """The value of every parameter; ``key_of`` turns its name into its key in the link."""
    return pairs({each.name: reader.parameter(each, key_of(each.name)) for each in parameters})


def write_parameters(
    parameters: Iterable[Parameter], values: Mapping[str, Scalar], key_of: KeyOf = str
) -> dict[str, str]:
    """The values that are not at their parameter's default, by their keys in the link."""
    return {key_of(each.name): each.write(values[each.name]) for each in parameters
            if values.get(each.name, each.default) != each.default}  # fmt: skip
