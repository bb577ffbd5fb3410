"""What the page *Alignment* shows, its link, and its requests.

``/alignment?a=bahdanau.additive&b=transformer.scaled_dot&b.map=1.2&count=500&pair=17&order=worst``.
Panels and their maps are those of :mod:`dashboard.links.panels`; ``corpus`` is what the models
were trained on. ``gold`` says what they are held against: a data set with gold alignments, an
uploaded file, or ``own`` for one pair that the link holds in ``source``, ``target`` and ``links``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dashboard.language import gettext_noop
from dashboard.links import panels
from dashboard.links.fields import UPLOADED, Choice, Setting, Text, device
from dashboard.links.fits import reference, usual_panels
from dashboard.links.link import Link, Reader
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request

TASK = "alignment"
OWN = "own"
EXAMPLE = {"source": "I'm home.", "target": "Je suis chez moi.", "links": "0-0 1-1 2-2 2-3 3-4"}
ORDERS = ("number", "worst")
MOST_PAIRS = 999_999
_LEAST_PANELS = 2
_SECONDS_PER_PAIR = 0.006  # of a Transformer, trained and with fresh weights
_LINKS_HELP = gettext_noop(
    "1-2 links source token 1 to target token 2, counted from 0; 1?2 is possible only. "
    "Punctuation and the parts of I'm and j'ai are tokens of their own."
)
_PAIR = Parameter(
    name="pair", title="Pair", default=1, low=1, high=MOST_PAIRS, step=1,
    help="Its number among the pairs on which none of these models was trained.",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Alignment(panels.Checkpoints):
    """What the page shows. Here the usual map of a panel is the one with the lowest error.

    Args:
        gold: whose alignments the models are held against.
        source, target, links: the one pair of ``gold=own``.
        count: how many pairs are scored.
        pair: the number of the pair that is shown, from 1.
        order: in which one goes from pair to pair.
    """

    gold: str = OWN
    source: str = EXAMPLE["source"]
    target: str = EXAMPLE["target"]
    links: str = EXAMPLE["links"]
    count: int
    pair: int = 1
    order: str = ORDERS[0]


@dataclass(frozen=True, kw_only=True)
class OwnText(Text[Alignment]):
    """A text of the pair by hand; what is not used stands in no link."""

    def read(self, reader: Reader, view: Alignment, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        if view.gold != OWN:
            return EXAMPLE[self.name]
        return super().read(reader, view, catalogue)

    def write(self, view: Alignment, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return super().write(view, catalogue) if view.gold == OWN else {}


def golden(catalogue: Catalogue) -> tuple[str, ...]:
    """The data sets with gold alignments."""
    known = catalogue.of_task("datasets", "translation")
    return tuple(name for name, entry in known.items() if entry.aligned)


def default_view(catalogue: Catalogue, trained_on: str = "") -> Alignment:
    """The view of the bare address, or of models that were trained on a certain corpus."""
    trained_on = trained_on or _usual_corpus(catalogue)
    return Alignment(
        panels=_usual_panels(catalogue, trained_on), corpus=trained_on,
        gold=_usual_gold(catalogue, trained_on),
        count=int(catalogue.option(TASK, "pairs").default),
    )  # fmt: skip


def alignment_request(
    view: Alignment, checkpoint: Checkpoint, beside: Iterable[Checkpoint], pair: int = 0
) -> Request:
    """What a worker must compute for one panel: the rates of its heads, or the maps of a pair.

    What any checkpoint ``beside`` it has learned is shown to none: the same pairs judge all.
    """
    options: dict[str, str | int] = {"corpus": view.gold}
    if view.gold == OWN:
        options |= {"source": view.source, "target": view.target, "links": view.links}
    else:
        options["others"] = _others(checkpoint, beside)
        options |= {} if pair else {"pairs": view.count}
    if pair:
        options["pair"] = pair
    return Request.make(TASK, data=checkpoint.name, options=options, device=view.device)


def alignment_work(request: Request) -> float:
    """What scoring many pairs costs (:mod:`dashboard.records.request`); one pair costs little."""
    return _SECONDS_PER_PAIR * scored_pairs(request)


def scored_pairs(request: Request) -> int:
    """How many pairs a request scores at most; 0 where it shows one."""
    return int(dict(request.options).get("pairs", 0))


def panel_requests(view: Alignment, catalogue: Catalogue, pair: int = 0) -> dict[str, Request]:
    """The rates of every panel's heads, by its letter, or their maps of one pair."""
    here = panels.checkpoints_of(view, catalogue)
    return {name: alignment_request(view, one, here.values(), pair) for name, one in here.items()}


