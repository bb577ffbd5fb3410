import pyarrow as pa
import pytest

from dashboard.features.anatomy.chart import stages


def test_a_stage_is_cut_at_row_and_head():
    table = pa.table({"name": ["weights"], "axes": [["B", "H", "n_q", "n_k"]],
                      "shape": [[2, 3, 1, 5]], "values": [list(range(30))]})  # fmt: skip
    stage = stages(table)["weights"]
    assert stage.shape == "(B, H, n_q, n_k) = (2, 3, 1, 5)"
    assert stage.matrix(1, 2).tolist() == [[25, 26, 27, 28, 29]]
    assert stage.matrix(0, 9).tolist() == [[10, 11, 12, 13, 14]]
    assert stage.labels(-1) == ["k0", "k1", "k2", "k3", "k4"]
    with pytest.raises(ValueError, match="stage 'weights': need 30 numbers, got 3"):
        stages(table.set_column(3, "values", [[[1, 2, 3]]]))
