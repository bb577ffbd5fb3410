"""What the page *Experiment* shows, its link, and the runs it names: scorings times seeds.

``?scorings=gaussian,laplacian&seeds=8&data=step&gaussian.width=0.5`` fits curves;
``?task=translation&model=transformer&scorings=scaled_dot,additive&seeds=3&epochs=4`` names six
trainings, everything but ``task``, ``seeds``, ``figure`` and ``maps`` as in a link to the page
*Train*. A link never starts a training.

A view names its runs and nothing else does: equal views give equal requests, which are looked up
among what is there. A training that the page *Train* began is found by the same request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Self

from dashboard.language import gettext_noop
from dashboard.links import fits, recipes
from dashboard.links.attending import Names, normaliser_fields
from dashboard.links.fields import NAME, SEED, Choice, Setting, Settings, device
from dashboard.links.fits import COLUMNS_FIELD, LEARN, PROBLEM
from dashboard.links.link import Field, Link, Reader
from dashboard.records.attending import NORMALISER, OF_NORMALISER
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric, Parameter, pairs
from dashboard.records.request import Pairs, Request, Scalar, is_upload


@dataclass(frozen=True, kw_only=True)
class OfTask(Field[Any, Any]):
    """An attribute that another field reads and writes for each task, and for some none."""

    fields: Mapping[str, Field[Any, Any]]

    def read(self, reader: Reader, view: Any, catalogue: Catalogue) -> Any:
        """See :meth:`Field.read`."""
        field = self.fields.get(view.task)
        return field.read(reader, view, catalogue) if field else self.of(view)

    def write(self, view: Any, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        field = self.fields.get(view.task)
        return field.write(view, catalogue) if field else {}


REGRESSION, TRANSLATION = "regression", "translation"
TASKS = (REGRESSION, TRANSLATION)
MOST_SEEDS = 30
TUNING_SEEDS = (1_000_000, 1_000_001, 1_000_002)  # above all that are reported
VALIDATION = "leave_one_out_mse"  # the metric by which a scoring is tuned

_USUAL_SCORINGS = ("uniform", "gaussian", "laplacian", "scaled_dot")
_SEEDS = {REGRESSION: 5, TRANSLATION: 3}  # of a link that names none, as it has always been
_LEVEL = 0.05  # of the tests
_REFERENCES = {REGRESSION: "gaussian", TRANSLATION: "scaled_dot"}
_OF_REQUEST = {REGRESSION: fits.TASK, TRANSLATION: recipes.TASK}
_OWN = frozenset(
    ("task", "model", "figure", SEED.name, "seeds", "maps", "scorings", "data", LEARN,
     "device", NORMALISER, "tune", "reference")
)  # fmt: skip
_PREFIXES = ("data.", f"{LEARN}.", OF_NORMALISER)

Place = tuple[str, int]  # of a run in the experiment: its scoring and its seed


class Seeds(Setting["Experiment"]):
    """How many seeds: of a bare address enough for its scorings.

    A link that names other things but no seeds keeps the number that it had when it was written.
    """

    def read(self, reader: Reader, view: "Experiment", catalogue: Catalogue) -> Scalar:
        """See :meth:`Field.read`."""
        if reader.bare:
            return enough_seeds(len(SCORINGS.default(catalogue)))
        return super().read(reader, view, catalogue)

    def write(self, view: "Experiment", catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        if any(field.write(view, catalogue) for field in LINK.fields if field is not self):
            return super().write(view, catalogue)
        usual = enough_seeds(len(SCORINGS.default(catalogue)))
        return {} if view.seeds == usual else {self.name: str(view.seeds)}


class Reference(Choice["Experiment"]):
    """One of the scorings that are compared."""

    def write(self, view: "Experiment", catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`; one that is compared no more is left out."""
        return super().write(view, catalogue) if view.reference in view.scorings else {}


