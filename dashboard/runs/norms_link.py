"""The page *Layer norm and batch norm* as a link: ``/normalisation?x=1,2;2,3&momentum=0.2``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from dashboard.runs.link_parts import SEED, defaults, read_knobs, write_knobs
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Pairs, Request

TASK = "norms"
EXAMPLE = "1,2;2,3"  # of the section "Residual connections and layer normalisation" of d2l.ai
FEWEST_ROWS, MOST = 2, 8
LARGEST = 1e6

Matrix = tuple[tuple[float, ...], ...]

_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,20})?|\.[0-9]{1,20})(e[+-]?[0-9]{1,3})?\Z")


@dataclass(frozen=True, kw_only=True)
class Norms:
    """What the page shows: a matrix as text, all knobs' values, a seed."""

    x: str = EXAMPLE
    settings: Pairs = ()
    seed: int = 0


def norms_knobs(catalogue: Catalogue) -> tuple[Knob, ...]:
    """What may be set besides the matrix."""
    return catalogue.options[TASK]


def matrix_of(text: str) -> tuple[Matrix, str]:
    """The matrix that ``"1,2;2,3"`` stands for, rows by semicolons, and what was wrong with it.

    Where something was, the matrix is that of :data:`EXAMPLE`.
    """
    rows = [[cell.strip() for cell in row.split(",")] for row in text.split(";")]
    example = tuple(tuple(map(float, row.split(","))) for row in EXAMPLE.split(";"))
    if not FEWEST_ROWS <= len(rows) <= MOST or not 1 <= len(rows[0]) <= MOST:
        return example, (
            f"need {FEWEST_ROWS} to {MOST} rows and 1 to {MOST} columns, "
            f"got {len(rows)} and {len(rows[0])}"
        )
    if len({len(row) for row in rows}) > 1:
        return example, "need rows of one length"
    for cell in (cell for row in rows for cell in row):
        if not _NUMBER.match(cell) or not abs(float(cell)) <= LARGEST:
            return example, f"need numbers from −{LARGEST:,.0f} to {LARGEST:,.0f}"
    return tuple(tuple(float(cell) for cell in row) for row in rows), ""


def text_of(matrix: Matrix) -> str:
    """The text that :func:`matrix_of` turns into the matrix; an empty cell is 0."""
    return ";".join(",".join(_written(cell) for cell in row) for row in matrix)


def _written(cell: float) -> str:
    if not math.isfinite(cell):
        return "0"
    return f"{min(max(cell, -LARGEST), LARGEST):.9g}".replace("e+", "e")


def default_norms(catalogue: Catalogue) -> Norms:
    """The example, with everything at its default."""
    return Norms(settings=defaults(norms_knobs(catalogue)))


def parse_norms(query: Query, catalogue: Catalogue) -> tuple[Norms, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    given = reader.take("x")
    matrix, problem = matrix_of(EXAMPLE if given is None else given)
    if problem:
        reader.problem(f"x={shown(given)}: {problem}, so {EXAMPLE} is used")
    view = Norms(
        x=text_of(matrix),
        settings=read_knobs(reader, str, norms_knobs(catalogue)),
        seed=reader.knob(SEED, SEED.name),
    )
    return view, reader.finish()


def format_norms(view: Norms, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link = {} if view.x == EXAMPLE else {"x": view.x}
    write_knobs(link, str, norms_knobs(catalogue), view.settings)
    if view.seed != SEED.default:
        link[SEED.name] = SEED.write(view.seed)
    return link


def norms_request(view: Norms) -> Request:
    """What a worker must compute."""
    return Request.make(TASK, options={"x": view.x, **dict(view.settings)}, seed=view.seed)
