"""The trained models that lessons use, and the sentence that they read."""

from __future__ import annotations

from dashboard.links.fits import translation_request
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request

CORPUS = "phrasebook"
BAHDANAU_CHECKPOINT = "bahdanau_additive_phrasebook"
TRANSFORMER_CHECKPOINT = "transformer_scaled_dot_phrasebook"
CAR = "i see a red car ."
HOUSE = "she has a white house ."


def translated(catalogue: Catalogue, checkpoint: str, text: str) -> Request | None:
    """The sentence through a shipped model; None where it is not here."""
    found = catalogue.checkpoints.get(checkpoint)
    return found and translation_request(found, text=text)


def link(checkpoint: str, text: str, **more: str) -> dict[str, str]:
    """The parameters of a link to the same sentence and model on another page."""
    return {"corpus": CORPUS, "a": checkpoint, "text": text, **more}
