import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.language import gettext_noop
from dashboard.records.request import Result


@pytest.fixture
def result():
    weights = pa.array([[0.25, 0.75, 0.5, 0.5, 1.0, 0.0]], type=pa.list_(pa.float32()))
    maps = pa.table(
        {
            "kind": ["cross"],
            "layer": pa.array([2], type=pa.int32()),
            "queries": [["i'm", "home", "."]],
            "keys": [["je", "…"]],
            "causal": [False],
            "weights": weights,
        }
    )
    curve = pa.table({"x": [0.5, 1.5, float("nan")], "y": pa.array([1, None, 3])})
    facts = {"metrics": {"bleu": 36.6}, "text": "à l’œuvre\u202f!", "n": 3, "ok": True, "no": None}
    return Result(tables={"maps": maps, "curve": curve}, facts=facts)


def test_tables_types_and_facts_come_back(result):
    back = Result.from_bytes(result.to_bytes())
    assert list(back.tables) == ["curve", "maps"]
    assert back.tables["maps"].equals(result.tables["maps"])
    assert back.tables["maps"].schema == result.tables["maps"].schema
    assert str(back.tables["curve"].to_pydict()) == str(result.tables["curve"].to_pydict())
    assert back.facts == result.facts
    assert back.digest == Result(tables=back.tables, facts=back.facts).digest == result.digest


def test_equal_results_give_equal_bytes_whatever_the_order_of_tables(result):
    turned = Result(tables=dict(reversed(result.tables.items())), facts=result.facts)
    assert turned.to_bytes() == result.to_bytes()


def test_an_empty_result_is_a_result():
    back = Result.from_bytes(Result().to_bytes())
    assert back.tables == {}
    assert back.facts == {}


def test_a_table_keeps_its_own_metadata_and_its_chunks():
    table = pa.table({"n": pa.chunked_array([[2, 3], [5, 7, 11]])})
    table = table.replace_schema_metadata({"unit": "epochs"})
    back = Result.from_bytes(Result(tables={"t": table}).to_bytes()).tables["t"]
    assert back.schema.metadata == {b"unit": b"epochs"}
    assert back["n"].to_pylist() == [2, 3, 5, 7, 11]


@given(
    st.dictionaries(
        st.text(),
        st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)),
    )
)
def test_any_json_facts_come_back(facts):
    assert Result.from_bytes(Result(facts=facts).to_bytes()).facts == facts


def test_facts_that_are_not_json_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        Result(facts={"loss": float("nan")}).to_bytes()
    with pytest.raises(TypeError):
        Result(facts={"tensor": object()}).to_bytes()


def test_every_truncation_is_refused(result):
    payload = result.to_bytes()
    for size in range(0, len(payload) - 8, 7):  # the last 8 bytes only say that nothing follows
        with pytest.raises(ValueError, match=r"^not a result: "):
            Result.from_bytes(payload[:size])


@given(st.binary(max_size=211))
def test_bytes_that_are_no_result_are_refused(payload):
    with pytest.raises(ValueError, match=r"^not a result: "):
        Result.from_bytes(payload)


@pytest.mark.parametrize("dressed", [False, True])
def test_another_arrow_stream_is_refused(dressed):
    table = pa.table({"n": [2, 3]})
    if dressed:
        table = pa.table({"name": ["a"], "table": [5]}).replace_schema_metadata({"facts": "{}"})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match=r"^not a result: "):
        Result.from_bytes(sink.getvalue().to_pybytes())


def test_a_sentence_among_the_facts_keeps_what_it_is_translated_by():
    said = Result(facts={"note": gettext_noop("at most {most}", most=7)})
    back = Result.from_bytes(said.to_bytes()).facts["note"]
    assert (back, back.form, back.values) == ("at most 7", "at most {most}", {"most": "7"})
