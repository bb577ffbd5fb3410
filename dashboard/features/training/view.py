"""What the page *Train* shows, its link, and the requests it makes.

``?model=transformer&scorings=additive,scaled_dot&start=d2l&epochs=40&model.hidden=64&show=3f2a91c0``.
A link says what would be trained and which trainings are looked at; it never starts one.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress

from dashboard.language import gettext, ngettext, translated
from dashboard.links import recipes
from dashboard.links.fields import NOBODY, SEED, Setting, device
from dashboard.links.link import Field, Link, Reader
from dashboard.links.recipes import ID_DIGITS, MOST_SHOWN, SHOW, TASK, Recipe, own_metric
from dashboard.records.attending import SOFTMAX, normaliser_of
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric, Parameter
from dashboard.records.request import Request, about
from dashboard.records.text import not_installed, shown
from dashboard.records.training import EPOCHS, Training
from dashboard.ui import layout
from dashboard.ui.layout import data_title, model_title, scoring_title

_SAID = beside(__file__, "words.toml")["view"]


def training_title(training: Training, catalogue: Catalogue) -> str:
    """Model, scoring, normaliser if it is not the usual one, corpus."""
    model, scoring = training.request.model, training.request.scoring
    titles = [model_title(model, catalogue), scoring_title(scoring, catalogue)]
    data = data_title(training.request.data, catalogue)
    return " · ".join([*titles, *_normaliser(training, catalogue), data])


def _normaliser(training: Training, catalogue: Catalogue) -> list[str]:
    name, values = normaliser_of(dict(training.request.options))
    if name == SOFTMAX:
        return []
    specs = catalogue.normalisers[name].parameters if name in catalogue.normalisers else ()
    words = (layout.setting_words(s, values[s.name]) for s in specs if s.name in values)
    return [" ".join([layout.normaliser_title(name, catalogue), *words])]


def score_metric(training: Training, catalogue: Catalogue) -> Metric:
    """What held-out sentences are scored by: the data set's own metric, else BLEU."""
    data = training.request.data
    if own := training.facts.get("metric"):
        return Metric(
            name=str(own["name"]), title=translated(str(own["title"])),
            unit=translated(str(own.get("unit", ""))),
            better="higher" if own.get("higher_is_better", True) else "lower",
        )  # fmt: skip
    if expected := own_metric(data, catalogue):  # as it will say itself once it learns
        return replace(expected, name=catalogue.datasets[data].metric, help="")
    return catalogue.metric(TASK, "bleu")


def series_titles(chosen: Mapping[str, Training], catalogue: Catalogue) -> dict[str, str]:
    """By letter, the scoring and what else tells the trainings apart, behind the letter."""
    others = other_titles(chosen, catalogue)
    own = {letter: scoring_title(one.request.scoring, catalogue) for letter, one in chosen.items()}
    return {letter: " · ".join([f"{letter} {own[letter]}", *others[letter]]) for letter in chosen}


def other_titles(
    chosen: Mapping[str, Training], catalogue: Catalogue
) -> dict[str, tuple[str, ...]]:
    """By letter, model, normaliser and corpus, each where there are several."""
    parts = {
        letter: (
            [model_title(one.request.model, catalogue)], _normaliser(one, catalogue),
            [data_title(one.request.data, catalogue)],
        )
        for letter, one in chosen.items()
    }  # fmt: skip
    several = [len({*map(tuple, each)}) > 1 for each in zip(*parts.values(), strict=True)]
    return {n: tuple(chain.from_iterable(compress(own, several))) for n, own in parts.items()}


ACTIVE = ("queued", "running", "pausing")
_MOST_STOPS = 200  # of the slider


def reached(chosen: Mapping[str, Training]) -> int:
    """The last epoch of any training."""
    return max((len(training.epochs) for training in chosen.values()), default=0)


def planned(training: Training) -> int:
    """How many epochs it was asked for, or has, if that is not known."""
    asked = dict(training.request.options).get(EPOCHS, 0)
    return int(training.live.get("epochs") or max(int(asked), len(training.epochs)))


def last_epoch(chosen: Mapping[str, Training]) -> int:
    """Where the axis of epochs ends: what is planned, or was reached by those that ended."""
    ended = ("done", "failed", "cancelled")
    return max(1, *(len(t.epochs) if t.state in ended else planned(t) for t in chosen.values()))


