"""Models in a notebook: loaded, trained around a scoring of one's own, raced, fitted."""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast, overload

import altair as alt
import pandas as pd
import torch
from torch import nn
from tqdm import tqdm

from attention_plugins import experiment
from attention_plugins.commands.common import dataset_named, load_corpus
from attention_plugins.contract import ContractError, ScoringSpec, SentencePair, scoring
from attention_plugins.devices import resolve
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.race import trials
from attention_plugins.race.export import Heading, caption, facts
from attention_plugins.race.standings import standings
from attention_plugins.race.store import Race
from attention_plugins.recipe import PRESETS, Recipe
from attention_plugins.registry import define, installed
from attention_plugins.tap import Intervention
from attention_plugins.training import Progress
from attention_plugins.translator import Translator
from dashboard.charts import loss_chart, standalone
from dashboard.charts.run_charts import run_charts
from dashboard.charts.theme import Scheme
from dashboard.jobs import tasks
from dashboard.notebook.maps import Explanation, Shown
from dashboard.records.request import Request, Result

# A name, a formula, a record, a function of queries and keys, a class, or a function of sizes.
AnyScoring = str | ScoringSpec | Callable[..., Any]
Pairs = Sequence[tuple[str, str]]


def offered(kind: str = "scorings") -> pd.DataFrame:
    """What is installed of a kind: a row for each, with its ``name`` and its ``title``.

    >>> "scaled_dot" in set(offered("scorings")["name"])
    True

    Args:
        kind: ``"scorings"``, ``"normalisers"``, ``"models"``, ``"datasets"``, ``"tokenisers"``,
            ``"metrics"`` or ``"checkpoints"``.

    Raises:
        ContractError: another kind.
    """
    records = installed().records
    if kind not in records:
        raise ContractError(f"need one of {', '.join(records)}, got {kind!r}")
    found = records[kind].values()
    return pd.DataFrame(
        [{"name": one.name, "title": getattr(one, "title", str(one.name))} for one in found]
    )


def named(given: AnyScoring) -> str:
    """The name by which the registry knows a scoring, once that is defined here."""
    if isinstance(given, str):
        name = given if given.isidentifier() or given.startswith("=") else f"={given}"
        return installed().scoring(name).name
    spec = given if isinstance(given, ScoringSpec) else _spec(given)
    if installed().scorings.get(spec.name) is not spec:
        define(spec)
    return spec.name


def _spec(given: Callable[..., Any]) -> ScoringSpec:
    if isinstance(given, nn.Module) or not callable(given):
        raise ContractError(
            "need a scoring's name, a formula, a function of queries and keys, or a class derived "
            f"from Scoring, got {type(given).__name__}"
        )
    title = getattr(given, "__name__", "")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", title).lower()
    if not name.isidentifier():
        raise ContractError("a scoring needs a name: write def, not lambda")
    formula = rf"\mathrm{{{name.replace('_', ' ')}}}(q, k)"
    arguments = inspect.signature(given).parameters.values()
    needed = [one.name for one in arguments if one.default is one.empty and one.kind <= 1]
    if len(needed) == 2:
        return scoring(name, formula=formula, same_size=True)(given)
    if len(needed) > 2:
        raise ContractError(
            f"scoring {name!r}: need a function of queries and keys, or of sizes, got one of "
            f"{', '.join(needed)}"
        )
    return ScoringSpec(
        name=name, title=title, formula=formula,
        build=lambda sizes, values: given(sizes) if needed else given(),
    )  # fmt: skip


