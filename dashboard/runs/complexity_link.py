"""The page *Complexity* as a link: ``/complexity?longest=2048&kernel=5&seed=1``."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.runs.link_parts import AUTO, SEED, read_device, read_knobs, write_knobs
from dashboard.runs.offers import Catalogue, Knob
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Pairs, Request

TASK = "complexity"


@dataclass(frozen=True, kw_only=True)
class Complexity:
    """What the page shows. Another seed draws other weights, and measures again."""

    settings: Pairs = ()
    seed: int = 0
    device: str = AUTO


def complexity_knobs(catalogue: Catalogue) -> tuple[Knob, ...]:
    """What may be set: sizes, kernel, repeats."""
    return catalogue.options[TASK]


def parse_complexity(query: Query, catalogue: Catalogue) -> tuple[Complexity, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    view = Complexity(
        settings=read_knobs(reader, str, complexity_knobs(catalogue)),
        seed=reader.knob(SEED, SEED.name),
        device=read_device(reader, catalogue),
    )
    return view, reader.finish()


def format_complexity(view: Complexity, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    link: dict[str, str] = {}
    write_knobs(link, str, complexity_knobs(catalogue), view.settings)
    if view.seed != SEED.default:
        link[SEED.name] = SEED.write(view.seed)
    if view.device != AUTO:
        link["device"] = view.device
    return link


def complexity_request(view: Complexity) -> Request:
    """What a worker must measure."""
    return Request.make(TASK, options=dict(view.settings), seed=view.seed, device=view.device)
