"""Fits and trained models as links and requests name them.

The pages *Kernel regression* and *Experiment* both ask for fits, and an experiment finds what
the other page has computed because equal fits give equal requests.

A checkpoint is called ``model.scoring``, or by its own name where two checkpoints of a corpus
share model and scoring; one that is shipped shares with shipped ones alone, so that nothing that
is trained on a server changes its name. A link may name what is not installed here, since it may
come from somebody who has more plugins; :func:`untrained` says so in a sentence.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.language import gettext, gettext_noop
from dashboard.links.attending import learns
from dashboard.links.fields import AUTO, NAME, KeyOf, Settings, data, refused
from dashboard.links.link import Field, Reader
from dashboard.records import request as records
from dashboard.records.attending import Attending, Normalised
from dashboard.records.catalogue import TRANSLATES, Catalogue, Checkpoint
from dashboard.records.parameter import Parameter, defaults
from dashboard.records.request import COLUMNS, Columns, Pairs, Request, Scalar, is_upload
from dashboard.records.text import not_installed, shown

EXAMPLE = gettext_noop("model.scoring such as bahdanau.additive")

_USUAL = (
    "bahdanau.additive", "bahdanau.scaled_dot", "transformer.scaled_dot", "bahdanau.bilinear",
)  # fmt: skip
_USUAL_PANELS, _KEPT = 3, 32


def reference(catalogue: Catalogue, checkpoint: Checkpoint) -> str:
    """What a panel calls this checkpoint within its corpus.

    By its name, which stays its own, what was kept or adopted here, what has a formula for its
    scoring, and what reads pieces of words: it stands beside the one that reads words.
    """
    if not checkpoint.shipped or not _by_recipe(checkpoint):
        return checkpoint.name
    made_of = (checkpoint.model, checkpoint.scoring, checkpoint.corpus)
    alike = [one for one in catalogue.of_kind(checkpoint.kind)
             if one.shipped and not _reads_pieces(one)
             and (one.model, one.scoring, one.corpus) == made_of]  # fmt: skip
    return f"{checkpoint.model}.{checkpoint.scoring}" if len(alike) == 1 else checkpoint.name


def _by_recipe(checkpoint: Checkpoint) -> bool:
    """Whether its model and scoring say what it is."""
    told = NAME.match(checkpoint.scoring) and not _reads_pieces(checkpoint)
    return bool(told and not checkpoint.adopted)


def _reads_pieces(checkpoint: Checkpoint) -> bool:
    return checkpoint.card.get("tokeniser") == "pieces"


@functools.lru_cache(maxsize=_KEPT)
def translators(catalogue: Catalogue, corpus: str) -> Mapping[str, Checkpoint]:
    """The checkpoints that translate, to set side by side for a corpus, by a panel's names."""
    return {reference(catalogue, entry): entry for entry in catalogue.readers(corpus)}


@functools.lru_cache(maxsize=_KEPT)
def references(catalogue: Catalogue, corpus: str) -> Mapping[str, Checkpoint]:
    """Those that translate, then decoders and encoders by their own names."""
    others = (one for one in catalogue.checkpoints.values() if one.kind != TRANSLATES)
    return {**translators(catalogue, corpus), **{one.name: one for one in others}}


def resolve(catalogue: Catalogue, corpus: str, panel: str) -> Checkpoint | None:
    """The checkpoint that a panel means, if it is here.

    ``bahdanau.additive`` also means the only kept one of these two: former links call it so.
    """
    known = references(catalogue, corpus)
    for name, checkpoint in known.items():
        if panel in (checkpoint.name, name):
            return checkpoint
    kept = [one for one in known.values() if not one.shipped and _by_recipe(one)]
    made_so = [one for one in kept if f"{one.model}.{one.scoring}" == panel]
    return made_so[0] if len(made_so) == 1 else None


def named(catalogue: Catalogue, corpus: str, given: str) -> str:
    """What a panel calls the checkpoint of a link; empty where that can be no name."""
    found = resolve(catalogue, corpus, given)
    if found is not None:
        return reference(catalogue, found) if found.kind == TRANSLATES else found.name
    parts = given.split(".")
    return given if len(parts) <= 2 and all(NAME.match(part) for part in parts) else ""