@dataclass(frozen=True, kw_only=True)
class Experiment(recipes.Recipe):
    """One model, one data set, and several scorings with several seeds each.

    The attributes of a recipe hold the fits of a regression as well; ``settings`` are then those
    of the problem, and there is no preset and no probe.

    Args:
        task: ``"regression"`` or ``"translation"``.
        seeds: every scoring runs with each of the seeds 0 to ``seeds`` - 1.
        learn, fitting, tune: whether and how scorings learn, whether they are tuned (regression).
        reference: the scoring with which the others are compared.
        columns: of an uploaded table, see :class:`~dashboard.links.fits.TableColumns`.
        figure, maps: the metric in the chart, and the seed whose maps are shown.
    """

    task: str = REGRESSION
    seeds: int = _SEEDS[REGRESSION]
    learn: bool = False
    fitting: Pairs = ()
    tune: bool = True
    reference: str = ""
    columns: str = ""
    figure: str = ""
    maps: int = 0

    def changed(self, **values: Any) -> Self:
        """The same with other data, scorings or task; seeds that are just enough stay so."""
        other = replace(self, **values)
        return replace(other, seeds=other._enough) if self.seeds == self._enough else other

    @property
    def _enough(self) -> int:
        """One seed of a file, whose figures are alike for each unless starting weights differ."""
        alike = self.task == REGRESSION and is_upload(self.data)
        return 1 if alike else enough_seeds(len(self.scorings))


def metrics(view: Experiment, catalogue: Catalogue) -> tuple[Metric, ...]:
    """What is measured of every run; the data set's own metric stands in BLEU's place."""
    found = catalogue.metrics.get(_OF_REQUEST[view.task], ())
    own = recipes.own_metric(view.data, catalogue)
    return tuple(own if own and metric.name == "bleu" else metric for metric in found)


def switched(view: Experiment, task: str, catalogue: Catalogue) -> Experiment:
    """The other task with what was chosen: scorings that it has, their parameters, the seeds."""
    known = {name: catalogue.scorings[name].tasks for name in view.scorings
             if name in catalogue.scorings}  # fmt: skip
    held = tuple(name for name, tasks in known.items() if not tasks or task in tasks)
    kept = replace(view, scorings=held or SCORINGS.default(catalogue))
    own = SCORINGS, PARAMETERS, *normaliser_fields()
    link = {name: text for one in own for name, text in one.write(kept, catalogue).items()}
    link |= {TASK.name: task, REFERENCE.name: reference_of(view)}
    found = LINK.parse(link, catalogue)[0]
    kept = view.changed(task=task, data=found.data, scorings=found.scorings)
    return replace(found, seeds=kept.seeds)


def enough_seeds(scorings: int) -> int:
    """With how few seeds the differences of so many scorings to one can be told from chance.

    The smallest p of a paired permutation test is ``2 / 2^n``, and Holm's correction multiplies
    it by the number of comparisons.
    """
    comparisons = max(1, scorings - 1)
    return next(n for n in count(1) if comparisons * 2 / 2**n <= _LEVEL)


def obstacle(view: Experiment, catalogue: Catalogue) -> str:
    """What keeps the whole experiment from being made, in a sentence; empty if nothing does."""
    return recipes.obstacle(view, catalogue, view.task)


def tunes(view: Experiment) -> bool:
    """Whether every scoring is tuned on problems of other seeds; a file has no others."""
    return view.tune and view.task == REGRESSION and not is_upload(view.data)


def requests(
    view: Experiment, catalogue: Catalogue, tuned: Mapping[str, Pairs] | None = None
) -> dict[Place, Request]:
    """What a worker must make, by scoring and seed: all scorings with the first seed first.

    A scoring that is not installed has no request, nor one that a given ``tuned`` leaves out.
    """
    if obstacle(view, catalogue):
        return {}
    names = tuple(name for name in view.scorings if name in catalogue.scorings
                  and (tuned is None or name in tuned))  # fmt: skip
    known, seeds = replace(view, scorings=names), range(view.seeds)
    if view.task == TRANSLATION:
        made = [zip(names, recipes.training_requests(known, seed), strict=True) for seed in seeds]
        return {(name, seed): one for seed in seeds for name, one in made[seed]}
    chosen = tuned or {}
    fitted = {name: _fit(view, catalogue, name, dict(chosen.get(name, ()))) for name in names}
    return {
        (name, seed): fits.fit_request(
            fit, data=view.data, settings=view.settings, columns=view.columns, seed=seed,
            device=view.device,
        )
        for seed in seeds
        for name, fit in fitted.items()
    }  # fmt: skip


def _fit(
    view: Experiment, catalogue: Catalogue, scoring: str, tuned: Mapping[str, Scalar]
) -> fits.Fit:
    own, model = view.attending(scoring), view.model
    usual = fits.default_fit(catalogue, scoring, model=model, learn=view.learn, normalised=own)
    parameters = dict(usual.parameters) | dict(own.parameters)
    if usual.learn:
        return replace(
            usual, parameters=pairs(parameters), fitting=pairs(dict(view.fitting) | dict(tuned))
        )
    return replace(usual, parameters=pairs(parameters | dict(tuned)), fitting=())


