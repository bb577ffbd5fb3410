from __future__ import annotations

import pyarrow as pa
import torch

from attention_plugins import AttentionMap, Site
from dashboard.jobs.task_tables import columns_table, coordinates, labels, maps_table
from dashboard.records.request import Result


def attention(heads, queries, keys, site):
    scores = torch.randn(heads, queries, keys, generator=torch.Generator().manual_seed(0))
    return AttentionMap(
        site=site,
        weights=scores.double().softmax(-1),
        query_labels=tuple(f"q{i}" for i in range(queries)),
        key_labels=tuple(f"k{i}" for i in range(keys)),
    )


def test_maps_keep_their_labels_and_weights_in_c_order():
    maps = [
        attention(2, 3, 5, Site("encoder", 1)),
        attention(1, 7, 2, Site("pooling")),
        attention(1, 0, 2, Site("cross")),
    ]
    sent = Result(tables={"maps": maps_table(maps)}).to_bytes()
    rows = Result.from_bytes(sent).tables["maps"].to_pylist()
    assert [(row["kind"], row["layer"], row["heads"]) for row in rows] == [
        ("encoder", 1, 2), ("pooling", 0, 1), ("cross", 0, 1),
    ]  # fmt: skip
    for row, expected in zip(rows, maps, strict=True):
        assert tuple(row["queries"]) == expected.query_labels
        assert tuple(row["keys"]) == expected.key_labels
        shape = (row["heads"], len(row["queries"]), len(row["keys"]))
        found = torch.tensor(row["weights"]).reshape(shape)
        torch.testing.assert_close(found, expected.weights.float(), rtol=0, atol=0)


def test_no_maps_are_an_empty_table_of_the_same_columns():
    table = maps_table([])
    assert len(table) == 0
    assert table.schema == maps_table([attention(1, 2, 3, Site("pooling"))]).schema
    assert table.schema.field("weights").type == pa.list_(pa.float32())


def test_points_become_columns_and_labels():
    points = torch.tensor([[1.32614, 2.0], [-3e-7, 12345.6]], requires_grad=True)
    table = columns_table({**coordinates(points), "y": points[:, 0] + 1})
    assert table.schema == pa.schema([(n, pa.float64()) for n in ("x0", "x1", "y")])
    assert table["x1"].to_pylist()[0] == 2.0
    assert labels(points) == ("1.326, 2", "-3e-07, 1.235e+04")
    assert labels(points[:, :1]) == ("1.326", "-3e-07")
