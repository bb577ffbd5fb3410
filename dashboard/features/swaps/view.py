"""What the page *Swaps* shows, its link, and its requests.

``/swaps?model=stories260k&scorings=additive,=-|q - k|&normaliser=entmax15&steps=30&seeds=3`` and
``&text=Once upon a time …`` measure; ``?model=shipped:stories260K`` shows what is
shipped. ``&beside=additive&when=untuned&layer=2`` chooses what is looked at.
"""

from dataclasses import dataclass

from dashboard.links.attending import Names, normaliser_fields
from dashboard.links.fields import NAME, Choice, Setting, Text, device
from dashboard.links.link import Link
from dashboard.links.recipes import Recipe
from dashboard.records.attending import SOFTMAX
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request
from dashboard.records.text import LONGEST_PASSAGE

_SAID = beside(__file__, "words.toml")["view"]

TASK = "swaps"
SHIPPED = "shipped:"  # before the name of a file of prices
MOST = 4  # scorings of a visitor
RATES = (1e-3, 3e-3)
KINDS = ("decoder", "encoder-decoder")
WHENS = ("tuned", "untuned")
_USUAL = ("additive", "cosine")
# A step of a small model, and what is done once; of one core.
_SECONDS_PER_STEP, _SECONDS_ONCE = 0.03, 4.0
_FIRST = "stories260K"  # of the shipped ones


@dataclass(frozen=True, kw_only=True)
class Swaps(Recipe):
    """What the page shows.

    Args:
        model: a checkpoint's name, or :data:`SHIPPED` and the name of shipped results; empty
            where there is neither.
        scorings, text, steps, seeds: see the task; not of shipped results.
        beside: the swap whose text and maps are seen beside the original's; empty for the first.
        when: one of :data:`WHENS`.
        layer: of the maps, from 1.
    """

    text: str = ""
    steps: int = 20
    seeds: int = 3
    beside: str = ""
    when: str = WHENS[0]
    layer: int = 1


def models_of(catalogue: Catalogue) -> tuple[str, ...]:
    """The shipped results, then the models that were adopted here."""
    shipped = (one.choices for one in catalogue.options[TASK] if one.name == "shipped")
    names = sorted(next(shipped, ()), key=lambda name: name != _FIRST)
    here = [one.name for kind in KINDS for one in catalogue.of_kind(kind) if one.adopted]
    return (*(f"{SHIPPED}{name}" for name in names), *here)


def is_shipped(view: Swaps) -> bool:
    """Whether shipped results are seen."""
    return view.model.startswith(SHIPPED)


def requests(view: Swaps, catalogue: Catalogue) -> list[Request]:
    """The prices; none where something is missing."""
    if is_shipped(view):
        return [Request.make(TASK, data=view.model)]
    if view.model not in models_of(catalogue) or not view.scorings:
        return []
    options = {
        "scorings": "\n".join(view.scorings), "text": view.text,
        "normaliser": "" if view.normaliser == SOFTMAX else view.normaliser,
        "steps": view.steps, "seeds": view.seeds,
    }  # fmt: skip
    return [Request.make(TASK, data=view.model, options=options, device=view.device)]


def work(request: Request) -> float:
    """What tuning costs (:mod:`dashboard.records.request`); shipped results cost nothing."""
    if request.data.startswith(SHIPPED):
        return 0.1
    options = dict(request.options)
    trained = 1 + len(str(options["scorings"]).split("\n"))
    steps = int(options["steps"]) * int(options["seeds"]) * trained * len(RATES)
    return _SECONDS_ONCE + _SECONDS_PER_STEP * steps


def _setting(name: str) -> Setting[Swaps]:
    return Setting(name=name, parameter=lambda _, catalogue: catalogue.option(TASK, name))


MODEL: Choice[Swaps] = Choice(
    name="model", title="Model", options=lambda _, catalogue: models_of(catalogue), unknown=NAME,
)  # fmt: skip
SCORINGS: Names[Swaps] = Names(
    name="scorings", most=MOST,
    default=lambda catalogue: tuple(one for one in _USUAL if one in catalogue.scorings),
)  # fmt: skip
TEXT: Text[Swaps] = Text(
    name="text", title="Text to tune on", longest=LONGEST_PASSAGE,
    placeholder="empty: the model writes its own", help=_SAID["own_texts"],
)  # fmt: skip
STEPS, SEEDS = _setting("steps"), _setting("seeds")
BESIDE: Text[Swaps] = Text(name="beside", title="Beside the original")
WHEN: Choice[Swaps] = Choice(name="when", title="When", options=lambda _view, _catalogue: WHENS)
LAYER: Setting[Swaps] = Setting(
    name="layer", parameter=Parameter(name="layer", title="Layer", default=1,
                                      low=1, high=99, step=1),
)  # fmt: skip
DEVICE = device()
LINK = Link(
    default=lambda _: Swaps(),
    fields=(
        MODEL, SCORINGS, *normaliser_fields(), TEXT, STEPS, SEEDS, BESIDE, WHEN, LAYER, DEVICE,
    ),
)  # fmt: skip
