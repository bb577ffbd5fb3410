from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.complexity.view import LINK, requests

KEYS = ("longest", "widest", "kernel", "repeats", "seed", "device", "x")


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


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=8) | st.integers().map(str)))
def test_any_link_gives_a_view_that_its_own_link_restores(catalogue, query):
    view, _ = LINK.parse(query, catalogue)
    assert LINK.parse(LINK.format(view, catalogue), catalogue) == (view, [])