def _seeds(view: Experiment, _: Catalogue) -> Parameter:
    return Parameter(
        name="seeds", title="Seeds", default=_SEEDS[view.task], low=1, high=MOST_SEEDS, step=1,
        help="Every scoring runs once with each of the seeds 0, 1, 2 …; "
        "the spread in the table is over these. With too few seeds no difference can be told "
        "from chance.",
    )  # fmt: skip


def _tune(view: Experiment, catalogue: Catalogue) -> Parameter:
    """On by default, unless the scorings learn or someone has set their parameters."""
    usual = dict(PARAMETERS.default(view, catalogue))
    as_usual = all(usual.get(name, value) == value for name, value in view.parameters)
    return Parameter(
        name="tune",
        title="Tune every scoring",
        default=as_usual and not view.learn and not is_upload(view.data),
        help="Its parameters, or its learning rate where it learns, are those of a grid that are "
        "best on problems of three other seeds. Switch it off to set them by hand.",
    )


def reference_of(view: Experiment) -> str:
    """The scoring with which the others are compared; empty where there is none."""
    return view.reference if view.reference in view.scorings else _usual_reference(view)


def _usual_reference(view: Experiment) -> str:
    usual = _REFERENCES[view.task]
    return usual if usual in view.scorings else next(iter(view.scorings), "")


TASK: Choice[Experiment] = Choice(
    name="task", title="What is compared", options=lambda _view, _catalogue: TASKS
)
SEEDS = Seeds(name="seeds", parameter=_seeds)
MODEL: Choice[Experiment] = Choice(
    name="model", title="Model",
    options=lambda _, catalogue: tuple(catalogue.of_task("models", REGRESSION)),
    default=lambda _view, _catalogue: fits.MODEL, unknown=NAME,
)  # fmt: skip
SCORINGS: Names[Experiment] = Names(
    name="scorings", default=lambda catalogue: recipes.usual_scorings(catalogue, _USUAL_SCORINGS)
)
# A plugin may give its data a parameter that has the name of one of ours.
SETTINGS = fits.settings(lambda name: f"data.{name}" if name in _OWN or "." in name else name)
LEARNS: Setting[Experiment] = Setting(
    name="learn", parameter=lambda _, catalogue: fits.learning(catalogue)
)
PARAMETERS = replace(  # a plugin may call its scoring ``data``
    recipes.PARAMETERS,
    key_of=lambda name: f"scoring.{name}" if name.startswith(_PREFIXES) else name,
)
FITTING: Settings[Experiment] = Settings(
    name="fitting",
    parameters=lambda view, catalogue: fits.fitting_parameters(catalogue) if view.learn else (),
    owner=lambda _: "fit", key_of=lambda name: f"{LEARN}.{name}",
)  # fmt: skip
FIGURE: Choice[Experiment] = Choice(
    name="figure", title="Metric in the chart",
    options=lambda view, catalogue: tuple(one.name for one in metrics(view, catalogue)),
)  # fmt: skip
DEVICE = device()
TUNE: Setting[Experiment] = Setting(name="tune", parameter=_tune)
REFERENCE = Reference(
    name="reference", title=gettext_noop("Compare with"), options=lambda view, _: view.scorings,
    default=lambda view, _: _usual_reference(view),
    help=gettext_noop(
        "The scoring from which the differences of the others are taken, seed by seed."
    ),
)  # fmt: skip
_NAMES = ("model", "scorings", "data", "columns", "start", "settings", "learn", "parameters",
          "fitting", "tune", "probe")  # fmt: skip
_FIELDS: Mapping[str, Sequence[Field[Any, Any]]] = {
    REGRESSION: (
        MODEL, SCORINGS, PROBLEM, COLUMNS_FIELD, SETTINGS, LEARNS, PARAMETERS, FITTING, TUNE,
    ),
    TRANSLATION: recipes.FIELDS,
}  # fmt: skip


LINK = Link(
    default=lambda _: Experiment(),
    fields=(
        TASK, SEEDS, Setting(name="maps", parameter=Parameter(
            name="maps", title="Maps of seed", default=0, low=0, high=MOST_SEEDS - 1, step=1,
        )),
        *(OfTask(name=name, fields={task: one for task, fields in _FIELDS.items()
                                    for one in fields if one.name == name}) for name in _NAMES),
        *normaliser_fields(), REFERENCE, FIGURE, DEVICE,  # after the data
    ),
)  # fmt: skip
