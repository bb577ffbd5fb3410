"""Trainings of several scorings as links and requests name them: everything but the seed.

The pages *Train* and *Experiment* both ask for trainings, and each finds what the other has begun
because equal recipes give equal requests. Names that are not installed here stay in a recipe,
since a link may come from a friend who has more plugins; :func:`obstacle` says so in a sentence.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from dashboard.language import gettext, gettext_noop
from dashboard.links import attending
from dashboard.links.fields import AUTO, NAME, Choice, Settings, Text, data
from dashboard.links.link import Query
from dashboard.links.panels import ENGLISH
from dashboard.records.attending import OF_NORMALISER, SOFTMAX, Attending, Normalised
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric, Parameter, defaults, pairs
from dashboard.records.request import Pairs, Request, Scalar
from dashboard.records.text import not_installed
from dashboard.records.training import EPOCHS

_SAID = beside(__file__, "words.toml")["recipes"]
TASK, CORPORA = "training", "translation"  # of the requests, and of the models and data sets
OF_MODEL = "model."  # before the names of a model's own parameters
BATCH, PAIRS, HELD_OUT = "recipe.batch_size", "pairs", "held_out"
# What most would set; a page may put the rest out of the way.
MAIN = (EPOCHS, "recipe.learning_rate", f"{OF_MODEL}hidden", BATCH, PAIRS, HELD_OUT)
TOKENISER = "recipe.tokeniser"
SCORE = "score"  # by the data set's own metric, among the figures of a training
SHOW, MOST_SHOWN = "show", 4  # in the link of the page Train, the trainings in its charts
ID_DIGITS = 8  # hexadecimal digits that name a training in a link

_OF_RECIPE = "recipe."  # before the names of the recipe's own parameters; not in a link
_USUAL_SCORINGS = ("additive", "scaled_dot")
_PRESET_TITLES = beside(__file__, "words.toml")["presets"]


@dataclass(frozen=True, kw_only=True)
class Recipe(Normalised):
    """What to train, and how: a training for each scoring, all with one normaliser.

    Args:
        start: the preset whose values ``settings`` began with: every option of a request but the
            probe, the sentence to translate after every epoch, and the normaliser.
        parameters: the scorings', named ``gaussian.width``; of a formula by its short name.
    """

    model: str = ""
    scorings: tuple[str, ...] = ()
    data: str = ""
    start: str = ""
    settings: Pairs = ()
    parameters: Pairs = ()
    probe: str = ""
    device: str = AUTO

    def changed(self, **values: Any) -> Self:
        """The same with other values, and with what follows from them."""
        return replace(self, **values)

    def attending(self, scoring: str) -> Attending:
        """One of the scorings with the values of its own parameters, and the normaliser."""
        prefix = f"{attending.short_name(scoring)}."
        own = ((name.removeprefix(prefix), value) for name, value in self.parameters
               if name.startswith(prefix))  # fmt: skip
        return Attending(
            scoring=scoring, parameters=tuple(own), normaliser=self.normaliser,
            normaliser_parameters=self.normaliser_parameters,
        )  # fmt: skip


View = TypeVar("View", bound=Recipe)


def setting_parameters(recipe: Recipe, catalogue: Catalogue) -> tuple[Parameter, ...]:
    """Corpus, recipe and model, named as in a request's options, at the values of the preset."""
    model, corpus = catalogue.models.get(recipe.model), catalogue.datasets.get(recipe.data)
    values = catalogue.presets.get(recipe.start, {}).get(recipe.model, {})
    if corpus and corpus.tokeniser:
        values = {**values, TOKENISER: corpus.tokeniser}
    own = [replace(one, name=OF_MODEL + one.name) for one in (model.parameters if model else ())]
    found = []
    for each in (*catalogue.options.get(TASK, ()), *own):
        parameter = replace(each, default=values.get(each.name, each.default))
        if parameter.name == PAIRS and corpus:  # no more than the data set can give
            high = next((one.high for one in corpus.parameters if one.name == PAIRS), each.high)
            if high is not None:
                most = min(int(parameter.default), int(high))
                parameter = replace(parameter, high=high, default=most)
        found.append(parameter)
    return tuple(found)


def scoring_parameters(recipe: Recipe, catalogue: Catalogue) -> tuple[Parameter, ...]:
    """The parameters of the chosen scorings, named ``gaussian.width``."""
    return tuple(
        replace(parameter, name=f"{attending.short_name(name)}.{parameter.name}",
                title=gettext("{scoring}: {parameter}", scoring=scoring.short_title,
                              parameter=parameter.title))
        for name in recipe.scorings
        if (scoring := catalogue.scorings.get(name))
        for parameter in scoring.parameters
    )  # fmt: skip


def formulas(query: Query, recipe: Recipe | None) -> Iterator[str]:
    """Every formula that a link and a recipe name, without ``=`` in front."""
    yield from attending.formulas_among(attending.split(attending.given(query, SCORINGS.name)))
    yield from attending.formulas_among(recipe.scorings if recipe else ())


def own_metric(data: str, catalogue: Catalogue) -> Metric | None:
    """What a data set is scored by, where that is not BLEU."""
    corpus = catalogue.datasets.get(data)
    known = catalogue.others.get("metrics", {}).get(corpus.metric if corpus else "")
    if known is None or known.name == "bleu":
        return None
    better = "higher" if known.higher_is_better else "lower"
    return Metric(
        name=SCORE, title=known.title, unit=known.unit, better=better, help=known.description
    )


def usual_probe(recipe: Recipe, catalogue: Catalogue) -> str:
    """The sentence that the preset tries; it is English, so elsewhere the data set's first."""
    corpus = catalogue.datasets.get(recipe.data)
    if corpus and corpus.examples and corpus.sides[:1] != (ENGLISH,):
        return corpus.examples[0]
    values = catalogue.presets.get(recipe.start, {}).get(recipe.model, {})
    return str(values.get("probe", ""))


