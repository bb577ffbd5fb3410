"""Models in a notebook: loaded, trained around a scoring of one's own, raced, fitted."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, overload

import altair as alt
import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from attention_plugins import experiment
from attention_plugins.commands.common import dataset_named, load_corpus
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.defining import AnyScoring, scoring_named
from attention_plugins.devices import resolve
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.race import trials
from attention_plugins.race.export import Heading, caption, facts
from attention_plugins.race.standings import standings
from attention_plugins.race.store import Race
from attention_plugins.recipe import PRESETS, Recipe
from attention_plugins.registry import installed
from attention_plugins.tap import Intervention
from attention_plugins.training import Progress
from attention_plugins.translator import Translator
from dashboard.charts import loss_chart, standalone
from dashboard.charts.run_charts import run_charts
from dashboard.charts.theme import Scheme
from dashboard.jobs import tasks
from dashboard.notebook.maps import Explanation, Shown
from dashboard.records.request import Request, Result

_BAR = "{percentage:3.0f}%|{bar}| epoch {n:.2f}/{total} [{elapsed}<{remaining}{postfix}]"
_ALONE = cast("Any", SimpleNamespace(report=lambda *told: None, stopped=lambda: False))


def offered(kind: str = "scorings") -> pd.DataFrame:
    """What is installed of a kind: a row for each, with its ``name`` and its ``title``.

    >>> "scaled_dot" in set(offered("scorings")["name"])
    True

    Kinds are scorings, normalisers, layers, models, datasets, tokenisers, metrics and checkpoints;
    ContractError of another one.
    """
    records = installed().records
    if kind not in records:
        raise ContractError(f"need one of {', '.join(records)}, got {kind!r}")
    found = records[kind].values()
    return pd.DataFrame([{"name": x.name, "title": getattr(x, "title", x.name)} for x in found])


class History(Shown):
    """How a loss fell, step by step."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def to_pandas(self) -> pd.DataFrame:
        """A row for each step: ``step``, ``loss``; of trainings ``epoch`` and ``seconds`` too."""
        return self._frame.copy()

    def plot(self, *, scheme: Scheme = "light", **looks: Any) -> alt.TopLevelMixin:
        """The loss, and each parameter learned; ``looks`` are arguments of ``loss_chart``."""
        drawn = self._frame.drop(columns=["epoch", "seconds"], errors="ignore")
        return standalone(loss_chart(drawn, **looks), scheme)


class Model:
    """A translation model at hand.

    Attributes:
        module: the model itself, for :func:`~dashboard.notebook.watch`.
        card: what is known of it: sizes, scoring, corpus, recipe.
        history: how its loss fell, where it was trained here.
    """

    history: History | None = None

    def __init__(self, translator: Translator, trained: experiment.Trained | None = None) -> None:
        self._translator, self._trained = translator, trained
        self.module = cast("nn.Module", translator.model)
        self.card: Mapping[str, Any] = translator.card

    def __repr__(self) -> str:
        return f"Model: {self.card['title']}"

    @overload
    def translate(self, text: str, *, width: int = 1) -> str: ...
    @overload
    def translate(self, text: Sequence[str], *, width: int = 1) -> list[str]: ...
    def translate(self, text: str | Sequence[str], *, width: int = 1) -> str | list[str]:
        """A sentence's translation, or a list's; ``width`` is the beam's.

        ContractError: an empty or over-long sentence, or a bad width.
        """
        several = [text] if isinstance(text, str) else list(text)
        found = self._translator.translate(several, width=width)
        return found[0] if isinstance(text, str) else found

    def explain(
        self, sentence: str, target: str = "", *, width: int = 1,
        interventions: Sequence[Intervention] = (),
    ) -> Explanation:  # fmt: skip
        """A sentence's translation, or ``target`` instead, with the maps of every layer.

        ContractError: an empty or over-long sentence or target, or a bad width.
        """
        changed = {"width": width, "target": target, "interventions": interventions}
        return Explanation(self._translator.explain(sentence, **changed))

    def save(self, folder: str | Path) -> None:
        """Keep a model that was trained here, for ``load`` and for the pages.

        ContractError: it was not trained here, or the folder holds something.
        """
        if self._trained is None:
            raise ContractError("this model was loaded, and lies in a folder already: copy that")
        if Path(folder).exists() and any(Path(folder).iterdir()):
            raise ContractError(f"{folder} holds something already; name a new folder")
        experiment.keep(self._trained, Path(folder))