def untrained(catalogue: Catalogue, corpus: str, panel: str) -> str:
    """Why a panel's checkpoint is not here, in a sentence, and what would bring it."""
    model, _, scoring = panel.rpartition(".")
    if not model:
        return gettext(
            "There is no checkpoint {panel} of the corpus {corpus} here.",
            panel=shown(panel), corpus=shown(catalogue.corpus_title(corpus)),
        )  # fmt: skip
    for kind, name, known in (
        (gettext_noop("Model"), model, catalogue.models),
        (gettext_noop("Scoring"), scoring, catalogue.scorings),
    ):
        if name not in known:
            return not_installed(kind, name)
    return gettext(
        "{model} with {scoring} has not been trained on {corpus} here.",
        model=catalogue.models[model].short_title, scoring=catalogue.scorings[scoring].short_title,
        corpus=shown(catalogue.corpus_title(corpus)),
    )  # fmt: skip


def usual_corpus(catalogue: Catalogue) -> str:
    """The corpus of most shipped checkpoints; empty where there is none."""
    return next(iter(catalogue.corpora()), "")


@functools.lru_cache(maxsize=_KEPT)
def usual_panels(catalogue: Catalogue, corpus: str) -> tuple[str, ...]:
    """Two checkpoints that differ in their scoring alone and one of another model, if here."""
    names = [reference(catalogue, entry) for entry in catalogue.usual(corpus)]
    chosen = [name for name in _USUAL if name in names] or names
    return tuple(chosen[:_USUAL_PANELS])


def translation_request(
    checkpoint: Checkpoint, *, text: str, target: str = "", device: str = AUTO, **more: Scalar
) -> Request:
    """What a worker must translate; ``target`` are words to force.

    More options are ``beam`` and ``changes`` to heads, which are left out where there are none.
    """
    options = {"text": text, "beam": 1, "target": target}
    options |= {name: value for name, value in more.items() if value}
    return Request.make("translation", data=checkpoint.name, options=options, device=device)


TASK = "regression"
MODEL, DATA = "nadaraya_watson", "sine"
# Of a fit on one core: a Gaussian's, and of learning that of an additive scoring.
_SECONDS, _SECONDS_PER_PAIR = 0.005, 3.5e-8
_SECONDS_PER_ROW = 0.2  # of a random forest that is fitted without it
_SECONDS_PER_EPOCH, _SECONDS_PER_LEARNED_PAIR = 1e-3, 1.2e-7
# At most: those of an evaluation by scores, and of a step of learning.
_MOST_PAIRS, _MOST_LEARNED_PAIRS, _FEWEST_ROWS = 100_000_000, 1 << 22, 500
_SIGNS = 20  # of a formula whose scores cost as much as a Gaussian's
_POINTS, _EPOCHS = 50, 200  # where a request does not say
LEARN, _STANDARDISE = "learn", "standardise"  # switches among what the task reads
VALIDATION, LEAVE_ONE_OUT = "validation.", "leave-one-out"  # how rows are left out: options, usual


@dataclass(frozen=True, kw_only=True)
class Fit(Attending):
    """One scoring in one model: all parameters of both, and how it learns, if it does."""

    model: str = MODEL
    learn: bool = False
    fitting: Pairs = ()


def default_fit(
    catalogue: Catalogue, scoring: str, *, model: str = MODEL, learn: bool = False,
    normalised: Normalised | None = None,
) -> Fit:  # fmt: skip
    """A scoring with everything at its default but a given normaliser; it learns if it can."""
    fit = Fit(scoring=scoring, model=model)
    if normalised:
        fit = replace(
            fit, normaliser=normalised.normaliser,
            normaliser_parameters=normalised.normaliser_parameters,
        )  # fmt: skip
    learn = learn and learns(fit, catalogue)
    fitting = defaults(fitting_parameters(catalogue)) if learn else ()
    parameters = defaults(fit_parameters(catalogue, fit))
    return replace(fit, learn=learn, parameters=parameters, fitting=fitting)


def fit_parameters(catalogue: Catalogue, fit: Fit) -> tuple[Parameter, ...]:
    """The parameters of the scoring, then those that only the model has."""
    if fit.scoring not in catalogue.scorings or fit.model not in catalogue.models:
        return ()
    found: dict[str, Parameter] = {}
    for entry in (catalogue.scorings[fit.scoring], catalogue.models[fit.model]):
        for parameter in entry.parameters:
            found.setdefault(parameter.name, parameter)
    return tuple(found.values())


