"""The translation task: what a panel gets, and what it is told when its request is wrong."""

import json
import math

import pytest

from attention_plugins import experiment, registry
from attention_plugins.contract import SentencePair
from attention_plugins.recipe import Recipe
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result

PAIRS = [
    SentencePair(f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]


class Watch:
    """A context that keeps what it is told and stops when it is asked to."""

    def __init__(self, stop=False):
        self.stop, self.fractions = stop, []

    def report(self, fraction, note="", facts=None):
        self.fractions.append(fraction)
        if self.stop:
            raise Cancelled

    def stopped(self):
        return self.stop


@pytest.fixture(scope="module", autouse=True)
def _checkpoint(tmp_path_factory):
    """A registry with one small checkpoint, ``animals``, beside the shipped ones."""
    root = tmp_path_factory.mktemp("kept")
    plan = experiment.Experiment(
        model="bahdanau", scoring="additive", corpus="animals",
        model_parameters={"embed": 14, "hidden": 22, "layers": 1, "dropout": 0.0},
        recipe=Recipe(min_frequency=1, epochs=60, batch_size=9, learning_rate=0.03),
    )  # fmt: skip
    trained = experiment.run(plan, PAIRS, registry.load(allow=[]))
    experiment.keep(trained, root / "animals")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_CHECKPOINTS", str(root))
        found = registry.load(allow=[])
        patch.setattr(task_translator, "installed", lambda: found)
        task_translator.translator_of.cache_clear()
        yield
    task_translator.translator_of.cache_clear()


def _perform(**options):
    request = Request.make("translation", data="animals", device="cpu", options=options)
    return perform(request, Watch())


def test_a_panel_gets_words_scores_maps_and_where_they_came_from():
    result = Result.from_bytes(_perform(text="I see my dog.").to_bytes())
    facts = result.facts
    assert facts["translation"] == "je vois mon chien !"
    assert facts["tokens"] == ["je", "vois", "mon", "chien", "!", "<eos>"]
    assert facts["source_tokens"] == ["i", "see", "my", "dog", ".", "<eos>"]
    assert facts["unknown"] == facts["target_unknown"] == []
    assert facts["forced"] is False
    assert (facts["model"], facts["scoring"], facts["corpus"]) == (
        "bahdanau", "additive", "animals",
    )  # fmt: skip
    assert facts["card"]["source_words"] > 4
    assert "source_vocabulary" not in facts["card"]
    assert facts["plugin"]["distribution"] == "attention-workbench"
    (row,) = result.tables["maps"].to_pylist()
    assert (row["kind"], row["layer"], row["heads"]) == ("cross", 0, 1)
    assert row["queries"] == facts["tokens"]
    assert row["keys"] == facts["source_tokens"]
    assert len(row["weights"]) == 36
    assert sum(row["weights"]) == pytest.approx(6, abs=1e-5)
    tokens = result.tables["tokens"].to_pydict()
    assert tokens["token"] == facts["tokens"]
    assert sum(tokens["log_probability"]) == pytest.approx(facts["log_probability"])
    likely = [math.exp(one) for one in tokens["log_probability"]]
    assert tokens["probability"] == pytest.approx(likely)


def test_the_facts_fit_in_json_and_every_request_reports_progress():
    watch = Watch()
    request = Request.make("translation", data="animals", options={"text": "I see a cat."})
    json.dumps(perform(request, watch).facts)
    assert watch.fractions == sorted(watch.fractions)
    assert len(watch.fractions) >= 2


def test_a_forced_target_is_what_is_drawn():
    result = _perform(text="I see my dog.", target="le chat vert !")
    assert result.facts["forced"] is True
    assert result.facts["tokens"] == ["le", "chat", "vert", "!", "<eos>"]
    assert result.facts["target_unknown"] == ["vert"]
    assert result.tables["maps"].to_pylist()[0]["queries"] == result.facts["tokens"]


def test_a_beam_is_at_least_as_likely_as_greedy():
    greedy, wide = (_perform(text="I see zebra.", beam=width).facts for width in (1, 5))
    assert greedy["unknown"] == wide["unknown"] == ["zebra"]
    assert greedy["beam"] == 1
    assert wide["beam"] == 5
    assert wide["log_probability"] >= greedy["log_probability"] - 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": ""}, "need at least one word in the sentence, got none"),
        ({"text": "a " * 50}, "the sentence has 50 tokens; this model reads at most 9"),
        ({"text": "a", "beam": 99}, "need 1 <= beam <= 16, got 99"),
        ({"text": "a", "beam": "wide"}, "need beam to be a number, got 'wide'"),
        ({"text": 5}, "need text to be text, got 5"),
        ({"text": "a", "volume": 11}, "no parameter 'volume'; offered: beam"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        _perform(**options)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data": "nowhere"}, 'no checkpoint "nowhere"'),
        ({"data": ""}, "need a checkpoint to translate with, got none"),
        ({"data": "animals", "device": "cuda:77"}, "no device 'cuda:77' here"),
    ],
)
def test_a_wrong_checkpoint_or_device_is_named(fields, message):
    with pytest.raises(ValueError, match=message):
        perform(Request.make("translation", options={"text": "a"}, **fields), Watch())


def test_a_cancelled_request_stops():
    request = Request.make("translation", data="animals", options={"text": "I see a cat."})
    with pytest.raises(Cancelled):
        perform(request, Watch(stop=True))
