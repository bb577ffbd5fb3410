import math
import re
from dataclasses import replace

import numpy as np
import pytest
from support.outcomes import contestant, outcome, outcomes

from attention_plugins.race.data import NEAREST, UNIFORM, Floor, Limits
from attention_plugins.race.export import (
    Heading,
    as_latex,
    as_markdown,
    caption,
    estimate_text,
    facts,
    number_text,
)
from attention_plugins.race.records import Budget
from attention_plugins.race.standings import baseline, standings
from attention_plugins.race.statistics import Difference, Estimate

TYPED = contestant("=-|q_1-k|^2/√d # 50% & more")
PLAIN = contestant("scaled_dot")
FAILED = contestant("rotary", normaliser="sparsemax")


def found():
    base = np.random.default_rng(0).normal(0.9, 0.01, 12)
    parts = {"near": 0.9, "copied": 0.25}
    rest = {"parts": parts, "parameters": 12345, "operations": 7_000_000, "milliseconds": 3.25}
    return [
        *outcomes(PLAIN, base, **rest),
        *outcomes(TYPED, base - np.linspace(0.1, 0.2, 12), rate=1e-5, **rest),
        outcome(FAILED, 0, problem="rotary needs an even width, got 7 | so\nnothing ran."),
    ]


@pytest.fixture(scope="module")
def rows():
    return standings(found(), "copy", reference=PLAIN, higher_is_better=True)


@pytest.fixture(scope="module")
def heading():
    value = baseline(found(), "copy")
    assert value
    return Heading(
        task="Copy", metric="exact match", unit="%", limits=limits(0.5, value),
        budget=Budget(examples=1000, epochs=12, batch_size=64, rates=(0.01, 0.03)),
    )  # fmt: skip


def limits(best, value):
    floors = (Floor(UNIFORM, value._replace(mean=0.4)), Floor(NEAREST, value))
    return Limits(floors=floors, ceiling=1.0, top="the right answers", best=best)


def test_every_column_holds_its_own_number(rows, heading):
    """Of a standing in which no two numbers are the same."""
    row = replace(
        rows[1], quality=Estimate(1.0, 2.0, 3.0, 12), corrected_p=8.0, rank=9, seeds=23,
        difference=Difference(4.0, 5.0, 6.0, p=7.0, pairs=11), seeds_needed=10, decides=24,
        parts={"near": Estimate(11.0, 12.0, 13.0, 12), "far": Estimate(14.0, 15.0, 16.0, 12)},
        parameters=17, operations=18, milliseconds=19.0, rate=20.0, equals=(PLAIN,),
    )  # fmt: skip
    found = facts(row, heading)
    numbers = {name: value for name, value in found.items() if not isinstance(value, str)}
    assert numbers == {
        "rank": 9, "exact match (%)": 1, "exact match (%) low": 2,
        "exact match (%) high": 3, "difference": 4, "difference low": 5, "difference high": 6,
        "p": 7, "corrected p": 8, "seeds needed": 10, "seeds to decide": 24, "near": 11,
        "near low": 12, "near high": 13,
        "far": 14, "far low": 15, "far high": 16, "parameters": 17, "operations": 18,
        "milliseconds a step": 19, "learning rate": 20, "seeds": 23,
    }  # fmt: skip
    texts = {name: value for name, value in found.items() if name not in numbers}
    assert texts == {
        "contestant": TYPED.name, "equal": PLAIN.name, "model": TYPED.model,
        "scoring": TYPED.scoring, "verdict": "worse",
        "normaliser": "", "edge": "", "problem": "",
    }  # fmt: skip


