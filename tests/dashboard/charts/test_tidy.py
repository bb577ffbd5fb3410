from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dashboard.charts.frames import table_csv, tidy_weights

QUERIES, KEYS = ["je", 'say "hi"', "a,b"], ["x", "y", "z\n", "é", "=1+1"]
WEIGHTS = np.random.default_rng(0).random((2, 3, 5)).astype(np.float32)


def maps(causal=False) -> pa.Table:
    return pa.table(
        {
            "kind": ["cross", "encoder"],
            "layer": pa.array([0, 7], pa.int32()),
            "heads": pa.array([2, 1], pa.int32()),
            "queries": [QUERIES, ["q"]],
            "keys": [KEYS, ["k"]],
            "causal": [causal, False],
            "weights": pa.array([WEIGHTS.ravel(), [1.0]], pa.list_(pa.float32())),
        }
    )


def read(data: bytes) -> pd.DataFrame:
    return pd.read_csv(
        io.BytesIO(data), keep_default_na=False, na_values={"weight": [""]}, dtype={"text": str}
    )


def test_every_weight_is_a_row_with_its_place_and_its_labels():
    frame = read(table_csv(maps()))
    assert list(frame.columns) == [
        "kind", "layer", "head", "query", "key", "query_label", "key_label", "weight",
    ]  # fmt: skip
    assert len(frame) == 2 * 3 * 5 + 1
    for row in frame.to_dict("records")[:-1]:
        query, key = row["query"], row["key"]
        # as float32, bit for bit
        assert np.float32(row["weight"]) == WEIGHTS[row["head"], query, key]
        assert (row["kind"], row["layer"]) == ("cross", 0)
        assert row["query_label"] == QUERIES[query]
        assert row["key_label"] == KEYS[key].replace("=1+1", "'=1+1")
    last = frame.iloc[-1]
    assert (last.kind, last.layer, last.query_label, last.weight) == ("encoder", 7, "q", 1.0)


def test_masked_weights_are_empty():
    frame = read(table_csv(maps(causal=True)))[:-1]
    assert (frame.weight.isna() == (frame.key > frame["query"])).all()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+1+1", "'+1+1"),
        ("@SUM(A1)", "'@SUM(A1)"), ("-1, @SUM(A1)", "'-1, @SUM(A1)"), ("-2+3", "'-2+3"),
        ("\t=1", "'\t=1"), ("-1.326", "-1.326"), ("-1.326, 0.5", "-1.326, 0.5"),
        ("-.5e-3", "-.5e-3"), ("je", "je"), ("", ""), (None, ""),
    ],
)  # fmt: skip
def test_no_text_becomes_a_formula(text, written):
    frame = read(table_csv(pa.table({"n": [1], "text": pa.array([text], pa.string())})))
    assert frame.text.tolist() == [written]


def test_no_name_of_a_column_becomes_a_formula():
    written = table_csv(pa.table({"=1+1": [1], "-1": [2], "price": [3]}))
    assert written.decode().splitlines()[0] == '"\'=1+1","-1","price"'


def test_large_texts_are_written_as_others_are():
    texts = pa.chunked_array([pa.array(["=1", None]), pa.array(["-1", "=1"])], pa.string())
    large = texts.cast(pa.large_string())
    written = table_csv(pa.table({"text": texts}))
    assert written.decode().splitlines() == ['"text"', '"\'=1"', "", '"-1"', '"\'=1"']
    assert table_csv(pa.table({"text": large})) == written


def test_other_tables_are_written_as_they_are():
    table = pa.table({"x": [0.1, None], "lists": [["a", "b"], None], "yes": [True, False]})
    text = table_csv(table).decode().splitlines()
    assert text == ['"x","lists","yes"', '0.1,"a b",true', ",,false"]


def test_no_maps_are_no_rows():
    assert tidy_weights(maps()[:0]).num_rows == 0
