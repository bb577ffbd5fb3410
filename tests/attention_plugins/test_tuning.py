"""The grid of tuning is what its description says."""

import pytest

from attention_plugins.contract import Parameter
from attention_plugins.fitting import COMBINATIONS, grid

WIDTH = Parameter(name="width", title="Width", default=1.0, low=0.01, high=100.0, step=0.01)
OFFSET = Parameter(name="offset", title="Offset", default=-1.0, low=-6.0, high=6.0, step=0.1)
DEGREE = Parameter(name="degree", title="Degree", default=4, low=2, high=8)


def test_a_positive_parameter_goes_through_equal_ratios_and_another_through_equal_steps():
    widths = [one["width"] for one in grid([WIDTH])]
    assert widths == pytest.approx([1.0, 0.01, 0.0464, 0.215, 4.64, 21.5, 100.0])
    offsets = [one["offset"] for one in grid([OFFSET])]
    assert offsets == [-1.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0]


def test_whole_numbers_stay_as_they_are():
    assert grid([DEGREE]) == [{}]
    assert {*grid([DEGREE, WIDTH])[0]} == {"width"}


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_several_parameters_stay_within_the_limit(count):
    several = [
        Parameter(name=f"p{n}", title="P", default=0.5, low=0.01, high=9.0) for n in range(count)
    ]
    found = grid(several)
    assert found[0] == {one.name: 0.5 for one in several}
    assert 2**count <= len(found) <= COMBINATIONS
