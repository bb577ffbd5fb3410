"""Every sentence on shipped prices is what their outcomes say, worked out here once more."""

from itertools import pairwise
from statistics import fmean

import pytest

from attention_plugins.price import store
from attention_plugins.price.records import Swap
from dashboard.features.swaps import page, task, view
from dashboard.records.beside import beside
from dashboard.records.request import Request

NAMES = sorted(store.shipped())


class Context:
    def report(self, fraction, note="", facts=None):
        """Nobody looks."""


def of(name):
    result = task.perform(Request.make("swaps", data=f"shipped:{name}"), Context())
    return result.tables["prices"].to_pylist(), result.facts


def costs(name, place):
    """By swap, the mean difference from the original; the latter's mean loss."""
    prices = store.read(store.shipped()[name])
    losses = {(one.swap, one.seed): (one.before, *one.after)[place] for one in prices.outcomes
              if not one.problem}  # fmt: skip
    swaps = dict.fromkeys(swap for swap, _ in losses if swap.scoring)
    found = {
        swap: fmean(
            losses[swap, seed] - losses[Swap(), seed] for one, seed in losses if one == swap
        )
        for swap in swaps
    }
    return found, fmean(loss for (swap, _), loss in losses.items() if not swap.scoring)


def title(row):
    return row["swap"] or "the original"


def test_ten_swaps_of_three_models_are_shipped_with_five_seeds_or_more():
    assert NAMES == ["aren-transliteration", "gpt-nano-sort", "stories260K"]
    for name in NAMES:
        prices = store.read(store.shipped()[name])
        swaps = {one.swap for one in prices.outcomes}
        assert len(swaps - {Swap()}) == 10
        assert Swap() in swaps
        assert prices.budget.seeds >= 5
        assert len(prices.budget.rates) == 2
        assert {(one.swap, one.seed) for one in prices.outcomes} == {
            (swap, seed) for swap in swaps for seed in range(prices.budget.seeds)
        }
        assert not any(one.problem for one in prices.outcomes)
        assert prices.facts["source"] in beside(view.__file__, "words.toml")["sources"].values()
        assert {"commit", "torch", "transformers", "python", "machine", "command"} <= {
            *prices.facts
        }
        assert not any("/" in word and word.startswith("/") for word in
                       prices.facts["command"].split())  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_sentences_are_what_the_outcomes_say(name):
    rows, facts = of(name)
    untuned, *tuned, chance = page.sentences(rows, facts, title)
    found, own = costs(name, 0)
    first = own
    named = {swap: swap.key for swap in found}
    least, most = (end(found, key=found.__getitem__) for end in (min, max))
    plain = page.plain
    low, high = (round(found[one], 2) + 0.0 for one in (least, most))
    assert untuned == (
        f"Untuned: the original has {own:.2f} nats a token. {plain(named[least])} costs least "
        f"({low:+.2f}), {plain(named[most])} most ({high:+.2f})."
    )
    for place, (rate, said) in enumerate(zip(facts["budget"]["rates"], tuned, strict=True), 1):
        found, own = costs(name, place)
        cheap = sorted((one for one in found if found[one] < 0.05), key=found.__getitem__)
        most = max(found, key=found.__getitem__)
        change = round(own - first, 2) + 0.0
        told = f"the original has {own:.2f}, a change of {change:+.2f}."
        assert f"at the rate {rate:g} {told}" in said
        assert f"({len(cheap)} of {len(found)})" in said
        costs_most = f"{plain(named[most])}, costs {round(found[most], 2) + 0.0:+.2f}."
        assert f"the most costly, {costs_most}" in said
        places = [said.index(plain(named[one])) for one in cheap]
        assert all(a <= b for a, b in pairwise(places))
    verdicts = [row["verdict"] for row in rows if row["cost"] is not None]
    if "too few seeds" in verdicts:
        assert 10 * 2 / 2 ** facts["budget"]["seeds"] > 0.05
        assert chance.startswith(f"{facts['budget']['seeds']} seeds are too few")
    else:
        beyond = sum(one in ("better", "worse") for one in verdicts)
        assert chance.startswith(f"{beyond} of {len(verdicts)} differences are beyond chance")


def row(swap, rate, loss, cost=None, verdict=None, needed=None):
    return {"swap": swap, "rate": rate, "loss": loss, "cost": cost, "verdict": verdict,
            "needed": needed}  # fmt: skip


