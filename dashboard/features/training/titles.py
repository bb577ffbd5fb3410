"""What the page *Train* calls trainings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dashboard.language import translated
from dashboard.links.recipes import TASK, own_metric
from dashboard.records.attending import SOFTMAX, normaliser_of
from dashboard.records.catalogue import Catalogue
from dashboard.records.metric import Metric
from dashboard.records.request import Scalar
from dashboard.records.training import Training
from dashboard.ui.titles import data_title, model_title, normaliser_title, scoring_title


def training_title(training: Training, catalogue: Catalogue) -> str:
    """Model, scoring, normaliser if it is not the usual one, corpus."""
    request = training.request
    return " · ".join(
        (
            model_title(request.model, catalogue),
            scoring_title(request.scoring, catalogue),
            *_normaliser(training, catalogue),
            data_title(request.data, catalogue),
        )
    )


def _normaliser(training: Training, catalogue: Catalogue) -> list[str]:
    """The normaliser's title with its parameters, where it is not the usual one."""
    name, values = normaliser_of(dict(training.request.options))
    if name == SOFTMAX:
        return []
    return [" ".join([normaliser_title(name, catalogue), *_values(values)])]


def _values(values: Mapping[str, Scalar]) -> list[str]:
    return [f"{n} {v:g}" if isinstance(v, float) else f"{n} {v}" for n, v in values.items()]


def score_metric(training: Training, catalogue: Catalogue) -> Metric:
    """What held-out sentences are scored by: the data set's own metric, else BLEU."""
    own = training.facts.get("metric")
    if not own:
        data = training.request.data
        expected = own_metric(data, catalogue)  # as it will say itself once it learns
        if expected is None:
            return catalogue.metric(TASK, "bleu")
        return replace(expected, name=catalogue.datasets[data].metric, help="")
    return Metric(
        name=str(own["name"]), title=translated(str(own["title"])),
        unit=translated(str(own.get("unit", ""))),
        better="higher" if own.get("higher_is_better", True) else "lower",
    )  # fmt: skip


def series_titles(chosen: Mapping[str, Training], catalogue: Catalogue) -> dict[str, str]:
    """By letter, the scoring and what else tells the trainings apart, behind the letter."""
    others = other_titles(chosen, catalogue)
    return {
        letter: " · ".join(
            [f"{letter} {scoring_title(training.request.scoring, catalogue)}", *others[letter]]
        )
        for letter, training in chosen.items()
    }


def other_titles(
    chosen: Mapping[str, Training], catalogue: Catalogue
) -> dict[str, tuple[str, ...]]:
    """By letter, model, normaliser and corpus, each where there are several."""
    requests = [training.request for training in chosen.values()]
    several_models = len({request.model for request in requests}) > 1
    normalisers = {letter: _normaliser(one, catalogue) for letter, one in chosen.items()}
    several_normalisers = len({*map(tuple, normalisers.values())}) > 1
    several_corpora = len({request.data for request in requests}) > 1
    return {
        letter: (
            *([model_title(training.request.model, catalogue)] if several_models else []),
            *(normalisers[letter] if several_normalisers else []),
            *([data_title(training.request.data, catalogue)] if several_corpora else []),
        )
        for letter, training in chosen.items()
    }
