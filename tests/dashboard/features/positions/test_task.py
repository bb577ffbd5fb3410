"""The task of the page on positional encoding, against the formulas in numpy."""

import numpy as np
import pytest

from dashboard.charts.frames import matrix
from dashboard.features.positions.rotation import turn
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result


class Silent:
    def report(self, fraction, note="", facts=None):
        pass

    def stopped(self):
        return False


def run(**options):
    made = perform(Request.make("positions", options=options), Silent())
    return Result.from_bytes(made.to_bytes())


def by_hand(positions, size):
    """Equation 10.6.2 of Dive into Deep Learning, entry by entry."""
    table = np.empty((len(positions), size))
    for row, i in enumerate(positions):
        for column in range(size):
            angle = i / 10000 ** (2 * (column // 2) / size)
            table[row, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return table


@pytest.mark.parametrize(("size", "positions"), [(32, 60), (7, 11), (64, 75)])
def test_the_encoding_is_that_of_the_formula(size, positions):
    small = {"pair": 1, "position": 2}
    found = matrix(run(size=size, positions=positions, **small).tables["encoding"])
    np.testing.assert_allclose(found, by_hand(range(positions), size), atol=1e-13)


def test_bits_count_from_nought_with_the_lowest_bit_first():
    bits = matrix(run(positions=13).tables["bits"])
    assert ["".join(f"{bit:.0f}" for bit in row[::-1]) for row in bits] == [
        f"{number:04b}" for number in range(13)
    ]


def test_the_flow_is_the_documents():
    """Section "Positional encoding", its printed steps: max_len 8, size 6, four tokens."""
    result = run()
    flow = {
        name: matrix(result.tables[f"flow_{name}"]).reshape(shape)
        for name, shape in result.facts["shapes"].items()
    }
    assert {name: step.shape for name, step in flow.items()} == {
        "positions": (8, 1), "divisors": (3,), "angles": (8, 3), "sines": (8, 3),
        "cosines": (8, 3), "encoding": (1, 8, 6), "output": (1, 4, 6),
    }  # fmt: skip
    np.testing.assert_allclose(flow["divisors"], [1.0, 21.5443, 464.1590], rtol=1e-5)
    np.testing.assert_allclose(flow["angles"], np.arange(8)[:, None] / flow["divisors"])
    np.testing.assert_allclose(flow["sines"], np.sin(flow["angles"]))
    np.testing.assert_allclose(flow["cosines"], np.cos(flow["angles"]))
    np.testing.assert_allclose(flow["encoding"][0], by_hand(range(8), 6))
    np.testing.assert_array_equal(flow["output"], flow["encoding"][:, :4])


@pytest.mark.parametrize(("offset", "pair", "position"), [(10, 3, 4), (-17, 0, 0), (0, 2, 59)])
def test_the_rotation_carries_a_position_to_another(offset, pair, position):
    settings = {"offset": offset, "pair": pair, "position": position}
    made = turn(run(**settings), settings)
    angle = offset / 10000 ** (2 * pair / 32)
    expected = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    np.testing.assert_allclose(made.matrix, expected, atol=1e-14)
    columns = slice(2 * pair, 2 * pair + 2)
    start, end = by_hand([position, position + offset], 32)[:, columns]
    np.testing.assert_allclose(made.start, start, atol=1e-14)
    np.testing.assert_allclose(made.end, end, atol=1e-13)


@pytest.mark.parametrize(("size", "positions"), [(32, 60), (7, 11)])
def test_every_rotation_is_checked(size, positions):
    facts = run(size=size, positions=positions, pair=1, position=2).facts["rotation"]
    assert facts["compared"] == 201 * positions * (size // 2)
    assert facts["deviation"] < 1e-12


def test_the_deviation_is_over_all_positions_pairs_and_offsets(monkeypatch):
    from dashboard.features.positions import task as positions

    true = positions.sinusoidal_positions

    def off(places, size, dtype):
        table = true(places, size, dtype)
        table[-1, -1] += 0.25 * (places[-1] > 59)  # of the shifted positions alone, one entry
        return table

    monkeypatch.setattr(positions, "sinusoidal_positions", off)
    assert run().facts["rotation"]["deviation"] == pytest.approx(0.25)


def test_dot_products_depend_on_the_distance_alone_where_all_columns_have_a_partner():
    result = run(size=12, positions=17, pair=1)
    table = by_hand(range(17), 12)
    np.testing.assert_allclose(matrix(result.tables["similarity"]), table @ table.T)
    distances = result.tables["by_distance"].to_pydict()
    np.testing.assert_allclose(distances["value"], (table @ table.T)[0])
    assert result.facts["similarity_spread"] < 1e-12
    assert run(size=13, positions=17, pair=1).facts["similarity_spread"] > 1e-6


def test_wavelengths_are_in_positions():
    lengths = run(size=8).facts["wavelengths"]
    np.testing.assert_allclose(lengths, 2 * np.pi * 10.0 ** np.arange(4))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 6, "pair": 3}, "need pair <= 2"),
        ({"positions": 5, "position": 5}, "need position <= 4"),
        ({"flow_rows": 3, "flow_tokens": 4}, "need flow_tokens <= 3"),
        ({"size": 65}, "need 4 <= size <= 64"),
        ({"positions": 76}, "need 2 <= positions <= 75"),
        ({"offset": 101}, "need -100 <= offset <= 100"),
        ({"flow_rows": 1}, "need 2 <= flow_rows <= 8"),
        ({"flow_size": 9}, "need 2 <= flow_size <= 8"),
        ({"flow_tokens": 0}, "need 1 <= flow_tokens <= 8"),
        ({"speed": 1}, "no parameter 'speed'"),
    ],
)
def test_what_is_beyond_the_encoding_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        run(**options)
