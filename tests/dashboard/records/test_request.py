import json
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.records.attending import Normalised, normaliser_of, without_normaliser
from dashboard.records.request import Request

scalars = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
mappings = st.dictionaries(st.text(), scalars, max_size=5)
requests = st.builds(
    Request.make,
    task=st.text(),
    model=st.text(),
    scoring=st.text(),
    data=st.text(),
    device=st.text(),
    seed=st.integers(),
    parameters=mappings,
    options=mappings,
)


@given(requests)
def test_json_carries_every_field_and_every_type(request):
    back = Request.from_json(request.to_json())
    assert back == request
    assert repr(back) == repr(request)  # 1, 1.0 and True are equal, but not the same


@given(mappings, mappings)
def test_the_order_of_a_mapping_does_not_matter(parameters, options):
    def backwards(mapping):
        return dict(reversed(mapping.items()))

    one = Request.make("regression", parameters=parameters, options=options)
    other = Request.make(
        "regression", parameters=backwards(parameters), options=backwards(options)
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one.to_json() == other.to_json()
    assert one.key == other.key


@pytest.mark.parametrize(
    "change",
    [
        {"task": "translation"},
        {"model": "bahdanau"},
        {"scoring": "additive"},
        {"data": "sine"},
        {"seed": 2},
        {"device": "cpu"},
        {"parameters": (("width", 2.0),)},
        {"parameters": (("width", 1),)},
        {"options": (("n", 2),)},
        {"options": (("n", True),)},
    ],
)
def test_every_change_gives_another_key(change):
    request = Request.make("regression", parameters={"width": 1.0}, options={"n": 1}, seed=1)
    assert replace(request, **change).key != request.key


def test_the_key_is_stable_and_short():
    key = Request.make("regression", scoring="gaussian", parameters={"width": 0.5}).key
    assert len(key) == 32
    assert set(key) <= set("0123456789abcdef")
    assert key == Request.make("regression", scoring="gaussian", parameters={"width": 0.5}).key


def test_json_is_readable_and_canonical():
    text = Request.make("translation", options={"text": "j'ai perdu …", "beam": 3}).to_json()
    assert "j'ai perdu …" in text
    assert ": " not in text.replace("'", "")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_a_request_cannot_change():
    with pytest.raises(FrozenInstanceError):
        Request.make("regression").task = "translation"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "regression",
        "[]",
        "null",
        "3",
        '"text"',
        "{}",
        '{"task":"t"}',
        '{"task":"t","parameters":[],"options":3}',
        '{"task":"t","parameters":[["a"]],"options":[]}',
        '{"task":"t","parameters":[],"options":[],"colour":"red"}',
        '{"parameters":[],"options":[]}',
    ],
)
def test_what_is_no_request_is_refused(text):
    with pytest.raises(ValueError, match=r"^not a request: "):
        Request.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "0"}, {"seed": True}, {"seed": 1.0}, {"task": 3}, {"device": None},
        {"options": {"a": 1}}, {"options": [["a"]]}, {"options": [["a", None]]},
        {"parameters": [["a", [1]]]}, {"parameters": [[1, 1]]}, {"parameters": "ab"},
    ],
)  # fmt: skip
def test_fields_of_other_types_are_refused(change):
    fields = json.loads(Request.make("regression", options={"n": 2}).to_json()) | change
    with pytest.raises(ValueError, match=r"^not a request: need "):
        Request.from_fields(fields)


def test_the_options_of_a_request_are_those_of_its_normaliser_and_the_others():
    own = Normalised(normaliser="entmax", normaliser_parameters=(("alpha", 1.5),)).options()
    options = {**own, "points": 7}
    assert normaliser_of(options) == ("entmax", {"alpha": 1.5})
    assert without_normaliser(options) == {"points": 7}
    assert Normalised().options() == {}
