"""What stands under the standings."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from dashboard.features.race.figures import (
    budget,
    caption,
    edges,
    limits,
    ran,
    said_of_sizes,
    undecided,
)  # fmt: skip
from dashboard.features.race.view import Seen
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.storage.races import Entrant

FACTS = {"task": "Reverse", "metric": "Exact match", "unit": "%", "higher_is_better": True}


def seen(*, seeds=(7, 7), **facts):
    """Two contestants."""
    rows = [
        {"key": f"m.{name}", "model": "m", "scoring": name, "normaliser": "", "seeds": count,
         "difference": difference, "equals": [], "rank": 1, "edge": ""}
        for name, count, difference in zip("ab", seeds, (None, 0.5), strict=True)
    ]  # fmt: skip
    tables = {"standings": pa.Table.from_pylist(rows)}
    choices: Any = SimpleNamespace(
        task="reverse",
        race=SimpleNamespace(by_key={}),
        joined=(),
        reference=Entrant("m", "a"),
        title=lambda entrant: {"a": "The first", "b": "The other"}[entrant.name],
        titles={"a": "The first"},
        model_titles={"m": "Model"},
    )
    result = Result(tables=tables, facts=FACTS | facts)
    session: Any = SimpleNamespace(catalogue=Catalogue())
    return Seen(session, choices, result)


def test_it_says_what_was_measured_and_how_it_was_tested():
    told = caption(seen())
    assert told.startswith("Reverse: Exact match (%), higher is better, on data that nobody")
    assert "Mean over 7 seeds with 95% bootstrap intervals." in told
    assert "Difference to The first in Model, paired by seed" in told
    assert "corrected by Holm over the 1 comparison with it on this task." in told
    assert "Benjamini-Hochberg at 5% over all 1 pairs" in told
    other = caption(seen(seeds=(5, 7), unit="", higher_is_better=False))
    assert other.startswith("Reverse: Exact match, lower is better")
    assert "Mean over 5 to 7 seeds with" in other


def test_it_names_the_budget_and_which_choices_are_at_an_edge():
    given = {"steps": 1234, "examples": 5678, "rates": 2, "widen": 0, "halving": 0}
    found = seen(budget=given)
    told = "After 1,234 steps on 5,678 examples, at the best of 2 learning rates."
    assert budget(found) == told
    assert told in caption(found)
    assert budget(seen(budget={**given, "rates": 1})).endswith("at the only learning rate tried.")
    assert edges(found) == ""
    for rates, plain in ((2, True), (3, False)):
        found = seen(budget={**given, "rates": rates})
        found.rows[1]["edge"] = "highest"
        assert ("With two rates every choice is at an edge" in edges(found)) is plain
        assert "↑ marks the highest rate tried" in edges(found)
    assert "Successive halving, rounds: 1. Who went on" in budget(
        seen(budget={**given, "halving": 1})
    )
    found = seen(budget={**given, "widen": 2})
    found.rows[1]["edge"] = "highest"
    assert (
        budget(found) == f"{told} Where that was at their edge, up to 2 more were tried beyond it."
    )
    assert "every choice is at an edge" not in edges(found)


def test_it_says_between_which_limits_a_task_is_and_when_it_decides_nothing():
    given = {"floors": [["uniform attention", 45.54, 45.0, 46.0]], "ceiling": 100.0,
             "top": "the right answers", "best": 45.79, "share": 0.0046, "decides": False,
             "rule": 0.1}  # fmt: skip
    after = {"budget": {"steps": 1234}}
    near, far = seen(limits=given, **after), seen(limits={**given, "decides": True}, **after)
    assert limits(near) == (
        "Floor 45.54 (uniform attention), ceiling 100 (the right answers). After 1,234 steps the "
        "best contestant, 45.79, covers 0.5% of the way."
    )
    assert "after 1,234 steps its best contestant covers at most 10% of" in undecided(near)
    assert undecided(far) == undecided(seen()) == limits(seen()) == ""


def test_who_has_equal_outcomes_ran_but_is_ranked_once():
    found = seen()
    found.ranked[0]["equals"] = ["m.c", "m.d"]
    assert ran(found) == (
        "4 contestants ran; those with equal outcomes and losses in every seed count once, "
        "so 2 are ranked."
    )


def test_it_says_of_sizes_what_was_learned():
    assert said_of_sizes(seen(trained=None)).startswith("Held-out sentences by their length.")
    assert said_of_sizes(seen(trained=(50, 50))).startswith("The line marks the 50 points")
    assert said_of_sizes(seen(trained=(5, 9))).startswith("Shaded is what was learned, 5 to 9")
