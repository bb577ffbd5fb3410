"""What stands under the standings."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from dashboard.features.race.caption import caption
from dashboard.features.race.seen import Seen
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.storage.races import Entrant

FACTS = {"task": "Reverse", "metric": "Exact match", "unit": "%", "higher_is_better": True}


def seen(*, seeds=(7, 7), **facts):
    """Two contestants."""
    rows = [
        {"key": f"m.{name}", "model": "m", "scoring": name, "normaliser": "", "seeds": count,
         "difference": difference}
        for name, count, difference in zip("ab", seeds, (None, 0.5), strict=True)
    ]  # fmt: skip
    tables = {"standings": pa.Table.from_pylist(rows)}
    choices: Any = SimpleNamespace(
        task="reverse",
        reference=Entrant("m", "a"),
        title=lambda entrant: entrant.name,
        titles={"a": "The first"},
        model_titles={"m": "Model"},
    )
    result = Result(tables=tables, facts=FACTS | facts)
    nothing: Any = None
    return Seen(nothing, Catalogue(), choices, nothing, result)


def test_it_says_what_was_measured_and_how_it_was_tested():
    told = caption(seen())
    assert told.startswith("Reverse: Exact match (%), higher is better, on data that nobody")
    assert "Mean over 7 seeds with 95 % bootstrap intervals." in told
    assert "Difference to The first in Model, paired by seed" in told
    assert "Holm-corrected for 1 comparison." in told
    other = caption(seen(seeds=(5, 7), unit="", higher_is_better=False))
    assert other.startswith("Reverse: Exact match, lower is better")
    assert "Mean over 5 to 7 seeds with" in other
