"""What the page *Train* calls models, scorings, corpora and trainings."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.pages import upload
from dashboard.runs.offers import Catalogue, Offer
from dashboard.runs.train_view import is_upload
from dashboard.runs.trainings import Training


def model_title(name: str, catalogue: Catalogue) -> str:
    """A model's title without what stands in brackets."""
    return _title(name, catalogue.models)


def scoring_title(name: str, catalogue: Catalogue) -> str:
    """A scoring's title without what stands in brackets."""
    return _title(name, catalogue.scorings)


def corpus_title(data: str, catalogue: Catalogue) -> str:
    """What a corpus is called, be it a data set or a file of the user's."""
    if is_upload(data):
        return upload.title(data, upload.SENTENCES)
    return _title(data, catalogue.datasets)


def training_title(training: Training, catalogue: Catalogue) -> str:
    """Model, scoring, corpus."""
    made_of = training.request
    return " · ".join(
        (
            model_title(made_of.model, catalogue),
            scoring_title(made_of.scoring, catalogue),
            corpus_title(made_of.data, catalogue),
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
            *([corpus_title(training.request.data, catalogue)] if several_corpora else []),
        )
        for letter, training in chosen.items()
    }


def _title(name: str, offers: Mapping[str, Offer]) -> str:
    return offers[name].title.partition(" (")[0] if name in offers else f"{name} (not installed)"