def learning(catalogue: Catalogue) -> Parameter:
    """Whether the scoring's weights are learned, as the task says it."""
    return catalogue.option(TASK, LEARN)


def fitting_parameters(catalogue: Catalogue) -> tuple[Parameter, ...]:
    """How a scoring learns: what the task reads besides the switches themselves."""
    options = catalogue.options.get(TASK, ())
    return tuple(each for each in options if each.name not in (LEARN, _STANDARDISE))


def data_parameters(catalogue: Catalogue, data: str) -> tuple[Parameter, ...]:
    """What may be set about the data: a problem's parameters, or how a table is treated."""
    if is_upload(data):
        options = catalogue.options.get(TASK, ())
        return tuple(replace(each, default=True) for each in options if each.name == _STANDARDISE)
    return catalogue.datasets[data].parameters if data in catalogue.datasets else ()


def fit_request(
    fit: Fit, *, data: str, settings: Pairs, columns: str = "", seed: int = 0, device: str = AUTO
) -> Request:
    """What a worker must compute for a fit; ``settings`` are of :func:`data_parameters`."""
    prefix = "" if is_upload(data) else "data."
    options = fit.options()
    for name, value in settings:
        options[f"{prefix}{name}"] = value
    if is_upload(data) and columns:
        options[COLUMNS] = columns
    if fit.learn:
        options |= {LEARN: True, **dict(fit.fitting)}
    return Request.make(
        TASK, model=fit.model, scoring=fit.scoring, parameters=dict(fit.parameters), data=data,
        options=options, seed=seed, device=device,
    )  # fmt: skip


def fit_work(request: Request, rows: int = 0) -> float:
    """What a fit costs, see :mod:`dashboard.records.request`.

    Points are predicted from all others, once for their figures and once for each epoch; many
    are sampled, see :func:`attention_plugins.regression.evaluate`. A formula costs more the
    longer it is. ``rows`` are an uploaded table's.
    """
    options = dict(request.options)
    points = rows or int(options.get("data.points", _POINTS))
    queries = int(options.get("data.queries", _POINTS))
    epochs = int(options.get("epochs", _EPOCHS)) if options.get(LEARN) else 0
    pairs = min(points * points, max(_MOST_PAIRS, _FEWEST_ROWS * points))
    learned_pairs = min(points * points, max(_MOST_LEARNED_PAIRS, points))
    times = max(1.0, len(request.scoring) / _SIGNS) if records.is_formula(request.scoring) else 1.0
    once = _SECONDS_PER_PAIR * times * (pairs + points * queries)
    learned = _SECONDS_PER_LEARNED_PAIR * times * learned_pairs
    folds = int(options.get(f"{VALIDATION}folds", 1))
    once *= 8 * folds if options.get(f"{VALIDATION}tune") else 1  # eight values of a slider
    if options.get(f"{VALIDATION}method") == LEAVE_ONE_OUT:
        once += _SECONDS_PER_ROW * min(points, _FEWEST_ROWS)
    return _SECONDS + once + folds * epochs * (_SECONDS_PER_EPOCH + learned)


@dataclass(frozen=True, kw_only=True)
class TableColumns(Field[Any, str]):
    """The columns of an uploaded table: ``2,4:5`` for 2 and 4 as inputs of 5; empty: the usual.

    A number names a column even of an absent file. A file, named by its content, never changes.
    """

    def read(self, reader: Reader, view: Any, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(COLUMNS) if is_upload(view.data) else None
        if not given:
            return ""
        if found := Columns.read(given):
            return found.write()
        wanted = gettext("numbers of columns such as 1,2:3, each once")
        refused(reader, COLUMNS, given, wanted, gettext("the usual choice"))
        return ""

    def write(self, view: Any, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        chosen = self.of(view)
        return {COLUMNS: chosen} if chosen and is_upload(view.data) else {}


def settings(key_of: KeyOf) -> Settings[Any]:
    """The field ``settings``: what may be set about the view's data; comes after these."""
    return Settings(
        name="settings", parameters=lambda view, catalogue: data_parameters(catalogue, view.data),
        owner=lambda view: "table" if is_upload(view.data) else view.data, key_of=key_of,
    )  # fmt: skip


PROBLEM = replace(data(TASK, lambda _view, _catalogue: DATA), title=gettext_noop("Problem"))

COLUMNS_FIELD = TableColumns(name="columns")
