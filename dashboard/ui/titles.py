"""Titles of models, scorings, data and checkpoints by their names, installed here or not."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.language import gettext, translated
from dashboard.records.attending import SOFTMAX, Attending
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.parameter import Parameter
from dashboard.records.request import Scalar, is_formula, is_upload
from dashboard.ui import upload
from dashboard.ui.speaking import parameter_told


def model_title(name: str, catalogue: Catalogue) -> str:
    """A model's title without what stands in brackets."""
    return _title(name, catalogue.models)


def scoring_title(name: str, catalogue: Catalogue) -> str:
    """A scoring's title without what stands in brackets."""
    return _title(name, catalogue.scorings)


def normaliser_title(name: str, catalogue: Catalogue) -> str:
    """A normaliser's title without what stands in brackets."""
    if name == SOFTMAX and name not in catalogue.normalisers:
        return translated("Softmax")
    return _title(name, catalogue.normalisers)


def lettered(letter: str, title: str) -> str:
    """A panel's letter before its title, so that a title may begin with a minus."""
    return gettext("{letter}: {title}", letter=letter, title=title)


def attending_title(chosen: Attending, catalogue: Catalogue) -> str:
    """A scoring's title, and that of the normaliser where it is not the usual one."""
    words = scoring_title(chosen.scoring, catalogue)
    if chosen.normaliser == SOFTMAX:
        return words
    return f"{words}, {normaliser_title(chosen.normaliser, catalogue)}"


def setting_words(spec: Parameter, value: Scalar) -> str:
    """A parameter with its value amid a sentence: ``noise 0.5 sd``, ``σ = 0.5`` of a *Width σ*."""
    told = parameter_told(spec)
    words = number_words(value)
    if told.unit:
        words = f"{words} {told.unit}"
    *before, last = told.title.split()
    if before and len(last) == 1:
        return f"{last} = {words}"
    lowered = told.title[1:2].islower()  # and no name such as BLEU
    title = told.title[:1].lower() + told.title[1:] if lowered else told.title
    return f"{title} {words}"


def number_words(value: Scalar) -> str:
    """A parameter's value as it is read."""
    if isinstance(value, bool):
        return gettext("on") if value else gettext("off")
    return f"{value:.3g}" if isinstance(value, float) else translated(str(value))


def data_title(data: str, catalogue: Catalogue, wanted: upload.Wanted = upload.SENTENCES) -> str:
    """What a data set or a file of the user's is called.

    Args:
        wanted: the kind of file, if it is one.
    """
    return upload.title(data, wanted) if is_upload(data) else _title(data, catalogue.datasets)


def checkpoint_title(name: str, checkpoint: Checkpoint | None, catalogue: Catalogue) -> str:
    """A checkpoint's title.

    Args:
        name: what a link calls it.
        checkpoint: what it stands for; None if that is not here.
    """
    if checkpoint is None:
        return gettext("{name} (not here)", name=name)
    model = catalogue.models.get(checkpoint.model)
    scoring = checkpoint.typed or catalogue.scorings.get(checkpoint.scoring)
    made_of = scoring.title if scoring else checkpoint.scoring.removeprefix("=")
    if another := checkpoint.card.get("normaliser"):
        made_of += f", {normaliser_title(another, catalogue)}"
    if checkpoint.adopted:
        return f"{made_of} · {checkpoint.adopted['family']} · {checkpoint.title}"
    models = {entry.model for entry in catalogue.checkpoints.values()}
    if len(models) > 1:
        made_of += f" · {model.title if model else checkpoint.model}"
    if not checkpoint.shipped:  # whoever kept it looks for its name
        return f"{checkpoint.name} · {made_of}"
    if checkpoint.card.get("tokeniser") == "pieces":
        return gettext("{scoring} · pieces of words", scoring=made_of)
    return made_of if name.count(".") else f"{made_of} · {checkpoint.name}"


def _title(name: str, entries: Mapping[str, Entry]) -> str:
    if is_formula(name):  # a formula needs no plugin
        return name[1:].replace("-", "\N{MINUS SIGN}")
    if name in entries:
        return entries[name].short_title
    return gettext("{name} (not installed)", name=name)
