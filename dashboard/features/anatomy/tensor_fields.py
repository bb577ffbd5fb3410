"""Fields of a link that hold a tensor or valid lengths, as :mod:`.tensors` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dashboard.features.anatomy import tensors
from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import NOBODY
from dashboard.links.link import Field, View
from dashboard.links.reader import Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import shown


@dataclass(frozen=True, kw_only=True)
class TensorText(Field[View, str]):
    """The numbers of a tensor.

    Args:
        shape: ``(B, n, d)``, as it is for this view.
        default: the text of a bare address.
        refused: what is said of a link's numbers that are refused: ``{name}={given}: {error}``.
        fixed: whether the numbers cannot be set, as it is for this view.
    """

    shape: Callable[[View], tuple[int, int, int]]
    default: str = ""
    refused: str = gettext_noop("{name}={given}: {error}, so the example's are used")
    fixed: Callable[[View], bool] = lambda _: False

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name)
        if given is None:
            return self.default
        if self.fixed(view):
            reader.problem(
                gettext(
                    "{name}: its numbers cannot be changed here, so the example's are used",
                    name=self.name,
                )
            )
            return self.default
        try:
            return tensors.write(tensors.read(given, self.shape(view)))
        except tensors.TensorError as error:
            reader.problem(gettext(self.refused, name=self.name, given=shown(given), error=error))
            return self.default

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        value = self.of(view)
        return {} if value == self.default else {self.name: value}


@dataclass(frozen=True, kw_only=True)
class Lengths(Field[View, str]):
    """Valid lengths, or ``none``.

    Args:
        sizes: of the batch and of its queries, as they are for this view.
        kinds: which kinds of lengths are allowed, see :func:`.tensors.read_lengths`.
        default: the lengths of a bare address, as they are for this view.
    """

    sizes: Callable[[View], tuple[int, int]]
    kinds: Callable[[View], str]
    default: Callable[[View], str]

    def parse(self, text: str, view: View) -> str:
        """The lengths in the one way to write them.

        Raises:
            TensorError: they are not of an allowed kind.
        """
        return tensors.read_lengths(text, *self.sizes(view), self.kinds(view))

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        default = self.default(view)
        given = reader.take(self.name)
        if given is None or given == NOBODY:
            return default if given is None else ""
        try:
            return self.parse(given, view)
        except tensors.TensorError as error:
            reader.problem(
                gettext(
                    "{name}={given}: {problem}, so {used} is used",
                    name=self.name, given=shown(given), problem=error, used=default or NOBODY,
                )
            )  # fmt: skip
            return default

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        value = self.of(view)
        return {} if value == self.default(view) else {self.name: value or NOBODY}
