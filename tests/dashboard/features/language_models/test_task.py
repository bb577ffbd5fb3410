"""The task of language models, with the decoder that is shipped."""

import math

import numpy as np
import pytest
from support.documents import DOCUMENTS

from attention_plugins.contract import ContractError
from attention_plugins.home import SHIPPED
from attention_plugins.language import MOST_READ
from attention_plugins.opening import read_checkpoint
from attention_plugins.registry import installed
from dashboard.charts.frames import maps
from dashboard.features.language_models import task
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result

NAME = next(
    name for name in (one.name for one in installed().records["checkpoints"].values())
    if read_checkpoint(installed().checkpoint(name).path).kind == "decoder"
)  # fmt: skip


class Watch:
    """A context that keeps what it is told."""

    def __init__(self):
        self.notes = []

    def report(self, fraction, note="", facts=None):
        self.notes.append(note)

    def stopped(self):
        return False


def performed(data=NAME, **options):
    request = Request.make("language_models", data=data, device="cpu", options=options)
    return Result.from_bytes(perform(request, Watch()).to_bytes())


@pytest.fixture(scope="module")
def read():
    return performed(text="my brother is", words=5)


def test_a_panel_gets_the_text_its_losses_candidates_and_maps(read):
    facts, tokens = read.facts, read.tables["tokens"].to_pydict()
    assert tokens["token"][:4] == ["<bos>", "my", "brother", "is"]
    assert tokens["written"] == [False] * 4 + [True] * facts["written"]
    assert 0 < facts["written"] <= 5
    assert tokens["loss"][0] is None
    losses = tokens["loss"][1:]
    assert min(losses) >= 0
    assert facts["loss"] == pytest.approx(sum(losses) / len(losses))
    assert (facts["kind"], facts["mask"], facts["map"], facts["block"]) == ("decoder", "", "", 1)
    candidates = read.tables["next"].to_pydict()
    assert candidates["place"] == [4] * 10
    assert candidates["token"][0] == tokens["token"][4]
    assert candidates["log_probability"][0] == pytest.approx(-tokens["loss"][4], abs=1e-5)
    told = [math.exp(one) for one in candidates["log_probability"]]
    assert candidates["probability"] == pytest.approx(told)
    for frame in maps(read.tables["maps"]):
        assert frame.kind == "decoder"
        assert list(frame.query_labels) == tokens["token"][: facts["length"]]
        np.testing.assert_allclose(np.nansum(frame.weights, axis=-1), 1, atol=1e-5)


def test_a_map_that_is_asked_for_comes_alone(read):
    first = maps(read.tables["maps"])[1]
    for name, expected in (("2.3", first.weights[2]), ("2.mean", first.weights.mean(axis=0))):
        found = performed(text="my brother is", words=5, map=name)
        (frame,) = maps(found.tables["maps"])
        assert (frame.layer, found.facts["map"]) == (1, name)
        np.testing.assert_allclose(frame.weights, expected[None], atol=1e-6)


def test_a_long_text_has_blocks_and_its_one_map_is_whole(monkeypatch):
    monkeypatch.setattr(task, "_MOST_OF_ALL", 4)
    text = "i don't know if he's at home"
    every, one = performed(text=text, words=0), performed(text=text, words=0, map="1.2")
    (whole,) = maps(one.tables["maps"])
    assert (every.facts["block"], one.facts["block"]) == (3, 1)
    assert every.facts["length"] == one.facts["length"] == 10
    assert [frame.weights.shape[1:] for frame in maps(every.tables["maps"])] == [(4, 4)] * 2
    assert whole.weights.shape == (1, 10, 10)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": ""}, "need at least one word in the prompt, got none"),
        ({"text": "no " * 9_000}, "shorten it"),
        ({"text": "i", "map": "9.1"}, "need a map that this model has, such as 1.1, got '9.1'"),
        ({"text": "i", "map": "1.99"}, "need a map that this model has"),
        ({"text": "i", "map": "²"}, "need a map that this model has"),
        ({"text": "i", "words": 65}, "words"),
        ({"text": "i", "beam": 2}, "beam"),
        ({"text": "i", "data": "bahdanau_additive_tatoeba"}, "need a language model: decoder"),
        ({"text": "i", "data": ""}, "need a checkpoint"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(given, told):
    with pytest.raises(ContractError, match=told) as refused:
        performed(**{"data": NAME, **given})
    assert "\n" not in str(refused.value)


def test_the_documents_say_how_long_a_text_may_be():
    (told,) = [line for line in DOCUMENTS["using.md"].splitlines()
               if line.startswith("| *Language models* |")]  # fmt: skip
    assert f"Of more than {task._MOST_OF_ALL} tokens the maps are in blocks" in told
    assert f"whole, up to {MOST_READ:,} |" in told
    assert MOST_READ == task._MOST_OF_ONE


def test_the_decoder_that_is_read_is_shipped():
    assert read_checkpoint(installed().checkpoint(NAME).path).folder.parent == SHIPPED
