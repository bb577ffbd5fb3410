"""What the page *Race* shows: its link, its requests, and the standings that come of them.

``/race?task=reverse&model=transformer&reference=transformer.scaled_dot&a=transformer.additive``.
Names of a race, of tasks and of contestants stay in the link, installed here or not; a race that
is not here is named on the page.
"""

import functools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.compute as pc

from dashboard.charts import theme
from dashboard.jobs.racing import TASK
from dashboard.language import gettext, gettext_noop, translated
from dashboard.links.fields import Text
from dashboard.links.link import Link
from dashboard.records.beside import beside
from dashboard.records.catalogue import LONGEST_FORMULA, Catalogue, Entry
from dashboard.records.request import UPLOAD, Request, Result, is_formula
from dashboard.records.text import LONGEST_LINE, told_apart
from dashboard.storage.races import Entrant, RaceRecord

if TYPE_CHECKING:  # no worker needs it
    from dashboard.ui.session import Session


def contestant_titles(entrants: Iterable[Entrant], catalogue: Catalogue) -> dict[str, str]:
    """Titles such as ``Scaled dot product + Sparsemax``, by the contestants' names without models.

    Each differs from the others: of equal titles, every one has its name in brackets.
    """

    def title(one: Entrant) -> str:
        own = _of(one.scoring, catalogue.scorings)
        return f"{own} + {_of(one.normaliser, catalogue.normalisers)}" if one.normaliser else own

    return told_apart({one.name: title(one) for one in entrants})


# Tasks of the field with their titles, which no data set is.
_FIELD_TASKS = Path(__file__).parents[3] / "attention_plugins" / "race" / "field" / "tasks.py"
FIELD: Mapping[str, str] = {
    name: one["title"] for name, one in beside(str(_FIELD_TASKS), "tasks.toml")["tasks"].items()
}


def task_title(name: str, catalogue: Catalogue) -> str:
    """A task's title, as it is where data are chosen; its name where it is not installed."""
    entry = catalogue.datasets.get(name)
    return entry.short_title if entry else gettext(FIELD[name]) if name in FIELD else name


def model_titles(entrants: Iterable[Entrant], catalogue: Catalogue) -> dict[str, str]:
    """Titles of the models by their names, told apart as those of contestants."""
    return told_apart({one.model: _of(one.model, catalogue.models) for one in entrants})


def race_titles(found: Iterable[RaceRecord], catalogue: Catalogue) -> dict[str, str]:
    """Titles of races by their names: whom a page entered, formulas as they were typed."""
    entered = {one.name: one.facts.get(ENTERED, "").split("\n")[:_NAMED] for one in found}
    return told_apart({
        race: " · ".join(_of(name, catalogue.scorings) for name in names if name) or race
        for race, names in entered.items()
    })  # fmt: skip


def _of(name: str, entries: Mapping[str, Entry]) -> str:
    if is_formula(name):
        return name[1:]
    return entries[name].short_title if name in entries else name


BETTER, WORSE = gettext_noop("better"), gettext_noop("worse")
NOTHING, FEW = gettext_noop("no difference found"), gettext_noop("too few seeds")
REFERENCE, FAILED = gettext_noop("reference"), gettext_noop("could not run")
FLOOR = gettext_noop("floor")  # of what is no contestant
# A sign of a cell of the matrix where there is no difference to draw.
SIGNS = {
    REFERENCE: "●", FAILED: "×", gettext_noop("no reference"): "–",
    gettext_noop("not yet run"): "…",
}  # fmt: skip

COLOURS = {
    BETTER: theme.PANEL_COLOURS["a"], WORSE: theme.PANEL_COLOURS["b"], NOTHING: theme.QUIET,
    FEW: theme.QUIET,
}  # fmt: skip


Row = Mapping[str, Any]
# What a worker is asked for.
STANDINGS, MATRIX, IMPORT, ENTRY = "standings", "matrix", "import", "entry"
ALL = "all"  # models
ENTERED = "entered"  # a fact of a race: the scorings that a page entered into it
_NAMED = 3  # of these, in the race's title
_USUAL = ("scaled_dot", "gaussian", "additive")  # references, where they raced


