from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.complexity.view import LINK, measurement, requests, timing_work

KEYS = ("longest", "widest", "kernel", "repeats", "seed", "device", "times", "x")


def test_a_link_holds_sizes_and_seed(catalogue):
    link = {"longest": "256", "kernel": "9", "repeats": "3", "seed": "5", "device": "cpu"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == link
    (request,) = requests(view, catalogue)
    assert (request.task, request.seed, request.device) == ("complexity", 5, "cpu")
    assert dict(request.options) == {
        "longest": "256", "widest": "256", "kernel": "9", "repeats": 3,
    }  # fmt: skip


def test_what_is_not_offered_is_named(catalogue):
    view, problems = LINK.parse({"kernel": "4", "device": "tpu"}, catalogue)
    assert dict(view.settings)["kernel"] == "3"
    assert [p.partition("=")[0] for p in problems] == ["kernel", "device"]
    assert LINK.format(view, catalogue) == {}


def shown(link, catalogue):
    view, _ = LINK.parse(link, catalogue)
    assert LINK.format(view, catalogue) == link
    return view.times, [request.data for request in requests(view, catalogue)]


def test_a_bare_link_shows_the_reference_and_one_with_settings_measures(catalogue):
    assert shown({}, catalogue) == ("reference", ["reference"])
    for link in ({"kernel": "9"}, {"seed": "5"}, {"device": "cpu"}, {"normaliser": "sparsemax"}):
        assert shown(link, catalogue) == ("here", [""]), link


def test_a_link_says_whose_times_are_shown(catalogue):
    assert shown({"times": "here"}, catalogue) == ("here", [""])
    assert shown({"times": "both"}, catalogue) == ("both", ["reference", ""])
    assert shown({"kernel": "5", "times": "both"}, catalogue) == ("both", ["reference", ""])
    assert shown({"kernel": "5", "times": "reference"}, catalogue) == ("reference", ["reference"])
    view, problems = LINK.parse({"times": "theirs"}, catalogue)
    assert (view.times, len(problems)) == ("reference", 1)


def test_only_a_measurement_costs(catalogue):
    view, _ = LINK.parse({"times": "both"}, catalogue)
    reference, here = requests(view, catalogue)
    assert timing_work(reference) == 0
    assert timing_work(here) > 0.5


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=8) | st.integers().map(str)))
def test_any_link_gives_a_view_that_its_own_link_restores(catalogue, query):
    view, _ = LINK.parse(query, catalogue)
    assert LINK.parse(LINK.format(view, catalogue), catalogue) == (view, [])


def test_work_grows_with_both_sizes_and_with_rounds_up_to_seven(catalogue):
    def cost(**link):
        (request,) = requests(LINK.parse({**link, "times": "here"}, catalogue)[0], catalogue)
        return timing_work(request) - 0.5

    n, d = 512, 128
    one = cost(longest=str(n), widest=str(d), repeats="7")
    assert one == pytest.approx(2.3e-9 * n * d * (n + d))
    assert cost(longest=str(n), widest=str(d), repeats="9") == one
    assert cost(longest=str(n), widest=str(d), repeats="3") == pytest.approx(one * 3 / 7)


def test_a_measurement_anew_says_from_when_and_waits_for_its_normaliser(catalogue):
    view, _ = LINK.parse({"times": "here"}, catalogue)
    assert dict(measurement(replace(view, since=17), catalogue).options)["since"] == 17
    assert "since" not in dict(measurement(view, catalogue).options)
    assert measurement(replace(view, normaliser="not_here"), catalogue) is None
