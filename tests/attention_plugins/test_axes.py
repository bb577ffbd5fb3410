"""Models whose maps are not what their sites' kinds say: a null key, points between points."""

import pytest
import torch
from torch import nn

from attention_plugins import (
    Axes,
    ContractError,
    ModelSpec,
    RegressionData,
    SentencePair,
    Sizes,
    Tap,
    experiment,
    registry,
)
from attention_plugins.attention import as_mask
from attention_plugins.checking import check_model
from attention_plugins.decoding import force
from attention_plugins.models.losses import valid_positions
from attention_plugins.recipe import Recipe
from attention_plugins.record import axes_of, kept, labels, start_of
from attention_plugins.regression import predict
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.tap import Intervention, Recorder, Site
from attention_plugins.text import BOS_ID
from attention_plugins.translator import Translator

CROSS = Site("cross", 0)


class NullKey(nn.Module):
    """Each word looks at the source, or at a learned vector that is always there."""

    def __init__(self, scoring, sizes):
        super().__init__()
        self.scoring = scoring
        self.read = nn.Embedding(sizes.source, 6)
        self.written = nn.Embedding(sizes.target, 6)
        self.null = nn.Parameter(torch.randn(6))
        self.out = nn.Linear(6, sizes.target)

    def axes(self, site):
        return Axes(("target",), ("null", "source"))

    def start(self, source, source_lengths, tap):
        null = self.null.expand(len(source), 1, -1)
        keys = torch.cat([null, self.read(source)], dim=1)
        return {"keys": keys, "lengths": source_lengths + 1}

    def _look(self, state, tokens, tap):
        queries = self.written(tokens)
        pooled = tap.attend(
            CROSS, self.scoring, queries, state["keys"], state["keys"],
            as_mask(state["lengths"], torch.Size((*tokens.shape, state["keys"].shape[1]))),
        )  # fmt: skip
        return pooled + queries

    def step(self, state, tokens, tap):
        return self.out(self._look(state, tokens[:, None], tap))[:, 0].log_softmax(-1), state

    def loss(self, batch, label_smoothing=0.0):
        state = self.start(batch.source, batch.source_lengths, None)
        begin = torch.full_like(batch.target[:, :1], BOS_ID)
        hidden = self._look(state, torch.cat([begin, batch.target[:, :-1]], 1), Tap())
        counts = valid_positions(batch.target_lengths, batch.target.shape[1])
        return nn.functional.cross_entropy(self.out(hidden)[counts], batch.target[counts])


class Inducing(nn.Module):
    """Three points of its own look at the training points, and the queries at them."""

    def __init__(self, scoring, sizes):
        super().__init__()
        self.scoring = scoring
        self.places = nn.Parameter(torch.randn(3, sizes.source))

    def axes(self, site):
        mine = ("left", "middle", "right")
        return (Axes(mine, ("points",)), Axes(("queries",), mine))[site.layer]

    def forward(self, queries, keys, values, mask, tap):
        summary = tap.attend(Site("pooling", 0), self.scoring, self.places, keys, values[:, None])
        found = tap.attend(Site("pooling", 1), self.scoring, queries, self.places, summary)
        return found.squeeze(-1)


def spec(module, task, name="mine"):
    def build(factory, sizes, parameters):
        size = sizes.source if task == "regression" else 6
        return module(factory(Sizes(size, size, 6)), sizes)

    return ModelSpec(name=name, title="Mine", task=task, build=build, reference="These tests")


def made(module, sizes):
    torch.manual_seed(4)
    return module(scaled_dot_product.create(Sizes(6, 6, 6)), sizes)


def test_a_side_is_labelled_part_by_part():
    assert labels(("null", "source"), {"source": ("a", "b")}) == ("null", "a", "b")
    assert labels(("source", "target"), {"source": ("a",), "target": ()}) == ("a",)


def test_padding_is_left_out_inside_a_side():
    assert kept(("null", "source", "target"), {"source": (2, 4), "target": (1, 3)}) == [0, 1, 2, 5]


def test_the_start_of_a_part_counts_what_is_before_it():
    parts = ("null", "target", "source")
    assert start_of("source", parts, {"target": 4, "source": 9}) == 5
    assert start_of("null", parts, {}) == 0
    assert start_of("points", parts, {}) is None


@pytest.mark.parametrize("wrong", [None, ("target", "source"), Axes(("target",), "source"),
                                   Axes((), ("source",)), Axes(("target",), (3,))])  # fmt: skip