@dataclass(frozen=True, kw_only=True)
class RaceView:
    """What the page shows; an empty name stands for the usual one."""

    race: str = ""
    task: str = ""
    model: str = ""  # whose contestants are compared; ALL for those of all models
    reference: str = ""  # whom the others are compared with, by its key
    a: str = ""  # two contestants that are looked at closely, by their keys
    b: str = ""
    joined: str = ""  # whether others' rows join it, in tests too; on tasks of the field they do
    a_map: str = ""  # their selected maps, such as 1.2
    b_map: str = ""
    formula: str = ""  # of a link, with which the form begins


class Choices(NamedTuple):
    """A view as far as its race has what it names, with what is usual in place of the rest.

    Attributes:
        models, entrants: that race on the task, and of the model.
        problems: a sentence on each name that the race has not.
        titles, model_titles: of all contestants, by their names without models, and of all models.
        beside: races on the same task at other budgets.
        joined: races on it at this budget, whose other contestants are rows too.
        runs: whether the race ran here just before its record was read.
    """

    race: RaceRecord
    task: str
    models: tuple[str, ...]
    model: str
    entrants: tuple[Entrant, ...]
    reference: Entrant
    problems: tuple[str, ...]
    titles: Mapping[str, str]
    model_titles: Mapping[str, str]
    beside: tuple[RaceRecord, ...] = ()
    joined: tuple[RaceRecord, ...] = ()
    runs: bool = False

    def title(self, entrant: Entrant) -> str:
        """The entrant's title, with its model's where several are compared."""
        own = self.titles.get(entrant.name, entrant.name)
        return f"{own} · {self.model_title(entrant.model)}" if self.model == ALL else own

    def model_title(self, name: str) -> str:
        """The model's title; its name where it is not of this race."""
        return self.model_titles.get(name, name)


def chosen(
    view: RaceView, race: RaceRecord, catalogue: Catalogue, others: Iterable[RaceRecord] = ()
) -> Choices:
    """What is shown of a race that has tasks and contestants, beside others."""
    problems: list[str] = []
    task = _one_of("task", view.task, race.tasks, race.tasks[0], problems)
    models = models_of(task, race, catalogue)
    offered = with_all(models)
    model = _one_of("model", view.model, offered, usual_model(task, offered), problems)
    entrants = tuple(
        one for one in race.entrants if one.model in (models if model == ALL else (model,))
    )
    others = [*others]
    joined = race.at_this_budget(task, others) if view.joined or task in FIELD else ()
    keys = {one.key: one for one in entrants}
    usual = usual_reference(entrants)
    key = _one_of("reference", view.reference, tuple(keys), usual.key, problems)
    nobody = gettext_noop("{parameter}={given}: nobody of that name races on this task")
    problems += [
        gettext(nobody, parameter=letter, given=given[:80])
        for letter, given in (("a", view.a), ("b", view.b))
        if given and given not in {*keys, *(one.key for each in joined for one in each.entrants)}
    ]
    return Choices(
        race, task, models, model, entrants, keys[key], tuple(problems),
        contestant_titles((who for one in (race, *joined) for who in one.entrants), catalogue),
        model_titles(race.entrants, catalogue),
        race.at_other_budgets(task, entrants, others), joined,
    )  # fmt: skip


def models_of(task: str, race: RaceRecord, catalogue: Catalogue) -> tuple[str, ...]:
    """The models that race on a task; all where the task or the models are not installed."""
    every = tuple(dict.fromkeys(one.model for one in race.entrants))
    data = catalogue.datasets.get(task)
    known = {name: catalogue.models[name].task for name in every if name in catalogue.models}
    fitting = tuple(name for name in every if data and known.get(name, data.task) == data.task)
    return fitting or every


def with_all(models: tuple[str, ...]) -> tuple[str, ...]:
    """What may be chosen of these models: each, and all where there are several."""
    return (*models, ALL) if len(models) > 1 else models


