"""The differences task with two small models: its numbers against independent ones."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from attention_plugins import checkpoints, experiment, registry
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.recipe import Recipe
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Site
from dashboard.features.differences.task import compare
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result

PAIRS = [
    SentencePair(f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]
HEADS, LAYERS = 3, 2
TEXTS = {"text": "I see my dog.", "target": "je vois un chat !", "kind": "cross"}
WORDS = 6  # of the sentence and of the target, with <eos>


class Watch:
    def __init__(self, stop=False):
        self.stop, self.fractions = stop, []

    def report(self, fraction, note="", facts=None):
        self.fractions.append(fraction)
        if self.stop:
            raise Cancelled

    def stopped(self):
        return self.stop


@pytest.fixture(scope="module", autouse=True)
def _checkpoints(tmp_path_factory):
    """A registry with the untrained checkpoints ``large``, ``large_too`` and ``small``."""
    root = tmp_path_factory.mktemp("kept")
    found = registry.load(allow=[])
    sizes = {"hidden": 12, "heads": HEADS, "layers": LAYERS, "ffn": 11}
    for name, model, scoring, parameters, seed in (
        ("large", "transformer", "scaled_dot", sizes, 3),
        ("large_too", "transformer", "scaled_dot", sizes, 5),
        ("small", "bahdanau", "additive", {"embed": 14, "hidden": 22, "layers": 1}, 3),
    ):
        plan = experiment.Experiment(
            model=model, scoring=scoring, corpus="animals", model_parameters=parameters,
            recipe=Recipe(min_frequency=1, epochs=1, max_tokens=13, seed=seed),
        )  # fmt: skip
        ready = experiment.prepare(plan, PAIRS, found)
        checkpoints.write(root / name, ready.model, ready.card)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_CHECKPOINTS", str(root))
        found = registry.load(allow=[])
        patch.setattr(task_translator, "installed", lambda: found)
        task_translator.translator_of.cache_clear()
        yield
    task_translator.translator_of.cache_clear()


def _perform(data="large", watch=None, **options):
    given = {"other": "small", "map": "2.1", "other_map": "1.1", **TEXTS, **options}
    request = Request.make("differences", data=data, device="cpu", options=given)
    return perform(request, watch or Watch())


def _weights(name, kind):
    """The maps of a checkpoint as its own translation gives them, by layer."""
    request = Request.make("translation", data=name, device="cpu",
                           options={n: TEXTS[n] for n in ("text", "target")})  # fmt: skip
    rows = perform(request, Watch()).tables["maps"].to_pylist()
    return [
        np.array(row["weights"]).reshape(row["heads"], WORDS, WORDS)
        for row in rows
        if row["kind"] == kind
    ]


def test_two_maps_are_compared_row_by_row_and_cell_by_cell():
    watch = Watch()
    result = Result.from_bytes(_perform(watch=watch).to_bytes())
    one, other = _weights("large", "cross")[1][0], _weights("small", "cross")[0][0]
    bits = [jensenshannon(*rows, base=2) ** 2 for rows in zip(one, other, strict=True)]
    divergence = result.tables["divergence"].to_pydict()
    assert divergence["jensen_shannon_bits"] == pytest.approx(bits, abs=1e-6)
    assert divergence["query_label"] == ["je", "vois", "un", "chat", "!", "<eos>"]
    facts = result.facts
    assert facts["mean_divergence"] == pytest.approx(np.mean(bits), abs=1e-6)
    assert facts["most_different"] == int(np.argmax(bits))
    assert facts["correlation"] == pytest.approx(np.corrcoef(one.ravel(), other.ravel())[0, 1])
    cells = result.tables["differences"].to_pydict()
    assert cells["difference"] == pytest.approx((one - other).ravel())
    assert cells["weight_one"] == pytest.approx(one.ravel())
    assert cells["key_label"][:WORDS] == ["i", "see", "my", "dog", ".", "<eos>"]
    assert (facts["one"]["scoring"], facts["other"]["scoring"]) == ("scaled_dot", "additive")
    assert watch.fractions == sorted(watch.fractions)


def test_every_head_has_its_match_by_correlation():
    result = _perform(other="large_too", other_map="1.mean", map="2.mean")
    one, other = (_weights(name, "cross") for name in ("large", "large_too"))
    names = [f"{layer}.{head}" for layer in (1, 2) for head in (1, 2, 3)]
    heads, others = (np.concatenate(maps).reshape(HEADS * LAYERS, -1) for maps in (one, other))
    r = np.corrcoef(heads, others)[: len(heads), len(heads) :]
    matches = result.tables["matches"].to_pydict()
    assert matches["map"] == names
    assert matches["match"] == [names[column] for column in r.argmax(axis=1)]
    assert matches["r"] == pytest.approx(r.max(axis=1))
    means = one[1].mean(axis=0), other[0].mean(axis=0)
    cells = result.tables["differences"].to_pydict()
    assert cells["difference"] == pytest.approx((means[0] - means[1]).ravel(), abs=1e-6)


def test_what_a_decoder_cannot_see_is_no_difference():
    result = _perform(other="large_too", kind="decoder", map="1.2", other_map="1.2")
    seen = np.tri(WORDS, dtype=bool)
    cells = result.tables["differences"].to_pydict()
    for name in ("weight_one", "weight_other", "difference"):
        assert [value is not None for value in cells[name]] == seen.ravel().tolist()
    one, other = (_weights(name, "decoder")[0][1][seen] for name in ("large", "large_too"))
    assert result.facts["correlation"] == pytest.approx(np.corrcoef(one, other)[0, 1])


def test_a_model_differs_from_itself_in_nothing():
    result = _perform(other="large", other_map="2.1")
    assert set(result.tables["divergence"]["jensen_shannon_bits"].to_pylist()) == {0.0}
    assert result.facts["correlation"] == pytest.approx(1)
    matches = result.tables["matches"].to_pydict()
    assert matches["match"] == matches["map"]


def _map(weights, layer=0, queries="xyz"):
    weights = torch.tensor(weights)
    return AttentionMap(
        site=Site("cross", layer), weights=weights, query_labels=tuple(queries),
        key_labels=("k", "l"), normalised=False,
    )  # fmt: skip


def test_a_row_without_weight_has_no_divergence_and_a_flat_head_no_match():
    silent = [[[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]]
    flat = [[[0.5, 0.5]] * 3]
    result = compare([_map(silent)], [_map(flat)], "1.1", "1.1")
    bits = result.tables["divergence"]["jensen_shannon_bits"].to_pylist()
    assert bits[0] is None
    assert bits[1] == pytest.approx(0.311278, abs=1e-6)
    assert bits[2] == 0
    assert result.facts["most_different"] == 1
    assert result.facts["mean_divergence"] == pytest.approx(0.155639, abs=1e-6)
    assert result.facts["correlation"] is None
    assert result.tables["matches"].to_pylist() == [{"map": "1.1", "match": None, "r": None}]
    assert result.tables["differences"]["difference"].to_pylist()[:2] == [None, None]
    nothing = compare([_map([[[0.0, 0.0]] * 3])], [_map(flat)], "1.1", "1.1")
    assert nothing.facts["most_different"] is None
    assert nothing.facts["mean_divergence"] is None


def test_maps_of_other_words_are_not_compared():
    weights = [[[0.5, 0.5]] * 3]
    with pytest.raises(ContractError, match="split the text in different ways"):
        compare([_map(weights)], [_map(weights, queries="xyw")], "1.1", "1.1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": " "}, "need the words that both models write, got none"),
        ({"text": ""}, "need at least one word in the sentence, got none"),
        ({"kind": "pooling"}, "need kind to be cross, encoder, decoder, got 'pooling'"),
        ({"kind": "encoder"}, "bahdanau has no encoder attention to compare"),
        ({"map": "3.1"}, r"no map '3.1'; offered: 1.1, 1.2, 1.3, 2.1"),
        ({"other_map": "1.mean"}, r"no map '1.mean'; offered: 1.1, and"),
        ({"other": ""}, "need another checkpoint to compare with, got none"),
        ({"other": "nobody"}, 'no checkpoint "nobody"'),
        ({"other": 3}, "need other to be text, got 3"),
        ({"beam": 3}, "no option 'beam'; offered: other, text, target, kind, map, other_map"),
    ],
)
def test_what_cannot_be_compared_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        _perform(**options)


def test_a_request_without_a_checkpoint_and_a_cancelled_one_stop():
    with pytest.raises(ValueError, match="need a checkpoint to translate with, got none"):
        _perform(data="")
    with pytest.raises(Cancelled):
        _perform(watch=Watch(stop=True))
