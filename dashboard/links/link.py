"""How a page's view becomes a link, and a link a view.

A page's whole state is its link: short, readable, defaults left out. Reading never raises:
whatever a link holds, it gives a view that can be shown, and one sentence for everything that was
refused. What is not installed here stays in the view, so that its panel can say so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from dashboard.language import gettext, ngettext
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Scalar
from dashboard.records.text import LONGEST_LINE, lines, one_line, shown

_SAID = beside(__file__, "words.toml")["link"]
_UNKNOWN_SHOWN = 3

Query = Mapping[str, str | Sequence[str]]


class Reader:
    """The parameters of one link. Each can be taken once; nothing here raises."""

    def __init__(self, query: Query) -> None:
        self._given: dict[str, str] = {}
        self._problems: list[str] = []
        for key, given in query.items():
            values = [given] if isinstance(given, str) else list(given)
            if len(values) > 1:
                self.problem(gettext(_SAID["repeated"], key=shown(key), times=len(values)))
            if values:
                self._given[key] = values[-1]
        self._left = dict(self._given)

    @property
    def bare(self) -> bool:
        """Whether the link names nothing at all."""
        return not self._given

    def has(self, key: str) -> bool:
        """Whether the link names this parameter and nobody took it yet."""
        return key in self._left

    def given(self, key: str) -> str | None:
        """The value of a parameter, whether or not it was taken; None where there is none."""
        return self._given.get(key)

    def take(self, key: str) -> str | None:
        """The value of a parameter, once; None where there is none."""
        return self._left.pop(key, None)

    def below(self, prefix: str) -> dict[str, str]:
        """Every parameter whose key starts with ``prefix``, by the rest of its key."""
        keys = [key for key in self._left if key.startswith(prefix)]
        return {key.removeprefix(prefix): self._left.pop(key) for key in keys}

    def problem(self, sentence: str) -> None:
        """Note what was wrong with a parameter, unless the sentence is empty."""
        if sentence:
            self._problems.append(sentence)

    def parameter(self, parameter: Parameter, key: str) -> Scalar:
        """The value of a parameter, moved inside its bounds; its default where there is none."""
        given = self.take(key)
        if given is None:
            return parameter.default
        value, problem = parameter.read(given, key)
        self.problem(problem)
        return value

    def text(self, key: str, default: str, longest: int = LONGEST_LINE) -> str:
        """One line of text without invisible characters; ``default`` where there is none.

        Text that may be longer than a line may have several.
        """
        given = self.take(key)
        if given is None:
            return default
        if len(given) > longest:
            self.problem(gettext(_SAID["length"], key=key, count=len(given), used=longest))
        return one_line(given) if longest == LONGEST_LINE else lines(given, longest)

    def finish(self) -> list[str]:
        """Every problem; the last one names the parameters that nobody took."""
        names = ", ".join([shown(key) for key in self._left][:_UNKNOWN_SHOWN])
        if (more := len(self._left) - _UNKNOWN_SHOWN) > 0:
            self.problem(gettext(_SAID["unknown"], names=names, more=more))
        elif self._left:
            self.problem(ngettext(**_SAID["unknown_few"], count=len(self._left), names=names))
        return self._problems


class Record(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


View = TypeVar("View", bound=Record)
Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Field(Generic[View, Value]):
    """One attribute of a view, ``name``, and the parameters of the link that say it.

    A later field may depend on those before it: on the data set, say, whose parameters it holds.
    """

    name: str

    def of(self, view: View) -> Value:
        """The attribute's value."""
        return getattr(view, self.name)

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> Value:
        """The value that the link asks for, or the default; ``view`` has what was read before."""
        raise NotImplementedError

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """The parameters that :meth:`read` turns into the view's value; none at the default."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Link(Generic[View]):
    """All fields of a page as they are read; ``fitted`` brings attributes into agreement then."""

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