def usual_model(task: str, offered: Sequence[str]) -> str:
    """Which of them is shown unless another is chosen: all sizes on a task of the field."""
    return offered[-1 if task in FIELD else 0]


def usual_reference(entrants: Sequence[Entrant]) -> Entrant:
    """Whom others are compared with unless another is chosen.

    The scoring with which alone normalisers were raced, in its own way; else a usual one.
    """
    plain = {one.scoring: one for one in reversed(entrants) if not one.normaliser}
    normalised = {one.scoring for one in entrants if one.normaliser}
    names = (*normalised, *_USUAL) if len(normalised) == 1 else _USUAL
    return next((plain[name] for name in names if name in plain), entrants[0])


def requests(choices: Choices) -> tuple[Request, ...]:
    """What a worker must compute: the standings of the task, and the matrix of all tasks.

    Contestants are not compared in pairs on tasks of the field: alone they have no matrix.
    """
    race, reference = choices.race, choices.reference
    asked = {"version": race.version, "normaliser": reference.normaliser}
    others = {"beside": choices.beside, "joined": choices.joined}
    standings = Request.make(
        TASK, data=race.name, model=reference.model, scoring=reference.scoring,
        options={
            **asked, "show": STANDINGS, "task": choices.task,
            "models": ",".join(choices.models if choices.model == ALL else (choices.model,)),
            **{name: ",".join(o.name for o in them) for name, them in others.items() if them},
            "version": " ".join(one.version for one in (race, *chain(*others.values()))),
        },
    )  # fmt: skip
    matrix = Request.make(
        TASK, data=race.name, scoring=reference.scoring, options={**asked, "show": MATRIX}
    )
    return (standings,) if {*race.tasks} <= FIELD.keys() else (standings, matrix)


def import_request(digest: str) -> Request:
    """What has a worker read an uploaded bundle of that sha256."""
    return Request.make(TASK, data=UPLOAD + digest, options={"show": IMPORT})


def entry_request(
    race: RaceRecord, tasks: Sequence[str], scorings: Sequence[str], times: int, halving: int = 0
) -> Request:
    """What a race of these scorings beside those of another one takes, and its files.

    Each contestant is given so many ``times`` the epochs of that race; after each of so many
    rounds of ``halving`` the better half goes on.
    """
    asked = {"show": ENTRY, "version": race.version, "times": times, "halving": halving}
    lists = {"tasks": json.dumps([*tasks]), "scorings": json.dumps([*scorings])}
    return Request.make(TASK, data=race.name, options={**asked, **lists})


def _one_of(what: str, given: str, offered: Sequence[str], usual: str, problems: list[str]) -> str:
    if given and given not in offered:
        problems.append(
            gettext(
                "{parameter}={given}: this race has none of that name; {usual} is shown",
                parameter=what, given=given[:80], usual=usual,
            )
        )  # fmt: skip
    return given if given in offered else usual


LINK = Link(
    default=lambda _: RaceView(),
    fields=tuple(
        Text(name=name, title=name, longest=LONGEST_FORMULA if name == "formula" else LONGEST_LINE)
        for name in RaceView.__dataclass_fields__
    ),
)