def test_one_swap_and_none_that_is_cheap_are_told_apart():
    rows = [row("", 0.0, 1.0), row("a", 0.0, 1.5, 0.5, "worse", 6), row("", 0.1, 0.9),
            row("a", 0.1, 1.0, 0.1, "no difference found", 6)]  # fmt: skip
    facts = {"budget": {"steps": 7, "rates": [0.1], "seeds": 6}}
    assert page.sentences(rows, facts, title) == [
        "Untuned: the original has 1.00 nats a token, and a costs +0.50.",
        "After 7 steps at the rate 0.1 the original has 0.90, a change of -0.10. Less than 0.05 "
        "nats above it: none (0 of 1); the most costly, a, costs +0.10.",
        "1 of 2 differences are beyond chance (paired permutation test over 6 seeds, Holm's "
        "correction at each rate, p at most 0.05).",
    ]
    assert page.sentences([], facts, title) == []


def cell(**more):
    return page._cell({"loss": 1.23456, "cost": None, "cost_low": None, "cost_high": None,
                       "verdict": None, **more})  # fmt: skip


def test_a_cell_has_the_loss_its_difference_and_a_star_beyond_chance():
    assert cell() == "1.235"
    assert cell(cost=-0.0004) == "1.235 (+0.000)"
    assert cell(cost=0.0519, cost_low=0.01) == "1.235 (+0.052)"
    ends = {"cost": 0.0519, "cost_low": -0.0104, "cost_high": 0.09}
    assert cell(**ends) == "1.235 (+0.052, -0.010 … +0.090)"
    for verdict, star in (("worse", " *"), ("better", " *"), ("no difference found", "")):
        assert cell(**ends, verdict=verdict) == f"1.235 (+0.052, -0.010 … +0.090){star}"


def test_a_swap_is_called_by_all_that_it_swaps_in(catalogue):
    usual = {"scoring": "additive", "normaliser": "", "positions": ""}
    titles = [page._title({**usual, **more}, catalogue) for more in (
        {}, {"scoring": ""}, {"scoring": "=dot(q, k)"}, {"normaliser": "entmax"},
        {"normaliser": "entmax", "positions": "remove"},
    )]  # fmt: skip
    assert titles == ["Additive", "the original", "=dot(q, k)", "Additive + Entmax",
                      "Additive + Entmax, positions removed"]  # fmt: skip


def test_cheap_swaps_are_named_in_the_order_of_their_cost():
    rows = [row("", 0.0, 1.0), row("a", 0.0, 1.04, 0.04), row("b", 0.0, 1.01, 0.01, "", 6),
            row("c", 0.0, 1.3, 0.3)]  # fmt: skip
    tuned = [{**one, "rate": 0.1} for one in rows]
    facts = {"budget": {"steps": 7, "rates": [0.1], "seeds": 6}}
    untuned, said, _ = page.sentences([*rows, *tuned], facts, title)
    assert "b costs least (+0.01), c most (+0.30)." in untuned
    assert "b, a (2 of 3); the most costly, c, costs +0.30." in said


def test_a_swap_below_the_original_is_cheap_and_better_is_beyond_chance_too():
    rows = [row("", 0.0, 1.0), row("a", 0.0, 0.7, -0.3, "better", 6),
            row("b", 0.0, 1.3, 0.3, "worse", 6)]  # fmt: skip
    tuned = [{**one, "rate": 0.1} for one in rows]
    facts = {"budget": {"steps": 7, "rates": [0.1], "seeds": 6}}
    untuned, said, chance = page.sentences([*rows, *tuned], facts, title)
    assert "a costs least (-0.30)" in untuned
    assert "a (1 of 2)" in said
    assert chance.startswith("4 of 4 differences are beyond chance")
    tuned[1]["verdict"] = "too few seeds"
    assert "too few" in page.sentences([*rows, *tuned], facts, title)[-1]


def test_a_map_of_other_keys_than_queries_is_no_causal_one():
    for name, kind in (("aren-transliteration", "cross"), ("stories260K", "decoder")):
        result = task.perform(Request.make("swaps", data=f"shipped:{name}"), Context())
        table = result.tables["maps"]
        assert {*table["kind"].to_pylist()} == {kind}
        assert {*table["causal"].to_pylist()} == {kind == "decoder"}
        assert min(table["layer"].to_pylist()) == 0


def test_what_measured_the_prices_is_told_as_far_as_it_is_known():
    facts = {"source": "poems", "commit": "abc", "torch": "2", "python": "3", "machine": "m"}
    assert page._made(facts) == (
        "The texts: poems. Measured with commit abc, torch 2, python 3, on m."
    )
    assert page._made({"torch": "2"}) == "The texts: –. Measured with torch 2, on ."
