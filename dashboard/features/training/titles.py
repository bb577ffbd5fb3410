"""What the page *Train* calls trainings."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.records.catalogue import Catalogue
from dashboard.records.training import Training
from dashboard.ui.titles import data_title, model_title, scoring_title


def training_title(training: Training, catalogue: Catalogue) -> str:
    """Model, scoring, corpus."""
    request = training.request
    return " · ".join(
        (
            model_title(request.model, catalogue),
            scoring_title(request.scoring, catalogue),
            data_title(request.data, catalogue),
        )
    )


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
    """By letter, the model where there are several, the corpus where there are several."""
    requests = [training.request for training in chosen.values()]
    several_models = len({request.model for request in requests}) > 1
    several_corpora = len({request.data for request in requests}) > 1
    return {
        letter: (
            *([model_title(training.request.model, catalogue)] if several_models else []),
            *([data_title(training.request.data, catalogue)] if several_corpora else []),
        )
        for letter, training in chosen.items()
    }
