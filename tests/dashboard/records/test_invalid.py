"""What is wrong with data is said in sentences that the catalogues know, none of pydantic's."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dashboard import language
from dashboard.records.invalid import reason


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: Annotated[str, Field(min_length=2, max_length=5, pattern="^[a-z]*$")] = "abc"
    count: Annotated[int, Field(ge=0, le=7)] = 1
    rate: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] = 0.5
    kind: Literal["near", "far"] = "near"
    on: bool = True
    several: Annotated[list[int], Field(min_length=1, max_length=2)] = [1]

    @field_validator("count")
    @classmethod
    def _three(cls, count: int) -> int:
        if count == 3:
            raise ValueError("need as many predictions and true values as inputs")
        return count


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    inner: Inner


FAULTS = [
    ({}, "inner is missing"),
    (None, "need an object with named values, got nothing"),
    ({"inner": []}, "at inner: need an object with named values, got a list"),
    ({"inner": {"more": 1}}, "inner.more is not known here"),
    ({"inner": {"text": 7}}, "at inner.text: need a text, got ‘7’"),
    ({"inner": {"text": "a"}}, "at inner.text: need a length of at least 2, got ‘a’"),
    ({"inner": {"text": "abcdef"}}, "at inner.text: need a length of at most 5, got ‘abcdef’"),
    ({"inner": {"text": "A1"}}, "at inner.text: need a text that fits ^[a-z]*$, got ‘A1’"),
    ({"inner": {"count": 0.5}}, "at inner.count: need a whole number, got ‘0.5’"),
    ({"inner": {"count": -1}}, "at inner.count: need at least 0, got ‘-1’"),
    ({"inner": {"count": 8}}, "at inner.count: need at most 7, got ‘8’"),
    ({"inner": {"count": 3}},
     "at inner.count: need as many predictions and true values as inputs"),
    ({"inner": {"rate": "x"}}, "at inner.rate: need a number, got ‘x’"),
    ({"inner": {"rate": float("inf")}}, "at inner.rate: need a finite number, got ‘inf’"),
    ({"inner": {"rate": 0.0}}, "at inner.rate: need more than 0.0, got ‘0.0’"),
    ({"inner": {"rate": 1.0}}, "at inner.rate: need less than 1.0, got ‘1.0’"),
    ({"inner": {"kind": "x"}}, "at inner.kind: need one of 'near' or 'far', got ‘x’"),
    ({"inner": {"on": 1}}, "at inner.on: need true or false, got ‘1’"),
    ({"inner": {"several": {}}}, "at inner.several: need a list, got an object with named values"),
    ({"inner": {"several": []}}, "at inner.several: need a length of at least 1, got a list"),
]  # fmt: skip


def said(held) -> str:
    with pytest.raises(ValidationError) as raised:
        Outer.model_validate(held)
    return reason(raised.value)


@pytest.mark.parametrize(("held", "sentence"), FAULTS, ids=str)
def test_it_says_where_what_is_wrong_and_what_would_be_right(held, sentence):
    assert said(held) == sentence


@pytest.mark.parametrize(("held", "sentence"), FAULTS, ids=str)
def test_each_is_known_in_chinese(held, sentence, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    told = language.translated(f"race.json is no plan of a race: {sentence}")
    assert told.startswith("race.json 不是竞赛计划：")
    for word in ("need", "missing", "known", "got", "length", "number", "object", "list"):
        assert f" {word}" not in told.replace("got ‘", "")


def test_a_long_place_or_a_long_value_is_cut():
    told = said({"inner": {"x" * 5_000: 1}})
    assert len(told) < 300
    assert len(said({"inner": {"count": "9" * 5_000}})) < 300
