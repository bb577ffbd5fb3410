"""What is wrong with records of strangers, in a sentence of our own."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dashboard.language import gettext_noop
from dashboard.records.text import one_line, shown

_LONGEST_PLACE = 200  # characters
_TEXT, _LIST = gettext_noop("a text"), gettext_noop("a list")
_WHOLE = gettext_noop("a whole number")
_OBJECT, _NOTHING = gettext_noop("an object with named values"), gettext_noop("nothing")
_NUMBER, _FINITE = gettext_noop("a number"), gettext_noop("a finite number")
_BOOLEAN = gettext_noop("true or false")
# Of a record whose fields are of their types as they stand, and that has no others.
STRICT = ConfigDict(strict=True, frozen=True, extra="forbid")
# What would be right, by pydantic's type of the error.
_KINDS = {
    "string_type": _TEXT, "int_type": _WHOLE, "int_from_float": _WHOLE, "float_type": _NUMBER,
    "finite_number": _FINITE, "bool_type": _BOOLEAN, "list_type": _LIST, "tuple_type": _LIST,
    "dict_type": _OBJECT, "model_type": _OBJECT, "model_attributes_type": _OBJECT,
    "json_invalid": _OBJECT,
}  # fmt: skip


def reason(error: ValidationError) -> str:
    """The first thing that is wrong, where it is, and what would be right there."""
    found = error.errors(include_url=False)[0]
    place = one_line(".".join(map(str, found["loc"])))[:_LONGEST_PLACE]
    kind, context = found["type"], found.get("ctx", {})
    if kind == "missing":
        return gettext_noop("{place} is missing", place=place)
    if kind == "extra_forbidden":
        return gettext_noop("{place} is not known here", place=place)
    if kind in ("value_error", "assertion_error"):
        problem = str(context.get("error", ""))
        if not place:
            return problem
        return gettext_noop("at {place}: {problem}", place=place, problem=problem)
    wanted, given = _wanted(kind, context), _given(context.get("tag", found["input"]))
    if place:
        return gettext_noop(
            "at {place}: need {wanted}, got {given}", place=place, wanted=wanted, given=given
        )
    return gettext_noop("need {wanted}, got {given}", wanted=wanted, given=given)


def _wanted(kind: str, context: Mapping[str, Any]) -> str:
    match kind:
        case "greater_than_equal":
            return gettext_noop("at least {least}", least=context["ge"])
        case "less_than_equal":
            return gettext_noop("at most {most}", most=context["le"])
        case "greater_than":
            return gettext_noop("more than {least}", least=context["gt"])
        case "less_than":
            return gettext_noop("less than {most}", most=context["lt"])
        case "too_short" | "string_too_short":
            return gettext_noop("a length of at least {least}", least=context["min_length"])
        case "too_long" | "string_too_long":
            return gettext_noop("a length of at most {most}", most=context["max_length"])
        case "string_pattern_mismatch":
            return gettext_noop("a text that fits {pattern}", pattern=context["pattern"])
        case "literal_error":
            return gettext_noop("one of {names}", names=context["expected"])
        case "union_tag_invalid":
            return gettext_noop("one of {names}", names=context["expected_tags"])
    return _KINDS.get(kind, gettext_noop("another value"))


def _given(value: Any) -> str:
    """A short value as it stands, of another one its kind."""
    match value:
        case None:
            return _NOTHING
        case list() | tuple():
            return _LIST
        case dict():
            return _OBJECT
    return shown(str(value))


# What pages show of cards, which come with checkpoints of any origin. What a model is built of is
# checked by :mod:`attention_plugins.checkpoints`.
_Line = Annotated[str, Field(max_length=300)]
_Name = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,60}$")]
_Scoring = Annotated[str, Field(pattern=r"^([a-z0-9_]{1,60}|=[ -~]{1,300})$")]  # or a formula
_Count = Annotated[int, Field(ge=0, le=10**12)]
_Figure = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
# Of a field that may be left out, but is never null. Defaults are not validated.
_LEFT_OUT: Any = Field(default=None)
_OF_CARD = ConfigDict(strict=True, extra="allow")


class _Part(BaseModel, **_OF_CARD):
    sentences: _Count
    bleu: _Figure = _LEFT_OUT
    value: _Figure = _LEFT_OUT


class _Metric(BaseModel, **_OF_CARD):
    title: _Line
    value: _Figure
    unit: _Line = ""


class _Score(BaseModel, **_OF_CARD):
    bleu: _Figure = _LEFT_OUT
    nats: _Figure = _LEFT_OUT
    accuracy: _Figure = _LEFT_OUT
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


class _Corpus(BaseModel, **_OF_CARD):
    name: _Line
    trained_on: _Count
    pairs: _Count = _LEFT_OUT
    held_out_sources: _Count = _LEFT_OUT
    split_seed: int = _LEFT_OUT
    sha256: _Line = ""
    metric: _Line = ""


class _Adopted(BaseModel, **_OF_CARD):
    family: _Line
    addition: _Line
    repository: _Line
    revision: _Line


class _Card(BaseModel, **_OF_CARD):
    title: _Line
    model: _Name
    scoring: _Scoring
    normaliser: Annotated[str, Field(pattern=r"^[a-z0-9_]{0,60}$")] = ""
    corpus: _Corpus
    scores: Annotated[dict[_Line, _Score], Field(max_length=100)]
    adopted: _Adopted = _LEFT_OUT
    kind: _Line = _LEFT_OUT
    source_words: _Count | None = None
    target_words: _Count | None = None


def problem_of(card: Mapping[str, Any]) -> str:
    """What is wrong with a card, as a worker describes it; empty if pages can show it."""
    try:
        _Card.model_validate(card)
    except ValidationError as error:
        return reason(error)
    return ""
