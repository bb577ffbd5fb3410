"""The axes that all charts of predictions share."""

import numpy as np
import pyarrow as pa
import pytest
from support.charts import kernel_tables

from dashboard.charts.curves import axes, problem


def shared(scale, shift):
    """The axes of one curve, and all its values."""
    curve, points, weights = kernel_tables(11, width=0.4)
    points = points.set_column(1, "y", pa.array(np.array(points["y"]) * scale + shift))
    for at, name in ((1, "prediction"), (2, "truth")):
        curve = curve.set_column(at, name, pa.array(np.array(curve[name]) * scale + shift))
    values = [curve["prediction"], curve["truth"], points["y"]]
    return axes([problem(curve, points, weights)], "y"), np.concatenate(values)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.013, 5.0), (7e4, -3e5), (1.0, 1e3)])
def test_an_axis_of_values_holds_all_and_ends_at_round_numbers_near_them(scale, shift):
    found, values = shared(scale, shift)
    start, end = found.y
    spread = values.max() - values.min()
    assert start < values.min()
    assert values.max() < end
    assert end - start < 1.15 * spread
    # At most 40 steps of 1, 2 or 5 times a power of ten, and both ends are whole numbers of them.
    power = 10.0 ** np.floor(np.log10(spread / 40))
    step = next(s for s in (1, 2, 5, 10) if s * power >= (spread * 1.08) / 40) * power
    assert np.allclose(np.array(found.y) / step, np.round(np.array(found.y) / step), atol=1e-6)
