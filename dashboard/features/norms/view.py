"""What the page *Normalisation* shows, its link, and its request.

``/normalisation?x=1,2;2,3&momentum=0.2``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.language import gettext
from dashboard.links.fields import SEED, Setting, Settings
from dashboard.links.link import Field, Link, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import defaults
from dashboard.records.request import Pairs, Request
from dashboard.records.text import shown

TASK = "norms"
EXAMPLE = "1,2;2,3"  # of the section "Residual connections and layer normalisation" of d2l.ai
FEWEST_ROWS, MOST = 2, 8
LARGEST = 1e6

Matrix = tuple[tuple[float, ...], ...]

_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,20})?|\.[0-9]{1,20})(e[+-]?[0-9]{1,3})?\Z")


@dataclass(frozen=True, kw_only=True)
class Norms:
    """What the page shows: a matrix as text, all parameters' values, a seed."""

    x: str = EXAMPLE
    settings: Pairs = ()
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class MatrixText(Field[Norms, str]):
    """A matrix as text, spelt in the one way in which :func:`text_of` does."""

    def read(self, reader: Reader, view: Norms, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(self.name)
        if given is None:
            return EXAMPLE
        matrix, problem = matrix_of(given)
        if problem:
            reader.problem(gettext(
                "{name}={given}: {problem}, so {used} is used",
                name=self.name, given=shown(given), problem=problem, used=EXAMPLE,
            ))  # fmt: skip
        return text_of(matrix)

    def write(self, view: Norms, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {} if view.x == EXAMPLE else {self.name: view.x}


def matrix_of(text: str) -> tuple[Matrix, str]:
    """The matrix that ``"1,2;2,3"`` stands for, rows by semicolons, and what was wrong with it.

    Where something was, the matrix is that of :data:`EXAMPLE`.
    """
    rows = [[cell.strip() for cell in row.split(",")] for row in text.split(";")]
    example = tuple(tuple(map(float, row.split(","))) for row in EXAMPLE.split(";"))
    if not FEWEST_ROWS <= len(rows) <= MOST or not 1 <= len(rows[0]) <= MOST:
        return example, gettext(
            "need {fewest} to {most} rows and 1 to {most} columns, got {rows} and {columns}",
            fewest=FEWEST_ROWS, most=MOST, rows=len(rows), columns=len(rows[0]),
        )  # fmt: skip
    if len({len(row) for row in rows}) > 1:
        return example, gettext("need rows of one length")
    for cell in (cell for row in rows for cell in row):
        if not _NUMBER.match(cell) or not abs(float(cell)) <= LARGEST:
            return example, gettext(
                "need numbers from −{largest:,.0f} to {largest:,.0f}", largest=LARGEST
            )
    return tuple(tuple(float(cell) for cell in row) for row in rows), ""


def text_of(matrix: Sequence[Sequence[float]]) -> str:
    """The text that :func:`matrix_of` turns into the matrix; 0 for what is not finite."""
    bounded = np.clip(np.nan_to_num(matrix, posinf=0, neginf=0), -LARGEST, LARGEST).tolist()
    return ";".join(",".join(f"{cell:.9g}".replace("e+", "e") for cell in row) for row in bounded)


def requests(view: Norms, _: Catalogue) -> Iterable[Request]:
    """What a worker must compute."""
    yield Request.make(TASK, options={"x": view.x, **dict(view.settings)}, seed=view.seed)


SETTINGS: Settings[Norms] = Settings(
    name="settings", parameters=lambda _, catalogue: catalogue.options[TASK]
)
LINK = Link(
    default=lambda catalogue: Norms(settings=defaults(catalogue.options[TASK])),
    fields=(MatrixText(name="x"), SETTINGS, Setting(name="seed", parameter=SEED)),
)