class History(Shown):
    """How a loss fell, step by step."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def to_pandas(self) -> pd.DataFrame:
        """A row for each step: ``step``, ``loss``, of trainings ``epoch`` and ``seconds`` too."""
        return self._frame.copy()

    def plot(self, *, scheme: Scheme = "light", **looks: Any) -> alt.TopLevelMixin:
        """The loss, and a smaller curve for each parameter that was learned.

        Args:
            scheme: ``"light"`` or ``"dark"``.
            looks: arguments of :func:`~dashboard.charts.loss_chart`, such as ``log=True``.
        """
        drawn = self._frame.drop(columns=["epoch", "seconds"], errors="ignore")
        return standalone(loss_chart(drawn, **looks), scheme)


class Model:
    """A translation model at hand.

    Attributes:
        module: the model itself, as :func:`~dashboard.notebook.watch` takes it.
        card: what is known of it: sizes, scoring, corpus, recipe.
        history: how its loss fell, where it was trained here.
    """

    def __init__(self, translator: Translator, trained: experiment.Trained | None = None) -> None:
        self._translator, self._trained = translator, trained
        self.module = cast("nn.Module", translator.model)
        self.card: Mapping[str, Any] = translator.card
        self.history: History | None = None

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
        return Explanation(
            self._translator.explain(
                sentence, width=width, target=target, interventions=interventions
            )
        )

    def save(self, folder: str | Path) -> None:
        """Keep a model that was trained here as a checkpoint: ``load`` and the pages read it.

        ContractError: it was not trained here, or the folder holds something.
        """
        if self._trained is None:
            raise ContractError("this model was loaded, and lies in a folder already; copy that")
        if Path(folder).exists() and any(Path(folder).iterdir()):
            raise ContractError(f"{folder} holds something already; name a new folder")
        experiment.keep(self._trained, Path(folder))


def load(
    checkpoint: str | Path, *, scoring: AnyScoring | None = None, device: str = "cpu"
) -> Model:
    """A trained model, by its name or its folder.

    >>> model = load("bahdanau_additive_phrasebook")
    >>> model.translate("the red car stops .")
    'la voiture rouge s'arrête .'
    >>> seen = model.explain("the red car stops .")
    >>> seen
    >>> chart = seen.plot()

    Args:
        checkpoint: a name, as the pages and ``python -m attention_plugins list`` have it; or a
            folder, of a model that was trained here or of one that was adopted.
        scoring: what the model was trained with, where a notebook defined that.
        device: ``"cpu"``, ``"cuda:0"``, ``"mps"``, or ``"auto"`` for the first of these.

    Raises:
        ContractError: there is none, or it cannot be used; a sentence says why.
    """
    if scoring is not None:
        named(scoring)
    path = Path(checkpoint)
    if not path.is_dir():
        path = installed().checkpoint(path.name.replace("-", "_").lower()).path
    return Model(open_checkpoint(read_checkpoint(path), installed(), resolve(device)))


def train(
    scoring: AnyScoring = "additive",
    *,
    model: str = "bahdanau",
    corpus: str | Pairs = "phrasebook",
    pairs: int | None = None,
    normaliser: str = "",
    device: str = "cpu",
    **changes: Any,
) -> Model:
    """Train a translation model around a scoring, such as one of the cell above.

    >>> def manhattan(queries, keys):
    ...     return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)
    >>> model = train(manhattan, corpus="reverse", pairs=64, epochs=1)
    >>> chart = model.history.plot()
    >>> chart = model.explain("a b c").plot()

    Args:
        scoring: a name; a formula such as ``"-|q - k|"``; a function of queries ``(..., n_q, d)``
            and keys ``(..., n_k, d)`` that returns scores ``(..., n_q, n_k)``; what
            :func:`~dashboard.notebook.scoring` makes of one; a class derived from
            ``attention_plugins.Scoring``, made with sizes or nothing; or a function of sizes.
        model: a name, such as ``"transformer"``.
        corpus: a data set's name, a file with a source, a tab and a target a line, or pairs.
        pairs: how many of the corpus at most; 6,000 where None, 0 for all.
        normaliser: a name, such as ``"sparsemax"``; the scoring's own where empty.
        changes: of what the recipe of a minute or two says: ``epochs``, ``batch_size``,
            ``learning_rate``, ``seed`` and all others of ``attention_plugins.recipe.Recipe``;
            parameters of the model, such as ``hidden``, or of the scoring; ``held_out`` sources.

    Raises:
        ContractError: an unknown name or change, a value out of bounds, a corpus or scoring that
            does not fit; a sentence says what would.
        FloatingPointError: the loss is not finite.
    """
    name, preset = named(scoring), PRESETS["quick"]
    registry = installed()
    sorted_ = _sorted(changes, name, model)
    if isinstance(corpus, str):
        data, title = dataset_named(corpus, registry), Path(corpus).stem
        limit = preset.pairs if pairs is None else pairs
        learned = load_corpus(corpus, registry, pairs=limit)
    else:
        data, title = None, "pairs of a notebook"
        learned = [SentencePair(*pair) for pair in corpus][: pairs or None]
    held_out = sorted_["others"].get("held_out", min(preset.held_out, len(learned) // 10))
    planned = experiment.Experiment.of_preset(
        preset, registry.model(model).name, data, model_parameters=sorted_["model"],
        recipe=sorted_["recipe"], scoring=name, scoring_parameters=sorted_["scoring"],
        normaliser=normaliser, corpus=title, held_out=held_out,
    )  # fmt: skip
    steps: list[Progress] = []
    where = resolve(device)
    with tqdm(total=planned.recipe.epochs, unit="epoch", file=sys.stderr, mininterval=0.5) as bar:

        def note(now: Progress) -> None:
            steps.append(now)
            bar.set_postfix_str(f"loss {now.loss:.3f}", refresh=False)
            bar.update(now.epoch - 1 + now.step / now.steps - bar.n)

        trained = experiment.run(planned, learned, registry, device=where, on_step=note)
    made = Model(experiment.translator_of(trained, where), trained)
    made.history = History(
        pd.DataFrame(
            {
                "step": range(1, len(steps) + 1),
                "epoch": [now.epoch for now in steps],
                "loss": [now.step_loss for now in steps],
                "seconds": [now.seconds for now in steps],
            }
        )
    )
    return made


def _sorted(changes: Mapping[str, Any], scoring: str, model: str) -> dict[str, dict[str, Any]]:
    """The changes by whose they are."""
    known = {
        "recipe": [field.name for field in fields(Recipe)],
        "model": [one.name for one in installed().model(model).parameters],
        "scoring": [one.name for one in installed().scoring(scoring).parameters],
        "others": ["held_out"],
    }
    found: dict[str, dict[str, Any]] = {part: {} for part in known}
    for name, value in changes.items():
        part = next((part for part, names in known.items() if name in names), None)
        if part is None:
            raise ContractError(
                f"nothing is called {name!r} here; what can be changed: "
                + ", ".join(dict.fromkeys(name for names in known.values() for name in names))
            )
        found[part][name] = value
    return found


def race(
    scorings: Sequence[AnyScoring], task: str = "sine", *, model: str = "", seeds: int = 6
) -> pd.DataFrame:
    """Train scorings with equal data, steps and initial weights, and say whose lead is not chance.

    >>> table = race(["gaussian", "cosine"], "sine", seeds=2)
    >>> table[["contestant", "verdict"]]

    Args:
        scorings: as :func:`train` takes them; all are compared with the first.
        task: a data set's name: a problem such as ``"sine"``, or symbols such as ``"reverse"``.
        model: a name; that of races of such tasks where empty.
        seeds: trainings of each. One comparison needs 6 for a difference to be found.

    Returns:
        A row for each scoring, by rank: the metric with the ends of its 95 % bootstrap interval,
        the ``difference`` to the first with its interval, ``corrected p``, ``verdict``,
        ``parameters`` and more. ``table.attrs["caption"]`` says how it was measured.

    Raises:
        ContractError: an unknown name, or fewer than 2 scorings or seeds.
    """
    names = [named(each) for each in scorings]
    if len(names) < 2 or seeds < 2:
        raise ContractError(f"need 2 scorings and 2 seeds, got {len(names)} and {seeds}")
    models = [model] if model else []
    plan = replace(trials.plan(tasks=[task], models=models, scorings=names), seeds=seeds)
    with tempfile.TemporaryDirectory() as folder, _one_thread():
        held = Race.create(Path(folder), plan, {})
        with tqdm(total=trials.count(plan), unit="training", file=sys.stderr) as bar:
            trials.run(held, watch=lambda outcome: bar.update(1))
        outcomes = held.outcomes()
    better, data = trials.higher_is_better(task), installed().dataset(task)
    regression = data.task == "regression"
    metric = None if regression else installed().metric(data.metric)
    heading = Heading(
        task=data.title, metric=metric.title if metric else "squared error",
        unit=metric.unit if metric else "", higher_is_better=better, budget=plan.tasks[task],
    )  # fmt: skip
    rows = standings(outcomes, task, reference=plan.contestants[0], higher_is_better=better)
    table = pd.DataFrame([facts(row, heading) for row in rows])
    table.attrs["caption"] = caption(rows, heading)
    return table


@contextmanager
def _one_thread() -> Iterator[None]:
    """Small trainings are fastest on one; equal seeds then give equal numbers."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Alone:
    """The worker's side of a job that nobody waits for elsewhere."""

    def report(
        self, fraction: float, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """Say nothing."""

    def stopped(self) -> bool:
        """Never."""
        return False


class Fitted(Shown):
    """Kernel regression with one scoring.

    Attributes:
        errors: ``truth_mse`` (where known), ``leave_one_out_mse``, ``training_mse``.
        learned: the parameters that were learned, by name.
        history: how the loss fell; None where nothing was learned.
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
        """The curve over the points, and the weights that made it below."""
        return standalone(cast("Any", run_charts(self._result)["curve and weights"]()), scheme)


def fit(
    scoring: AnyScoring = "gaussian", data: str = "sine", *, learn: bool = False, seed: int = 0,
    **changes: Any,
) -> Fitted:  # fmt: skip
    """Predict a curve by a scoring's weights over points, as the page *Kernel regression* does.

    >>> fitted = fit("gaussian", width=0.5)
    >>> sorted(fitted.errors)
    >>> chart = fitted.plot()

    Args:
        scoring: as :func:`train` takes it.
        data: a data set's name, such as ``"step"``.
        learn: whether the scoring's parameters are learned, by leaving points out.
        seed: of the data and of the initial weights.
        changes: parameters of the scoring, such as ``width``.

    Raises:
        ContractError, ValueError: an unknown name or parameter, a value out of bounds, or scores
            that are not finite.
    """
    request = Request.make(
        "regression", scoring=named(scoring), parameters=changes, data=data, seed=seed,
        options={"learn": learn},
    )  # fmt: skip
    return Fitted(tasks.perform(request, _Alone()))