def _others(checkpoint: Checkpoint, beside: Iterable[Checkpoint]) -> str:
    """One checkpoint of every other part of a corpus that was learned."""

    def learned(checkpoint: Checkpoint) -> str:
        names = ("sha256", "pairs", "held_out_sources", "split_seed")
        return repr([checkpoint.card["corpus"].get(name) for name in names])

    parts = {learned(other): other.name for other in sorted(beside, key=lambda one: one.name)}
    parts.pop(learned(checkpoint), None)
    return ",".join(sorted(parts.values()))


def _usual_corpus(catalogue: Catalogue) -> str:
    known, aligned = catalogue.corpora(), golden(catalogue)
    return next((name for name in known if name in aligned), next(iter(known), ""))


def _usual_panels(catalogue: Catalogue, trained_on: str) -> tuple[str, ...]:
    """Those of a translation, and some other where that is only one."""
    usual = usual_panels(catalogue, trained_on)
    names = (reference(catalogue, entry) for entry in catalogue.usual(trained_on))
    others = [name for name in names if name not in usual]
    return (*usual, *others)[: max(len(usual), _LEAST_PANELS)]


def _usual_gold(catalogue: Catalogue, trained_on: str) -> str:
    aligned = golden(catalogue)
    return trained_on if trained_on in aligned else next(iter(aligned), OWN)


def _own(name: str, title: str, help_: str = "") -> OwnText:
    return OwnText(
        name=name, title=title, placeholder=EXAMPLE[name], help=help_,
        default=lambda _view, _catalogue: EXAMPLE[name],
    )  # fmt: skip


CORPUS = panels.corpus(_usual_corpus, title=gettext_noop("Models trained on"))
PANELS: panels.PanelsField[Alignment] = panels.PanelsField(name="panels", default=_usual_panels)
GOLD: Choice[Alignment] = Choice(
    name="gold", title="Gold alignments of",
    options=lambda _, catalogue: (*golden(catalogue), OWN),
    default=lambda view, catalogue: _usual_gold(catalogue, view.corpus), unknown=UPLOADED,
)  # fmt: skip
OWN_PAIR = (
    _own("source", gettext_noop("Source")), _own("target", gettext_noop("Target")),
    _own("links", gettext_noop("Links"), _LINKS_HELP),
)  # fmt: skip
COUNT: Setting[Alignment] = Setting(
    name="count", parameter=lambda _, catalogue: catalogue.option(TASK, "pairs"), typed=True
)
PAIR: Setting[Alignment] = Setting(name="pair", parameter=_PAIR, typed=True)
ORDER: Choice[Alignment] = Choice(
    name="order", title="Order", options=lambda _view, _catalogue: ORDERS
)
DEVICE = device()
LINK = Link(
    default=default_view,
    fields=(
        CORPUS, PANELS, panels.CheckpointLetters(panels=PANELS), GOLD, *OWN_PAIR, COUNT, PAIR,
        ORDER, panels.SelectedField(name="selected", panels=PANELS), DEVICE,
    ),
    fitted=lambda view, _: replace(view, pair=1) if view.gold == OWN else view,
)  # fmt: skip
