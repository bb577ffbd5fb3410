"""What pages read on the card of a checkpoint, and what is wrong with a card that differs.

Cards come with checkpoints of any origin. :mod:`attention_plugins.checkpoints` checks what a model
is built of; here is checked what pages show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dashboard.records.invalid import reason

_Line = Annotated[str, Field(max_length=300)]
_Name = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$")]
_Scoring = Annotated[str, Field(pattern=r"^([a-z0-9_]{1,60}|=[ -~]{1,300})$")]  # or a formula
_Count = Annotated[int, Field(ge=0, le=10**12)]
_Figure = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
# Of a field that may be left out, but is never null. Defaults are not validated.
_LEFT_OUT: Any = Field(default=None)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Part(_Strict):
    sentences: _Count
    bleu: _Figure = _LEFT_OUT
    value: _Figure = _LEFT_OUT


class _Metric(_Strict):
    title: _Line
    value: _Figure
    unit: _Line = ""


class _Score(_Strict):
    bleu: _Figure = _LEFT_OUT
    metric: _Metric = _LEFT_OUT
    near: _Part = _LEFT_OUT
    far: _Part = _LEFT_OUT
    copied: _Part = _LEFT_OUT

    @model_validator(mode="after")
    def _parts_have_the_figure(self) -> Self:
        own = "value" if self.metric else "bleu"
        for name in ("near", "far", "copied"):
            part = getattr(self, name)
            if part and getattr(part, own) is None:
                raise ValueError(f"{name} needs {own}, a number")
        return self


class _Corpus(_Strict):
    name: _Line
    trained_on: _Count
    pairs: _Count = _LEFT_OUT
    held_out_sources: _Count = _LEFT_OUT
    split_seed: int = _LEFT_OUT
    sha256: _Line = ""
    metric: _Line = ""


class _Adopted(_Strict):
    family: _Line
    addition: _Line
    repository: _Line
    revision: _Line


class _Card(_Strict):
    title: _Line
    model: _Name
    scoring: _Scoring
    normaliser: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,60}$")] = ""
    corpus: _Corpus
    scores: Annotated[dict[_Line, _Score], Field(max_length=100)]
    adopted: _Adopted = _LEFT_OUT
    source_words: _Count | None = None
    target_words: _Count | None = None


def problem_of(card: Mapping[str, Any]) -> str:
    """What is wrong with a card, as a worker describes it; empty if pages can show it."""
    try:
        _Card.model_validate(card)
    except ValidationError as error:
        return reason(error)
    return ""
