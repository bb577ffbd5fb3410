"""What the parts of the page *Race* read of a result."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from dashboard.features.race.caption import caption
from dashboard.features.race.seen import Seen, number
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.storage.races import Entrant

FACTS = {"task": "Reverse", "metric": "Exact match", "unit": "%", "higher_is_better": True}


def seen(*, problems=(), tuning=(), problem="", seeds=(7, 7), **facts):
    """Two contestants; of the second one the problem of each training, and of its tuning."""
    trials = [
        {"key": "m.b", "tuning": tuned, "problem": one}
        for tuned, many in ((False, problems), (True, tuning))
        for one in many
    ]
    rows = [
        {"key": f"m.{name}", "model": "m", "scoring": name, "normaliser": "", "seeds": count,
         "difference": difference, "problem": problem if name == "b" else ""}
        for name, count, difference in zip("ab", seeds, (None, 0.5), strict=True)
    ]  # fmt: skip
    schema = pa.schema([("key", pa.string()), ("tuning", pa.bool_()), ("problem", pa.string())])
    tables = {
        "trials": pa.Table.from_pylist(trials, schema), "standings": pa.Table.from_pylist(rows),
    }  # fmt: skip
    choices = SimpleNamespace(
        task="reverse", reference=Entrant("m", "a"), title=lambda entrant: entrant.name
    )
    result = Result(tables=tables, facts=FACTS | facts)
    return Seen(None, Catalogue(), choices, None, result)


@pytest.mark.parametrize(
    ("problems", "tuning", "problem", "said"),
    [
        (["", ""], [], "", ""),
        (["", "no gradient", ""], [], "1 of 3 trainings: no gradient",
         "1 of 3 trainings: no gradient"),
        (["no gradient"] * 3, [], "no gradient", "no gradient"),
        ([], ["no gradient"], "no gradient", "no gradient"),
    ],
)  # fmt: skip
def test_a_problem_is_told_with_how_many_trainings_had_it(problems, tuning, problem, said):
    one = seen(problems=problems, tuning=tuning, problem=problem)
    assert one.problem(one.rows[1]) == said


def test_nothing_is_no_difference_with_a_sign():
    assert [number(value) for value in (-0.0, 0.0, -0.5, 7)] == ["0", "0", "-0.5", "7"]


def test_the_caption_says_what_was_measured_and_how_it_was_tested():
    told = caption(seen())
    assert told.startswith("Reverse: Exact match (%), higher is better, on data that nobody")
    assert "Mean over 7 seeds with 95 % bootstrap intervals." in told
    assert "Difference to a in m, paired by seed" in told
    assert "Holm-corrected for 1 comparison." in told
    other = caption(seen(seeds=(5, 7), unit="", higher_is_better=False))
    assert other.startswith("Reverse: Exact match, lower is better")
    assert "Mean over 5 to 7 seeds with" in other