def test_latex_is_a_whole_table_with_all_marks_escaped(rows, heading):
    text = as_latex(rows, heading)
    for part in ("toprule", "midrule", "bottomrule", "caption", r"end{table*}"):
        assert text.count(f"\\{part}") == 1
    assert r"=-\textbar{}q\_1-k\textbar{}\textasciicircum{}2/$\surd$d \# 50\% \& more" in text
    bare = re.sub(r"\\.", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("#_^~|<>") & set(re.sub(r"\$[^$]*\$", "", bare))
    head, *lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {re.sub(r"\\&", "", line).count("&") for line in lines} == {head.count("&")}
    assert len(lines) == 4
    widths = re.search(r"tabular}{([lr]+)}", text)
    assert widths
    assert widths[1] == "rlrrrlrrrrrr"
    assert "rotary needs an even width, got 7 \\textbar{} so nothing ran." in text
    assert len(widths[1]) == head.count("&") + 1


def test_latex_writes_numbers_as_formulas(rows, heading):
    text = as_latex(rows, heading)
    assert r"$12{,}345$" in text
    assert r"$1\cdot 10^{-5}$" in text
    assert re.search(r"\$-0\.15\d*\\;\[-0\.1\d+,\\,-0\.1\d+\]\$", text)


def test_markdown_has_as_many_cells_in_every_line(rows, heading):
    table = as_markdown(rows, heading).split("\n\n", 1)[0].splitlines()
    counts = {len(re.split(r"(?<!\\)\|", line)) for line in table}
    assert len(table) == 6
    assert counts == {14}  # 12 columns
    assert "| =-\\|q\\_1-k\\|^2/√d \\# 50% \\& more |" in table[3]
    assert table[2].startswith("| 1 | scaled\\_dot | 0.90")


def test_markdown_says_below_what_did_not_run(rows, heading):
    text = as_markdown(rows, heading)
    assert "rotary + sparsemax in transformer: rotary needs an even width, got 7 \\| so" in text
    assert "could not run" in text
    assert "| could not run | – | – | – | – | – | 0 |" in text.replace("| 0.01 |", "| – |")


@pytest.mark.parametrize("write", [as_latex, as_markdown])
@pytest.mark.parametrize(("best", "share"), [(0.5, "16.7"), (0.46, "10.0"), (0.3, "-16.7")])
def test_every_table_names_the_budget_and_the_limits(write, best, share, rows, heading):
    text = write(rows, replace(heading, limits=limits(best, heading.floors[0].value)))
    text = text.replace("\\", "")
    assert "After 192 steps on 1,000 examples, at the best of 2 learning rates; each" in text
    assert "Floor 0.4 (uniform attention), ceiling 1 (the right answers)" in text
    assert f"covers {share}% of the way" in text
    assert ("this task decides nothing" in text) is (best < 0.5)


@pytest.mark.parametrize(("mean", "half", "said"), [
    (0.953, 0.006, "0.9530 [0.9470, 0.9590]"), (0.953, 0.012, "0.953 [0.941, 0.965]"),
    (0.5, 2e-6, "0.5000000 [0.4999980, 0.5000020]"), (0.5, 0.0, "0.500 [0.500, 0.500]"),
    (5e-9, 2e-9, "5.00e-09 [3.00e-09, 7.00e-09]"), (math.nan, 1.0, "–"), (250.0, 70.0, "250 [180"),
])  # fmt: skip
def test_a_mean_has_two_digits_of_its_intervals_half(mean, half, said):
    assert estimate_text(Estimate(mean, mean - half, mean + half, 12)).startswith(said)


def test_numbers_of_a_hundred_and_more_are_whole():
    values = (0.0123, 99.4, 100.0, 12345.6, None, math.inf)
    assert [number_text(value) for value in values] == ["0.012", "99", "100", "12346", "–", "–"]


@pytest.mark.parametrize(("rates", "widen", "said"), [
    ((0.1,), 0, "at the best of 1 learning rate;"), ((0.1, 0.2, 0.3), 0, "of 3 learning rates;"),
    ((0.1, 0.2), 0, "2 learning rates; each choice is an edge of that grid, unless both"),
    ((0.1, 0.2), 2, "of 2 learning rates; where that was at their edge, of up to 2 more beyond"),
])  # fmt: skip
def test_a_table_says_between_which_rates_was_chosen(rates, widen, said, rows, heading):
    budget = replace(heading.budget, rates=rates, widen=widen)
    text = caption(rows, replace(heading, budget=budget)) + ";"
    assert said in text.replace("rate. ", "rate; ").replace("rates. ", "rates; ")


@pytest.mark.parametrize("write", [as_latex, as_markdown])
def test_every_table_tells_a_verdict_and_the_baseline(write, rows, heading):
    text = write(rows, heading)
    for said in ("worse", "reference", "copying the nearest learned example", "exact match ("):
        assert said in text


def test_too_few_seeds_say_how_many_would_do(heading):
    few = [*outcomes(PLAIN, [0.5, 0.6]), *outcomes(TYPED, [0.7, 0.8])]
    rows = standings(few, "copy", reference=PLAIN, higher_is_better=True)
    assert "too few seeds: 6 would do" in as_markdown(rows, heading)


def test_the_model_is_a_column_where_there_are_several(heading):
    other = contestant("scaled_dot", model="rnn")
    both = [*outcomes(PLAIN, [0.5, 0.6]), *outcomes(other, [0.7, 0.8])]
    rows = standings(both, "copy", reference=PLAIN, higher_is_better=True)
    assert "| model |" in as_markdown(rows, heading)
    assert "| model |" not in as_markdown(rows[:1], heading)
    assert " & rnn & " in as_latex(rows, heading)


def test_a_difference_shows_its_sign(heading):
    ahead = [*outcomes(PLAIN, [0.5] * 6), *outcomes(TYPED, [0.6, 0.7, 0.8, 0.9, 1, 1.1])]
    rows = standings(ahead, "copy", reference=PLAIN, higher_is_better=True)
    assert "| +0.3" in as_markdown(rows, heading)


def test_without_a_baseline_there_is_no_row_of_it(rows):
    plain = Heading(task="Copy", metric="exact match")
    assert all("nearest learned" not in write(rows, plain) for write in (as_latex, as_markdown))
