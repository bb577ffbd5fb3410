"""The table says what the seeds say, each column against the original of the same column."""

from dataclasses import replace
from statistics import fmean

import pytest

from attention_plugins.price.records import Budget, Outcome, Swap
from attention_plugins.price.table import ENDS, Prices, problems, rows
from attention_plugins.race.statistics import differences

A, B = Swap(scoring="additive"), Swap(scoring="cosine", normaliser="entmax15")
ORIGINAL = [(1.0, 0.9), (1.2, 1.0), (1.1, 0.8), (1.3, 0.95), (1.0, 0.7), (1.15, 0.9)]
DEARER = [(0.5, 0.11), (0.6, 0.12), (0.4, 0.13), (0.7, 0.09), (0.55, 0.1), (0.5, 0.14)]


def prices(seeds=6):
    outcomes = []
    for seed in range(seeds):
        before, after = ORIGINAL[seed]
        more, less = DEARER[seed]
        outcomes += [
            Outcome(swap=Swap(), seed=seed, before=before, after=(after,)),
            Outcome(swap=A, seed=seed, before=before + more, after=(after - less,)),
        ]
    outcomes.append(Outcome(swap=B, seed=0, problem="it has no room"))
    return Prices(model="tiny", texts="texts", budget=Budget(seeds=seeds, rates=(0.1,), steps=50),
                  outcomes=outcomes)  # fmt: skip


def test_a_cost_is_the_paired_difference_from_the_original_of_its_column():
    found = {(one["swap"], one["rate"]): one for one in rows(prices())}
    assert [*found] == [("", 0.0), ("", 0.1), ("additive", 0.0), ("additive", 0.1)]
    assert not {"cost", "verdict", "p"} & {*found["", 0.0]}
    assert found["", 0.1]["loss"] == pytest.approx(fmean(after for _, after in ORIGINAL))
    untuned, tuned = found["additive", 0.0], found["additive", 0.1]
    assert untuned["cost"] == pytest.approx(fmean(more for more, _ in DEARER))
    assert tuned["cost"] == pytest.approx(-fmean(less for _, less in DEARER))
    assert (untuned["verdict"], tuned["verdict"]) == ("worse", "better")
    ours = [before + more for (before, _), (more, _) in zip(ORIGINAL, DEARER, strict=True)]
    theirs = [before for before, _ in ORIGINAL]
    (known,) = differences([ours], theirs, higher_is_better=False)
    costs = [untuned[name] for name in ("cost", "cost_low", "cost_high")]
    assert costs == pytest.approx([-known.mean, -known.high, -known.low])
    assert costs[1] < costs[0] < costs[2]
    assert untuned["p"] == known.p == 2 / 2**6


def test_text_names_budget_test_and_what_could_not_run():
    found = prices()
    assert problems(found) == {B: "it has no room"}
    text = str(found)
    assert "the original" in text
    assert "cosine + entmax15: it has no room" in text
    assert "nats a token on 100 texts that nobody tuned on" in text
    assert "50 steps of 16 texts, AdamW" in text
    assert text.count(") *") == 2  # one is dearer and one is cheaper, both beyond chance
    broken = Outcome(swap=B, seed=1, before=1.0, after=(1.0,), problem="it has no doors")
    more = replace(found, outcomes=[*found.outcomes, broken])
    assert problems(more) == {B: "it has no room"}
    assert rows(more) == rows(found)
    untuned = next(one for one in rows(found) if one["swap"])
    cost, low, high = (f"{untuned[f'cost{end}']:+.3f}" for end in ENDS)
    assert cost == f"{fmean(more for more, _ in DEARER):+.3f}"
    assert f"({cost}, {low} to {high}) *" in text
    assert "6 paired seeds" in text
    assert "none can be" not in text
    few = str(prices(3))
    assert "with fewer than 6 none can be." in few
    assert " *" not in few.partition("tiny:")[0]


def test_a_seed_without_a_result_is_left_out_with_its_pair():
    found = prices()
    outcomes = [one for one in found.outcomes if (one.swap, one.seed) != (Swap(), 2)]
    (row,) = [one for one in rows(Prices(**{**vars(found), "outcomes": outcomes}))
              if one["swap"] == "additive" and one["rate"] == 0]  # fmt: skip
    assert row["cost"] == pytest.approx(fmean(DEARER[seed][0] for seed in (0, 1, 3, 4, 5)))
    assert row["seeds"] == 6
    assert not any(row[f"cost{end}"] is None for end in ENDS)


def test_a_swap_that_removes_positions_has_a_row_of_its_own():
    found = prices()
    removed = Outcome(swap=replace(A, positions="remove"), seed=0, before=9.0, after=(8.0,))
    both = rows(replace(found, outcomes=[*found.outcomes, removed]))
    assert [one["swap"] for one in both] == [
        "",
        "",
        "additive",
        "additive",
        *["additive (remove)"] * 2,
    ]
    assert [one["loss"] for one in both[4:]] == [9.0, 8.0]
    heads = str(replace(found, outcomes=[*found.outcomes, removed])).splitlines()[0]
    assert heads == f"{'':12}  {'untuned':>32}  {'tuned at 0.1':>32}"  # as wide as the names
    assert replace(B, positions="remove").key == "cosine + entmax15 (remove)"