def test_axes_that_are_none_are_refused(wrong):
    model = nn.Module()
    model.axes = lambda site: wrong
    with pytest.raises(ContractError, match=r"axes\(cross 0\) of Module gave .*need Axes\("):
        axes_of(model, CROSS)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("cross", (("target",), ("source",))), ("encoder", (("source",), ("source",))),
     ("decoder", (("target",), ("target",))), ("pooling", (("queries",), ("points",)))],
)  # fmt: skip
def test_a_model_that_says_nothing_has_the_axes_of_its_kinds(kind, expected):
    assert axes_of(nn.Module(), Site(kind, 1)) == expected


def test_a_null_key_keeps_the_rules_and_is_labelled():
    findings = check_model(spec(NullKey, "translation"))
    assert [finding for finding in findings if not finding.passed] == []


@pytest.fixture
def translator():
    known = registry.load(allow=[])
    mine = registry.Plugin(
        name="mine", distribution="mine", version="1", module="mine", offers={"models": ("mine",)}
    )
    models = {**known.records["models"], "mine": spec(NullKey, "translation")}
    records = registry.Registry(
        records={**known.records, "models": models}, plugins=(*known.plugins, mine)
    )
    pairs = [SentencePair("a b c", "x y"), SentencePair("c a", "y z z"), SentencePair("b", "x")]
    plan = experiment.Experiment(
        model="mine", scoring="scaled_dot", corpus="letters", model_parameters={},
        recipe=Recipe(min_frequency=1, epochs=1, batch_size=3),
    )  # fmt: skip
    return records, experiment.run(plan, pairs, records)


def test_the_null_key_stands_before_the_words(translator, tmp_path):
    records, trained = translator
    reader = Translator(experiment.keep(trained, tmp_path), records)
    (found,) = reader.explain("a b c", target="x y").maps
    assert found.key_labels == ("null", "a", "b", "c", "<eos>")
    assert found.query_labels == ("x", "y", "<eos>")
    assert reader.source_keys(CROSS, 3, 5) == range(1, 4)


def test_maps_of_a_batch_lose_their_padding_at_the_right_place(translator, tmp_path):
    """Each pair's weights in a batch are those that the pair has alone."""
    records, trained = translator
    reader = Translator(experiment.keep(trained, tmp_path), records)
    pairs = [("a b c", "x y"), ("b", "x x y"), ("c a", "z")]
    for (source, target), sites in zip(pairs, reader.look(pairs), strict=True):
        alone = reader.explain(source, target=target).maps[0].weights
        torch.testing.assert_close(sites[CROSS], alone, rtol=0, atol=1e-6)


def test_a_pin_on_a_key_that_is_not_there_is_refused(translator, tmp_path):
    records, trained = translator
    reader = Translator(experiment.keep(trained, tmp_path), records)
    pin = Intervention(site=CROSS, action="pin", key=5)
    with pytest.raises(ContractError, match="cross layer 1 has 5 keys in this sentence, no key 5"):
        reader.explain("a b c", target="x y", interventions=[pin])
    last = Intervention(site=CROSS, action="pin", key=4)
    weights = reader.explain("a b c", target="x y", interventions=[last]).maps[0].weights
    assert weights[0].tolist() == [[0, 0, 0, 0, 1]] * 3
    _, sites = force(reader.model, *reader.pair("a b c", "x y"), interventions=[last])
    assert sites[CROSS][..., 4].min() == 1


def test_queries_that_look_at_points_between_rest_on_the_product_of_both(monkeypatch):
    monkeypatch.setattr("attention_plugins.regression._BLOCK_SCORES", 18)  # two queries a block
    model = made(Inducing, type("S", (), {"source": 6}))
    data = RegressionData(torch.randn(9, 6), torch.randn(9), torch.randn(4, 6))
    found = predict(model, data, keep_weights=True)
    recorder = Recorder()
    expected = model(data.queries, data.x, data.y, None, Tap(recorder))
    first, second = recorder.weights().values()
    product = second @ first
    torch.testing.assert_close(found.weights[Site("pooling", 1)][0], product)
    torch.testing.assert_close(product @ data.y, expected)  # they are what y is weighted by
    assert found.weights[Site("pooling", 0)].shape == (1, 3, 9)
    entropies = -(product * product.log()).sum(-1)
    assert found.effective_neighbours == pytest.approx(float(entropies.exp().mean()), rel=1e-5)


def test_a_map_that_cannot_be_labelled_breaks_a_rule():
    class Unnamed(NullKey):
        axes = None

    findings = check_model(spec(Unnamed, "translation"))
    broken = {one.rule: one.message for one in findings if not one.passed}
    said = broken["its_maps_can_be_labelled"]
    assert "its queries ('target',) and keys ('source',)" in said
    assert "give the model a method axes(site)" in said
