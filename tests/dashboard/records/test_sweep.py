"""The positions of a slider, and the request of what is seen at all of them."""

import json

import pytest
from support.documents import section

from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result
from dashboard.records.sweep import MOST, asked, is_wide, positions, step_of, sweep


def number(low, high, step=None, default=1.0):
    return Parameter(name="n", title="N", default=default, low=low, high=high, step=step)


def test_positions_lie_on_steps_from_the_lowest_to_the_highest():
    found = positions(number(0.05, 10.0, 0.01))
    assert (found[0], found[-1]) == (0.05, 10.0)
    assert len(found) <= MOST
    assert all(abs(value / 0.01 - round(value / 0.01)) < 1e-6 for value in found)
    assert found == sorted(set(found))


def test_a_slider_of_few_steps_has_a_frame_for_each():
    assert positions(number(1, 8, default=2)) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(type(value) is int for value in positions(number(1, 8, default=2)))


def test_positions_are_even_in_the_logarithm_where_the_range_is_wide():
    wide, narrow = number(0.01, 10.0, 0.001), number(1.0, 10.0, 0.001)
    assert is_wide(wide)
    assert not is_wide(narrow)
    assert positions(wide)[20] == pytest.approx(0.316, abs=0.001)  # half way from 0.01 to 10
    assert positions(narrow)[20] == pytest.approx(5.5)


def test_equal_requests_are_swept_once():
    one, other = Request.make("regression", seed=1), Request.make("regression", seed=2)
    assert asked(sweep([one, other, one])) == [one, other]
    assert asked(sweep([other, one, one])) == [other, one]


@pytest.mark.parametrize("held", ["[]", "{}", '["x"]', "[" + ",".join(['"x"'] * 500) + "]"])
def test_another_request_is_refused(held):
    with pytest.raises(ValueError, match="request"):
        asked(Request.make("sweep", options={"requests": held}))
    with pytest.raises(ValueError, match="1 to"):
        asked(Request.make("sweep"))
    with pytest.raises(ValueError, match="1 to"):
        asked(Request.make("sweep", options={"requests": json.dumps({"{}": 1})}))


def test_results_are_found_by_what_asked_for_them():
    import pyarrow as pa

    from dashboard.records.sweep import results

    requests = [Request.make("regression", seed=each) for each in range(3)]
    held = [Result(facts={"seed": each}).to_bytes() for each in range(3)]
    swept = Result(tables={"results": pa.table({"result": pa.array(held, pa.large_binary())})})
    found = results(sweep(requests), swept)
    assert [found[each].facts["seed"] for each in requests] == [0, 1, 2]
    with pytest.raises(ValueError, match="zip"):
        results(sweep(requests[:2]), swept)


def test_the_document_says_how_many_positions_are_computed():
    assert f"Of {MOST} positions at most" in section("using.md", "As one HTML file")


def test_a_range_is_wide_from_beyond_twenty_times_its_lowest_and_never_from_0():
    assert not is_wide(number(1.0, 20.0))
    assert is_wide(number(1.0, 21.0))
    assert not is_wide(number(-1.0, 21.0))


def test_without_a_step_whole_numbers_go_by_1_and_others_by_a_hundredth_of_the_range():
    assert step_of(number(1, 300, default=2)) == 1
    assert step_of(number(0.0, 5.0)) == pytest.approx(0.05)
    assert step_of(number(0.0, 5.0, 0.5)) == 0.5


def test_as_many_steps_as_positions_leave_one_out_of_none():
    assert positions(number(0, 40, default=2)) == [*range(41)]
    assert len(positions(number(0, 41, default=2))) == MOST
    assert positions(number(0.0, 0.3, 0.1)) == [0.0, 0.1, 0.2, 0.3]


def test_a_sweep_has_a_bound():
    one = Request.make("regression").to_json()
    at_most = json.dumps([one] * 8 * MOST)
    assert len(asked(Request.make("sweep", options={"requests": at_most}))) == 8 * MOST
    more = json.dumps([one] * (8 * MOST + 1))
    with pytest.raises(ValueError, match="a list of 1 to 328 requests"):
        asked(Request.make("sweep", options={"requests": more}))
