"""While a slider of one step moves, its matrices and sentences are those of each position."""

from types import SimpleNamespace

import pytest
from support import following

from dashboard.features.anatomy import following as page
from dashboard.features.anatomy import task
from dashboard.features.anatomy import view as anatomy
from dashboard.records.request import Result  # noqa: F401


@pytest.fixture
def step(catalogue):
    """``step(slider, **changes)``: what follows that slider, its name the end of its key."""

    def found(slider, **changes):
        view = anatomy.LINK.read(changes, catalogue)[0]
        session = SimpleNamespace(
            view=view, catalogue=catalogue,
            key=lambda *parts: "-".join(("anatomy", *filter(None, parts))).replace(".", "-"),
        )  # fmt: skip
        result = task.perform(anatomy.requests(view, catalogue)[0], following.Context())
        walk = page.walked(view, catalogue, result)
        return next(
            page.followers(walk, catalogue, one)
            for one in page._moved(session) if one.slider.key.endswith(slider)
        )  # fmt: skip

    return found