def stops(last: int) -> list[int]:
    """The epochs that the slider stops at."""
    step = math.ceil(last / _MOST_STOPS) or 1
    return sorted({*range(step, last + 1, step), *([last] if last else [])})


def outlook(trainings: Sequence[Training]) -> str:
    """When all that run or wait will be done; empty where fewer than two do, or it is unknown."""
    left = [one.ahead.left for one in trainings if one.state in ACTIVE]
    known = [seconds for seconds in left if seconds is not None]
    if len(left) < 2 or len(known) < len(left):
        return ""
    return gettext(_SAID["waiting"], count=len(left), time=translated(about(max(known))))


def progress(training: Training) -> str:
    """How far a training is that has taken a step, and how long it will still take."""
    live, left = training.live, training.ahead.left
    at = {name: live[name] for name in ("epoch", "epochs", "step", "steps")}
    if left is None:
        return gettext("epoch {epoch:,} of {epochs:,} · step {step:,} of {steps:,}", **at)
    return gettext(_SAID["progress"], **at, time=translated(about(left)))


def waiting(training: Training) -> str:
    """The place in the queue of a training that waits, and when it will start."""
    before, starts_in = training.ahead.before, training.ahead.starts_in
    if before is None:
        return translated(training.note)
    time = translated(about(starts_in)) if starts_in else ""  # it starts now, or nobody knows
    if not before:
        if not time:
            return gettext("Next in the queue.")
        return gettext("Next in the queue. Starts in {time}.", time=time)
    if not time:
        return ngettext(**_SAID["before"], count=before)
    return ngettext(**_SAID["starts"], count=before, time=time)


_TRAINING = re.compile(rf"[0-9a-f]{{{ID_DIGITS},32}}\Z")


@dataclass(frozen=True, kw_only=True)
class Train(Recipe):
    """What to train, and which trainings to look at.

    Args:
        shown: the trainings in the charts, by the first digits of their ids; None for the latest.
        epoch: whose probe to look at; 0 for each training's latest.
    """

    seed: int = 0
    shown: tuple[str, ...] | None = None
    epoch: int = 0


class Shown(Field[Train, tuple[str, ...] | None]):
    """The trainings in the charts."""

    def read(self, reader: Reader, view: Train, catalogue: Catalogue) -> tuple[str, ...] | None:
        """See :meth:`Field.read`."""
        given = reader.take(SHOW)
        if given is None or given == NOBODY:
            return None if given is None else ()
        kept = []
        for one in dict.fromkeys(given.split(",")):
            if _TRAINING.match(one):
                kept.append(one)
                continue
            reader.problem(
                gettext(_SAID["no_training"], parameter=SHOW, given=shown(one), least=ID_DIGITS)
            )
        if len(kept) > MOST_SHOWN:
            reader.problem(
                gettext(_SAID["too_many"], parameter=SHOW, count=len(kept), most=MOST_SHOWN)
            )
        return tuple(kept[:MOST_SHOWN]) or None

    def write(self, view: Train, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {} if view.shown is None else {SHOW: ",".join(view.shown) or NOBODY}


def missing(view: Train, catalogue: Catalogue, rows: int = 0) -> str:
    """What keeps the view from being trained, in a sentence; empty if nothing does.

    ``rows``: lines of the uploaded file; 0 for a data set, or if it is not known.
    """
    strangers = (name for name in view.scorings if name not in catalogue.scorings)
    absent = (not_installed("Scoring", name) for name in strangers)
    return recipes.obstacle(view, catalogue, rows=rows) or next(absent, "")


def requests(view: Train) -> tuple[Request, ...]:
    """What a press of the button trains: one request for each scoring."""
    return recipes.training_requests(view, view.seed)


SEED_FIELD: Setting[Train] = Setting(name="seed", parameter=SEED)
EPOCH: Setting[Train] = Setting(
    name="epoch",
    parameter=Parameter(name="epoch", title="Epoch", default=0, low=0, high=10_000, step=1),
)
DEVICE = device()
LINK = Link(
    default=lambda _: Train(),
    fields=(*recipes.FIELDS, SEED_FIELD, DEVICE, Shown(name="shown"), EPOCH),
)
