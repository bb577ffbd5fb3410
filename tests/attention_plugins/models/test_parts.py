"""The sinusoidal encoding against its formula, number by number."""

import math

import pytest
import torch

from attention_plugins.models.parts import sinusoidal_positions


@pytest.mark.parametrize("size", [1, 2, 6, 7, 31])
def test_columns_alternate_between_sine_and_cosine(size):
    found = sinusoidal_positions(torch.arange(11), size, torch.float64)
    for position in range(11):
        for column in range(size):
            angle = position / 10_000 ** (2 * (column // 2) / size)
            expected = (math.sin if column % 2 == 0 else math.cos)(angle)
            assert found[position, column].item() == pytest.approx(expected, abs=1e-12)


def test_a_rotation_that_knows_only_the_offset_carries_each_position_on():
    size, offset = 14, 5
    encoded = sinusoidal_positions(torch.arange(23), size, torch.float64)
    for pair in range(size // 2):
        angle = torch.tensor(offset / 10_000 ** (2 * pair / size), dtype=torch.float64)
        rotation = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()]).view(2, 2)
        columns = encoded[:, 2 * pair : 2 * pair + 2]
        torch.testing.assert_close(columns[:-offset] @ rotation.T, columns[offset:])


def test_positions_may_have_any_shape_and_start():
    everywhere = sinusoidal_positions(torch.arange(13), 6)
    torch.testing.assert_close(
        sinusoidal_positions(torch.tensor([[7, 2]]), 6)[0, 0], everywhere[7]
    )
    assert sinusoidal_positions(torch.tensor([5000]), 6).shape == (1, 6)