@dataclass(frozen=True)
class Seen:
    """One task of a race with its standings."""

    session: "Session[RaceView]"
    choices: Choices
    result: Result

    @property
    def task(self) -> str:
        """The task's title, as it is where data are chosen."""
        catalogue, name = self.session.catalogue, self.choices.task
        return task_title(name, catalogue) if name in catalogue.datasets else self.fact("task")

    @property
    def metric(self) -> str:
        """The task's metric with its unit."""
        metric, unit = self.fact("metric"), self.fact("unit")
        return gettext("{metric}, {unit}", metric=metric, unit=unit) if unit else metric

    @property
    def steps(self) -> int:
        """After how many steps everybody was measured."""
        return self.result.facts["budget"]["steps"]

    def fact(self, name: str) -> str:
        """A fact of the result that is a text, in the visitor's language."""
        return translated(self.result.facts[name])

    @property
    def arrow(self) -> str:
        """Towards the better side."""
        return "↑" if self.result.facts["higher_is_better"] else "↓"

    @functools.cached_property
    def rows(self) -> Sequence[Row]:
        """The standings, the best first, each with its ``name`` on this page."""
        races = (self.choices.race, *self.choices.joined)
        by_key = {key: one for race in races for key, one in race.by_key.items()}

        def name(row: Row) -> str:
            equal = (by_key[key] for key in row["equals"] if key in by_key)
            return " = ".join(
                of_race(self.choices.title(one), one.key, self.result)
                for one in (entrant_of(row), *equal)
            )

        return [{**row, "name": name(row)} for row in self.result.tables["standings"].to_pylist()]

    @property
    def ranked(self) -> Sequence[Row]:
        """The standings of those that ran."""
        return [row for row in self.rows if row["rank"] is not None]

    @property
    def entered(self) -> Sequence[Row]:
        """The standings of those that ran of what a page entered into the race."""
        race, names = self.choices.race, self.choices.race.facts.get(ENTERED, "").split("\n")
        own = {one.key for one in race.entrants if one.scoring in names and not one.normaliser}
        return [row for row in self.ranked if own & {row["key"], *row["equals"]}]

    @functools.cached_property
    def by_key(self) -> Mapping[str, Row]:
        """The standings by the contestants' keys."""
        return {row["key"]: row for row in self.rows}

    def _key(self, given: str) -> str:
        return next((row["key"] for row in self.rows if given in row["equals"]), given)

    @property
    def key(self) -> str:
        """Under which charts of the task are kept; names are those of today's plugins."""
        names = [row["name"] for row in self.rows]
        return f"{self.result.digest} {self.a} {self.b} {self.choices.model} {names}"

    @property
    def reference(self) -> str:
        """The reference's key."""
        return self.choices.reference.key

    @property
    def a(self) -> str:
        """The contestant that is looked at: the chosen one, else the best but the reference.

        Of a race that a page started, what was entered comes before all others.
        """
        if (chosen := self._key(self.session.view.a)) in self.by_key:
            return chosen
        ran = [row["key"] for row in (*self.entered, *self.rows) if row["verdict"] != FAILED]
        others = [key for key in ran if key != self.reference]
        return next(iter(others or ran), self.reference)

    @property
    def b(self) -> str:
        """The other one: the chosen one, else the reference."""
        chosen = self._key(self.session.view.b)
        return chosen if chosen in self.by_key else self.reference

    def name(self, key: str) -> str:
        """What a contestant is called on this page."""
        return self.by_key[key]["name"] if key in self.by_key else key.partition(".")[2]

    def of(self, table: str, key: str) -> Sequence[Row]:
        """The rows of one contestant in a table of the result."""
        return self.result.tables[table].filter(pc.field("key") == key).to_pylist()


def of_race(title: str, key: str, result: Result) -> str:
    """A row's title with the race that it is of, if another one."""
    whose = result.facts.get("whose", {}).get(key)
    return f"{title} · {whose}" if whose else title


def entrant_of(row: Row) -> Entrant:
    """The entrant of a row of standings."""
    return Entrant(row["model"], row["scoring"], row["normaliser"])


def number(value: float | None) -> str:
    """To four significant digits, ``–`` for none."""
    if value is None:
        return "–"
    value += 0.0  # no minus sign before 0
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def interval(row: Row, name: str) -> str:
    """A mean with its interval, as exact as the interval is wide: ``0.431 [0.402, 0.458]``."""
    mean, low, high = row[name], row.get(f"{name}_low"), row.get(f"{name}_high")
    if mean is None or low is None or high is None:
        return number(mean)
    width = high - low
    if not 1e-6 < width < 1e6:
        return f"{number(mean)} [{number(low)}, {number(high)}]"
    decimals = max(0, 1 - math.floor(math.log10(width)))
    mean, low, high = (f"{end:z,.{decimals}f}" for end in (mean, low, high))
    return f"{mean} [{low}, {high}]"