def usual_scorings(
    catalogue: Catalogue, usual: Iterable[str] = _USUAL_SCORINGS
) -> tuple[str, ...]:
    """Those of ``usual`` that are installed here, else the first one that is."""
    found = tuple(name for name in usual if name in catalogue.scorings)
    return found or tuple(catalogue.scorings)[:1]


def refitted(recipe: View, catalogue: Catalogue, kept: Mapping[str, Scalar]) -> View:
    """The recipe with a value for every parameter that it has now: ``kept``, else the usual."""
    known = {parameter.name: parameter for parameter in setting_parameters(recipe, catalogue)}
    held = {name: value for name, value in kept.items() if name in known}
    most = known[PAIRS].high if PAIRS in held else None
    if most is not None:
        held[PAIRS] = min(int(held[PAIRS]), int(most))
    own = defaults(scoring_parameters(recipe, catalogue))
    chosen = dict(recipe.parameters)
    return replace(
        recipe, settings=pairs({**dict(defaults(known.values())), **held}),
        parameters=pairs({name: chosen.get(name, value) for name, value in own}),
        probe=recipe.probe or usual_probe(recipe, catalogue),
    )  # fmt: skip


def followed(before: Recipe, recipe: View, catalogue: Catalogue) -> View:
    """The recipe once its settings follow another model, corpus or preset than ``before``.

    A preset sets everything. Another model takes its own parameters' values from the preset,
    another corpus its tokeniser, and its probe unless that was chosen.
    """
    kept = {} if recipe.start != before.start else dict(recipe.settings)
    probe = recipe.probe
    if recipe.data != before.data:
        kept.pop(TOKENISER, None)
        if probe == usual_probe(before, catalogue):
            probe = ""
    recipe = replace(recipe, probe=probe)
    if recipe.model != before.model:
        kept = {name: value for name, value in kept.items() if not name.startswith(OF_MODEL)}
    return refitted(recipe, catalogue, kept)


def obstacle(recipe: Recipe, catalogue: Catalogue, task: str = CORPORA, rows: int = 0) -> str:
    """What keeps it from being made, in a sentence; ``rows`` are an uploaded file's, if known."""
    if recipe.model not in catalogue.of_task("models", task):
        return not_installed(gettext_noop("Model"), recipe.model)
    if not recipe.scorings:
        return gettext("Choose at least one scoring.")
    if absent := attending.absent_normaliser(recipe, catalogue):
        return absent
    for each in map(recipe.attending, recipe.scorings):
        if recipe.normaliser != SOFTMAX and attending.brings_own(each, catalogue):
            title = catalogue.scorings[each.scoring].short_title
            return gettext(_SAID["own_normaliser"], scoring=title)
    chosen = dict(recipe.settings)
    pairs = min(filter(None, (int(chosen.get(PAIRS, 0)), rows)), default=0)
    held_out = int(chosen.get(HELD_OUT, 0))
    if pairs and held_out >= pairs:
        return gettext(_SAID["nothing_left"], held_out=held_out, pairs=pairs)
    return ""


def training_requests(recipe: Recipe, seed: int) -> tuple[Request, ...]:
    """One for each scoring."""
    options = {**dict(recipe.settings), **recipe.options(), PROBE.name: recipe.probe}
    return tuple(
        Request.make(
            TASK, model=recipe.model, scoring=scoring, data=recipe.data, options=options,
            parameters=dict(recipe.attending(scoring).parameters), seed=seed, device=recipe.device,
        )
        for scoring in recipe.scorings
    )  # fmt: skip


def in_charts(ids: Iterable[str]) -> dict[str, str]:
    """The link to the page *Train* with these trainings in its charts, as many as it shows."""
    return {SHOW: ",".join(id[:ID_DIGITS] for id in [*ids][:MOST_SHOWN])}


MODEL: Choice[Any] = Choice(
    name="model", title="Model",
    options=lambda _, catalogue: tuple(catalogue.of_task("models", CORPORA)), unknown=NAME,
)  # fmt: skip
SCORINGS: attending.Names[Any] = attending.Names(name="scorings", default=usual_scorings)
CORPUS = replace(
    data(CORPORA, lambda _, catalogue: next(iter(catalogue.of_task("datasets", CORPORA)), "")),
    title=gettext_noop("Corpus"),
)
START: Choice[Any] = Choice(
    name="start", title="Start from", help="Sets everything below; change what you like.",
    options=lambda _, catalogue: tuple(catalogue.presets),
    titles=lambda name, _: _PRESET_TITLES.get(name, name),
)  # fmt: skip
SETTINGS: Settings[Any] = Settings(
    name="settings", parameters=setting_parameters, owner=lambda recipe: recipe.model,
    key_of=lambda name: name.removeprefix(_OF_RECIPE),
)  # fmt: skip
PARAMETERS: Settings[Any] = Settings(
    name="parameters", parameters=scoring_parameters, owner=lambda _: "scoring",
    # A plugin may call its scoring ``model`` or ``normaliser``.
    key_of=lambda n: (f"scoring.{n}" if n.startswith((OF_MODEL, OF_NORMALISER)) else n),
)  # fmt: skip
PROBE: Text[Any] = Text(
    name="probe", title="Probe sentence", help="Translated after every epoch.",
    default=usual_probe,
)  # fmt: skip
# In the order in which they are read: a later one may depend on those before it.
FIELDS = (
    MODEL, SCORINGS, CORPUS, START, SETTINGS, PARAMETERS, *attending.normaliser_fields(), PROBE,
)  # fmt: skip
