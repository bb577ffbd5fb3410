"""The real task, on a tiny model that was adopted."""

import pytest
from support.tiny_families import save

from attention_plugins.contract import ContractError
from attention_plugins.price import store
from attention_plugins.registry import installed
from dashboard.charts.frames import maps
from dashboard.features.swaps import task
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result

NUMBERS = " ".join(str(n % 37 + 3) for n in range(120))


class Watch:
    def __init__(self, stop_after=None):
        self.shares, self.stop_after = [], stop_after

    def report(self, fraction, note="", facts=None):
        self.shares.append(fraction)
        if self.stop_after is not None and len(self.shares) > self.stop_after:
            raise Cancelled

    def stopped(self):
        return False


@pytest.fixture(autouse=True)
def _little_is_shown(monkeypatch):
    """What is written for a reader takes longer than all that is measured."""
    monkeypatch.setattr("attention_plugins.price.tuning._SHOWN_WRITTEN", 2)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTENTION_WORKBENCH_HOME", str(home))
        save("gpt2", home / "checkpoints" / "tiny")
        installed.cache_clear()
        yield "tiny"
    installed.cache_clear()


def asked(data="tiny", **options):
    given = {"scorings": "additive", "steps": 5, "seeds": 1, "text": NUMBERS, **options}
    return Request.make("swaps", data=data, device="cpu", options=given)


def test_a_text_of_ones_own_gives_prices_texts_and_maps(tiny):
    watch = Watch()
    result = Result.from_bytes(perform(asked(), watch).to_bytes())
    rows = result.tables["prices"].to_pylist()
    assert [(row["swap"], row["rate"]) for row in rows] == [
        (swap, rate) for swap in ("", "additive") for rate in (0.0, *task.RATES)
    ]
    for row in rows[3:]:
        own = next(one for one in rows[:3] if one["rate"] == row["rate"])
        assert row["cost"] == pytest.approx(row["loss"] - own["loss"], abs=1e-6)
        assert row["verdict"] == "too few seeds"
    facts = result.facts
    assert (facts["model"], facts["texts"], facts["problems"]) == (
        tiny,
        "texts that were given",
        {},
    )
    assert facts["budget"]["held_out"] == 3
    whens = {(row["swap"], row["when"]) for row in result.tables["texts"].to_pylist()}
    assert whens == {(s, w) for s in ("", "additive") for w in ("untuned", "tuned")}
    frames = maps(result.tables["maps"].drop_columns(["swap", "when"]))
    assert len(frames) == 4 * 3
    assert watch.shares == sorted(watch.shares)
    assert watch.shares[-1] == pytest.approx(1.0)


def test_a_cancelled_job_ends_at_its_next_step(tiny):
    with pytest.raises(Cancelled):
        perform(asked(), Watch(stop_after=4))


@pytest.mark.parametrize(("options", "said"), [
    ({"scorings": ""}, "need 1 to 4 scorings, got 0"),
    ({"scorings": "a\nb\nc\nd\ne"}, "need 1 to 4 scorings, got 5"),
    ({"scorings": "nobody"}, 'no scoring "nobody"'),
    ({"scorings": "=q +"}, "formula"),
    ({"normaliser": "nobody"}, 'no normaliser "nobody"'),
    ({"text": "4 5 6"}, "need a text of at least 96 tokens, got 3"),
    ({"text": "hello \x00"}, "this model came without a tokenizer"),
    ({"text": 3}, "need text to be text, got 3"),
    ({"steps": 10**9}, "steps"), ({"more": 1}, "more"),
])  # fmt: skip
def test_bad_input_is_one_sentence(tiny, options, said):
    with pytest.raises(ContractError, match=said) as refused:
        perform(asked(**options), Watch())
    assert "\n" not in str(refused.value)


def test_models_and_results_that_are_not_there_are_refused_by_name(tiny):
    with pytest.raises(ContractError, match=r"no shipped prices of '\.\./x'"):
        perform(Request.make("swaps", data="shipped:../x"), Watch())
    with pytest.raises(ContractError, match='no checkpoint "nobody"'):
        perform(asked("nobody"), Watch())
    own = next(one.name for one in installed().records["checkpoints"].values() if one.name != tiny)
    with pytest.raises(ContractError, match="is the workbench's own; a swap is priced in"):
        perform(asked(own), Watch())


def test_a_scoring_that_cannot_be_right_costs_its_row(tiny):
    facts = perform(asked(scorings="coverage\ncosine"), Watch()).facts
    assert facts["problems"].keys() == {"coverage"}


def test_shipped_results_are_read_whole():
    name = next(iter(store.shipped()))
    result = perform(Request.make("swaps", data=f"shipped:{name}"), Watch())
    prices = store.read(store.shipped()[name])
    assert len(result.tables["prices"]) == 33
    assert result.facts["facts"] == prices.facts
