import pytest

from dashboard.features.regression import view as regression
from dashboard.features.start.view import (
    BASELINE,
    LINK,
    MOVED,
    SCORINGS,
    Start,
    before,
    requests,
    same_curves,
)


def test_the_slider_moves_every_kernel_and_leaves_average_pooling(catalogue):
    asked = requests(Start(width=0.2), catalogue)
    assert [*asked] == [*SCORINGS]
    widths = {name: dict(request.parameters).get("width") for name, request in asked.items()}
    assert widths == {"gaussian": 0.2, "laplacian": 0.2, BASELINE: None}


def test_the_sentence_compares_with_the_bare_address(catalogue):
    assert before(catalogue) == requests(Start(), catalogue)[MOVED]
    assert before(catalogue) != requests(Start(width=0.2), catalogue)[MOVED]


def test_a_width_stands_in_the_link(catalogue):
    assert LINK.format(Start(), catalogue) == {}
    assert LINK.format(Start(width=0.2), catalogue) == {"width": "0.2"}
    assert LINK.parse({"width": "0.2"}, catalogue) == (Start(width=0.2), [])
    view, (problem,) = LINK.parse({"width": "99"}, catalogue)
    assert view.width == 2.0
    assert "width=‘99’" in problem


@pytest.mark.parametrize("width", [0.5, 0.05, 2.0])
def test_kernel_regression_shows_the_same_fits(catalogue, width):
    shown = Start(width=width)
    view, problems = regression.LINK.parse(same_curves(shown), catalogue)
    assert problems == []
    others = regression.requests(view, catalogue)
    assert [*others.values()] == [*requests(shown, catalogue).values()]
