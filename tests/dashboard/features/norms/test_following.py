from dataclasses import replace

import pytest
from support.following import check, computed, session

from dashboard.features.norms import page, view
from dashboard.records.parameter import pairs

pytestmark = pytest.mark.slow

CHANGES = "change_features", "change_sequence", "change_batch"


@pytest.mark.parametrize(
    ("slider", "charts", "words"),
    [
        ("momentum", {"evaluated", "running"}, set()),
        ("batches", {"evaluated", "running"}, {"evaluated"}),
        ("padding", {*CHANGES}, {"padded", *CHANGES}),
        ("dropout", {"x", "dropped", "added", "normed"}, {"dropout"}),
    ],
)
def test_every_frame_is_what_the_page_draws_there(slider, charts, words):
    seen = session("norms", view.LINK, x="1,2,5;2,3,4", dropout="0.3", batches="2")
    sliders = page.sliders(seen)
    assert {one.key for one in sliders.values()} == {f"norms-{name}" for name in sliders}

    def result(value):
        held = pairs({**dict(seen.view.settings), slider: value})
        (request,) = view.requests(replace(seen.view, settings=held), seen.catalogue)
        return computed(request)

    (one,) = (each for each in page.followers(sliders) if each.slider is sliders[slider])
    held = check(
        one,
        lambda value: {name: page.prepared(result(value), name) for name in charts},
        lambda value: {name: page.said(result(value), name, value) for name in words},
    )
    assert len({*zip(*held["words"].values(), strict=True)}) != 1
    assert held["tables"]