def load(
    checkpoint: str | Path, *, scoring: AnyScoring | None = None, device: str = "cpu"
) -> Model:
    """A trained model.

    >>> model = load("bahdanau_additive_phrasebook")
    >>> model.translate("he's tired .")
    'il est fatigué.'
    >>> model.explain("he's tired .")
    he 's tired . <eos> -> il est fatigué . <eos>
    >>> chart = model.explain("he's tired .", target="elle est fatiguée .").plot()

    Args:
        checkpoint: a name of ``offered("checkpoints")``, or the folder of a model that was trained
            by the workbench or adopted; ContractError where there is none that can be used.
        scoring: what the model was trained with, where a notebook defined that.
        device: such as ``"cuda:0"``, or ``"auto"``.
    """
    if scoring is not None:
        scoring_named(scoring, 3)
    path = Path(checkpoint)
    if not path.is_dir():
        path = installed().checkpoint(str(checkpoint).replace("-", "_")).path
    return Model(open_checkpoint(read_checkpoint(path), installed(), resolve(device)))


def train(
    scoring: AnyScoring = "additive", *, model: str = "bahdanau",
    corpus: str | Sequence[tuple[str, str]] = "phrasebook", pairs: int | None = None,
    device: str = "cpu", **changes: Any,
) -> Model:  # fmt: skip
    """Train a translation model around a scoring, such as one of the cell above.

    >>> def manhattan(queries, keys):
    ...     return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)
    >>> model = train(manhattan, corpus="reverse", pairs=64, epochs=1)
    >>> chart = model.explain("a b c").plot()
    >>> model.history.to_pandas()[["step", "epoch"]].values.tolist()
    [[1, 1], [2, 1]]

    Args:
        scoring: a name; a formula such as ``"-|q - k|"``; a function of queries ``(..., n_q, d)``
            and keys ``(..., n_k, d)`` that returns scores ``(..., n_q, n_k)``; what
            :func:`~dashboard.notebook.scoring` makes of one; a class derived from
            ``attention_plugins.Scoring``, made of its sizes or of nothing; a function of sizes.
        model: a name of ``offered("models")``, such as ``"transformer"``.
        corpus: a data set's name, a file with ``source<TAB>target`` lines, or pairs.
        pairs: the first so many; 6,000 where None, 0 for all.
        changes: ``epochs``, ``learning_rate`` and all others of
            :class:`~attention_plugins.recipe.Recipe`, whose preset ``"quick"`` takes a minute or
            two; parameters of the model, such as ``hidden``, or of the scoring; ``normaliser``,
            a name; ``held_out``, sources kept away from training.

    Raises:
        ContractError: an unknown name, a wrong shape, what does not fit; it says what would.
        FloatingPointError: the loss is not finite.
    """
    name, preset, registry = scoring_named(scoring, 3), PRESETS["quick"], installed()
    own = _sorted(changes, name, model)
    if isinstance(corpus, str):
        data, title = dataset_named(corpus, registry), Path(corpus).stem
        learned = load_corpus(corpus, registry, pairs=preset.pairs if pairs is None else pairs)
    else:
        data, title = None, "pairs of a notebook"
        learned = [SentencePair(*pair) for pair in corpus][: pairs or None]
    planned = experiment.Experiment.of_preset(
        preset, registry.model(model).name, data, recipe=own["recipe"],
        model_parameters=own["model"], scoring=name, scoring_parameters=own["scoring"],
        corpus=title, **{"held_out": min(preset.held_out, len(learned) // 10), **own["others"]},
    )  # fmt: skip
    where, steps = resolve(device), list[Progress]()
    looks = {"file": sys.stderr, "mininterval": 0.5, "bar_format": _BAR}
    with tqdm(total=planned.recipe.epochs, **looks) as bar:

        def note(now: Progress) -> None:
            steps.append(now)
            bar.set_postfix_str(f"loss {now.loss:.3f}", refresh=False)
            bar.update(now.epoch - 1 + now.step / now.steps - bar.n)

        trained = experiment.run(planned, learned, registry, device=where, on_step=note)
    made = Model(experiment.translator_of(trained, where), trained)
    rows = [(n, x.epoch, x.step_loss, x.seconds) for n, x in enumerate(steps, start=1)]
    made.history = History(pd.DataFrame(rows, columns=["step", "epoch", "loss", "seconds"]))
    return made


def _sorted(changes: Mapping[str, Any], scoring: str, model: str) -> dict[str, dict[str, Any]]:
    """The changes by whose they are."""
    known = {
        "recipe": [field.name for field in fields(Recipe)],
        "model": [one.name for one in installed().model(model).parameters],
        "scoring": [one.name for one in installed().scoring(scoring).parameters],
        "others": ["held_out", "normaliser"],
    }
    found: dict[str, dict[str, Any]] = {part: {} for part in known}
    for name, value in changes.items():
        part = next((part for part, names in known.items() if name in names), None)
        if part is None:
            every = dict.fromkeys(name for names in known.values() for name in names)
            raise ContractError(f"no change is called {name!r}; there are {', '.join(every)}")
        found[part][name] = value
    return found


def race(
    scorings: Sequence[AnyScoring], task: str = "sine", *, model: str = "", seeds: int = 6
) -> pd.DataFrame:
    """Train scorings with equal data, steps and initial weights, and say whose lead is not chance.

    >>> table = race(["gaussian", "cosine"], "sine", seeds=2)
    >>> sorted(table["verdict"])
    ['reference', 'too few seeds']

    Args:
        scorings: two or more, as :func:`train` takes them; all are compared with the first.
        task: a data set's name: a problem such as ``"sine"``, or symbols such as ``"reverse"``.
        model: a name; what races of such tasks have where empty.
        seeds: trainings of each. With two scorings a difference needs 6 to be found. One more
            tries each learning rate.

    Returns:
        A row for each scoring, by rank: the metric with the ends of its 95% bootstrap interval,
        the ``difference`` to the first with its interval, ``corrected p``, ``verdict`` and more.
        ``table.attrs["caption"]`` says how it was measured.
    """
    leading = [] if installed().dataset(task).task == "regression" else [3]
    names, threads = [scoring_named(each, *leading) for each in scorings], torch.get_num_threads()
    if len(names) < 2 or seeds < 2:
        raise ContractError(f"need 2 scorings and 2 seeds, got {len(names)} and {seeds}")
    plan = trials.plan(tasks=[task], models=[model] if model else [], scorings=names)
    plan = replace(plan, seeds=seeds, tuning_seeds=1)
    with (
        tempfile.TemporaryDirectory() as folder,
        tqdm(total=trials.count(plan), unit="training", file=sys.stderr) as bar,
    ):
        held = Race.create(Path(folder), plan, {})
        torch.set_num_threads(1)  # which small trainings are fastest on
        try:
            trials.run(held, watch=lambda outcome: bar.update(1))
        finally:
            torch.set_num_threads(threads)
        outcomes = held.outcomes()
    data, better = installed().dataset(task), trials.higher_is_better(task)
    metric = None if data.task == "regression" else installed().metric(data.metric)
    heading = Heading(
        task=data.title, metric=metric.title if metric else "squared error",
        unit=metric.unit if metric else "", higher_is_better=better, budget=plan.tasks[task],
    )  # fmt: skip
    rows = standings(outcomes, task, reference=plan.contestants[0], higher_is_better=better)
    table = pd.DataFrame([facts(row, heading) for row in rows])
    table.attrs["caption"] = caption(rows, heading)
    return table


class Fitted(Shown):
    """Kernel regression with one scoring.

    Attributes:
        errors: such as ``leave_one_out_mse`` and, where the truth is known, ``truth_mse``.
        learned: the parameters that were learned, by name.
        history: how the loss fell, where something was learned.
    """

    def __init__(self, result: Result) -> None:
        self._result = result
        self.errors: Mapping[str, float] = result.facts["metrics"]
        self.learned: Mapping[str, float] = result.facts["learned"]
        table = result.tables.get("history")
        self.history = None if table is None else History(table.to_pandas())

    def to_pandas(self) -> pd.DataFrame:
        """A row for each query: ``x0`` and further inputs, ``prediction``, ``truth``."""
        return self._result.tables["curve"].to_pandas()

    def plot(self, *, scheme: Scheme = "light") -> alt.TopLevelMixin:
        """The curve over the points, and below it the weights that made it."""
        return standalone(cast("alt.LayerChart", next(iter(run_charts(self._result).values()))()),
                          scheme)  # fmt: skip


def fit(
    scoring: AnyScoring = "gaussian", data: str = "sine", *, learn: bool = False, seed: int = 0,
    **changes: Any,
) -> Fitted:  # fmt: skip
    """Predict a curve by a scoring's weights over points, as the page *Kernel regression* does.

    >>> fitted = fit("gaussian", "step", width=0.5)
    >>> sorted(fitted.errors)
    ['effective_neighbours', 'leave_one_out_mse', 'training_mse', 'truth_mse']
    >>> chart = fitted.plot()

    ``learn`` says whether the scoring's parameters are learned, by leaving points out; ``changes``
    set them. ValueError: an unknown name, a value out of bounds, scores that are not finite.
    """
    request = Request.make(
        "regression", scoring=scoring_named(scoring), parameters=changes, data=data, seed=seed,
        options={"learn": learn},
    )  # fmt: skip
    return Fitted(tasks.perform(request, _ALONE))
