"""Layers in Transformers: by name, at the sites where they can stand, signed weights drawn."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from attention_plugins import (
    AttentionLayer,
    ContractError,
    LayerSizes,
    LayerSpec,
    ModelSizes,
    MultiHead,
    SentencePair,
    Sizes,
    get_layer,
    masked_softmax,
    registry,
)
from attention_plugins.attention import weights_are_signed
from attention_plugins.checking import Broken, check, rules
from attention_plugins.checking.findings import move
from attention_plugins.checking.layers import hosted
from attention_plugins.checking.models.benches import translating
from attention_plugins.checkpoints import write
from attention_plugins.decoding import force
from attention_plugins.discovery import Plugin
from attention_plugins.experiment import Experiment, card_after, prepare
from attention_plugins.layers import MULTI_HEAD, merge_heads, split_heads
from attention_plugins.models.decoder import DECODER, PREFIX_LM
from attention_plugins.models.transformer import (
    GROUPED_QUERY,
    PRE_NORM,
    SHARED_LAYERS,
    TRANSFORMER,
)
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.recipe import Recipe
from attention_plugins.record import Site
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.tap import Intervention, Recorder, Tap
from attention_plugins.training import Progress

DONE = Progress(
    epoch=1, epochs=1, step=1, steps=1, loss=2.0, step_loss=2.0, tokens_per_second=1.0,
    seconds=1.0, epoch_seconds=1.0,
)  # fmt: skip
SIZES = ModelSizes(19, 13, (*range(4), *(4 + (7 * id) % 9 for id in range(15))))


class Differential(AttentionLayer):
    """The difference of two softmaxes (Ye et al. 2024), as the documentation has it."""

    signed = True
    sums_to_one = False

    def __init__(self, make_scoring, sizes, values):
        super().__init__()
        self.heads, size = sizes.heads, sizes.hidden
        self.queries, self.keys = nn.Linear(size, 2 * size), nn.Linear(size, 2 * size)
        self.values, self.output = nn.Linear(size, size), nn.Linear(size, size)
        self.share = nn.Parameter(torch.tensor(0.8))

    def remember(self, inputs):
        keys = split_heads(self.keys(inputs), 2 * self.heads)
        return {"keys": keys, "values": split_heads(self.values(inputs), self.heads)}

    def attend(self, tap, site, asked, kept, mask=None, key_positions=None):
        queries = split_heads(self.queries(asked), 2 * self.heads)
        scores = queries @ kept["keys"].mT / queries.shape[-1] ** 0.5
        one, other = masked_softmax(scores, mask).chunk(2, dim=1)
        weights = one - self.share * other
        return self.output(merge_heads(tap.pool(site, weights, kept["values"], mask)))


class Gated(MultiHead):
    """Multi-head attention whose output a gate of the query's own input lets through."""

    def __init__(self, make_scoring, sizes, values):
        super().__init__(make_scoring, sizes.hidden, sizes.heads, kind=sizes.kind)
        self.gate = nn.Linear(sizes.hidden, sizes.hidden)

    def read(self, inputs):
        return inputs, self.remember(inputs)

    def ask(self, inputs):
        return inputs

    def attend(self, tap, site, asked, kept, mask=None, key_positions=None):
        found = super().gather(tap, site, super().ask(asked), kept, mask, key_positions)
        return self.output(merge_heads(found) * self.gate(asked).sigmoid())


def spec(build, **more):
    return LayerSpec(name="mine", title="Mine", reference="nobody", build=build, **more)


DIFFERENTIAL = spec(Differential, own_scoring=True)
GATED = spec(Gated)


@pytest.fixture
def offered(monkeypatch):
    """Let a layer be installed under the name ``mine``."""

    def offer(layer):
        known = registry.installed()
        own = Plugin(name="mine", distribution="mine", version="1", module="mine",
                     offers={"layers": ("mine",)})  # fmt: skip
        records = {**known.records, "layers": {**known.layers, "mine": layer}}
        made = replace(known, records=records, plugins=(*known.plugins, own))
        monkeypatch.setattr(registry, "installed", lambda: made)
        return made

    return offer


@pytest.mark.parametrize(
    # The documentation's layer, which is nearly the second, is checked with the documents.
    "layer",
    [MULTI_HEAD, *(pytest.param(each, marks=pytest.mark.slow) for each in (DIFFERENTIAL, GATED))],
)
def test_a_layer_keeps_every_rule(layer):
    found = check("layers", layer)
    assert len(found) > 20
    assert [(one.rule, one.message) for one in found if not one.passed] == []


@pytest.mark.parametrize("model", [TRANSFORMER, PRE_NORM, SHARED_LAYERS, PREFIX_LM, DECODER])
def test_every_transformer_takes_a_layer_and_says_the_same_word_by_word(model, offered):
    offered(DIFFERENTIAL)
    batch = translating().batch
    torch.manual_seed(5)
    values = {"hidden": 12, "heads": 2, "layer": "mine", "dropout": 0.0}
    made = model.create(scaled_dot_product.factory(), SIZES, values).double().eval()
    move(made)
    assert weights_are_signed(made)
    for number in range(len(batch.source)):  # alone, where no padding lies between two parts
        n, m = batch.source_lengths[number], batch.target_lengths[number]
        given = (
            batch.source[number : number + 1, :n], batch.source_lengths[number : number + 1],
            batch.target[number : number + 1, :m],
        )  # fmt: skip
        (steps, maps), (at_once, found) = (force(made, *given, by_steps=way) for way in (True, 0))
        torch.testing.assert_close(steps, at_once, rtol=1e-9, atol=1e-10)
        assert any((weights < 0).any() for weights in found.values())
        for site, weights in maps.items():
            torch.testing.assert_close(found[site], weights, rtol=1e-9, atol=1e-10)


def test_a_layer_stands_where_it_can_and_multi_head_attention_elsewhere(offered):
    offered(spec(Differential, kinds=("decoder",), own_scoring=True))
    made = TRANSFORMER.create(scaled_dot_product.factory(), SIZES, {"layer": "mine"})
    kinds = [type(one).__name__ for one in made.modules() if isinstance(one, AttentionLayer)]
    assert kinds == ["MultiHead"] * 2 + ["Differential", "MultiHead"] * 2
    only = get_layer("mine")
    with pytest.raises(ContractError, match="stands at sites of the kind decoder, not cross"):
        only.create(scaled_dot_product.factory(), LayerSizes(12, kind="cross"))


def test_a_layer_travels_on_the_card_of_what_was_trained_with_it(offered, tmp_path):
    known = offered(DIFFERENTIAL)
    pairs = [SentencePair(f"a b {n}", f"c {n} d") for n in range(8)]
    small = {"hidden": 8, "heads": 2, "layers": 1, "ffn": 4}
    asked = {
        name: Experiment(
            model="transformer", scoring="dot", held_out=2, corpus="toy",
            recipe=Recipe(min_frequency=1), model_parameters={**small, "layer": name},
        )
        for name in ("mine", "multi_head")
    }  # fmt: skip
    ready = prepare(asked["mine"], pairs, known)
    assert ready.card["model_parameters"]["layer"] == "mine"
    assert ready.card["plugins"]["layer"]["distribution"] == "mine"
    assert "layer" not in prepare(asked["multi_head"], pairs, known).card["plugins"]
    write(tmp_path / "kept", ready.model, card_after(ready, DONE, "cpu"))
    opened = open_checkpoint(read_checkpoint(tmp_path / "kept"), known)
    made = opened.explain("a b 1")
    assert {one.signed for one in made.maps} == {True}
    assert any((one.weights < 0).any() for one in made.maps)
    with pytest.raises(ContractError, match="no layer 'mine' here"):
        open_checkpoint(read_checkpoint(tmp_path / "kept"), registry.load(allow=[]))


def test_scorings_are_told_the_kind_of_their_site():
    told = []

    def factory(sizes):
        told.append(sizes)
        return scaled_dot_product.create(sizes)

    TRANSFORMER.create(factory, SIZES, {"layers": 1})
    DECODER.create(factory, SIZES, {"layers": 1})
    GROUPED_QUERY.create(factory, SIZES, {"layers": 1})
    PREFIX_LM.create(factory, SIZES, {"layers": 1})
    three = ["encoder", "decoder", "cross"]
    assert [sizes.kind for sizes in told] == [*three, "decoder", *three, "decoder"]
    told.clear()
    hidden = {"hidden": 12}
    for name, values in {
        "bahdanau": hidden, "luong": hidden, "conv_seq2seq": {"embed": 12, "layers": 1},
        "nadaraya_watson": hidden, "nearest_neighbours": hidden, "self_attention": {},
        "inducing_points": {**hidden, "inducing": 7},
    }.items():  # fmt: skip
        registry.installed().model(name).create(factory, ModelSizes(3, 12), values)
    points = Sizes(3, 3, 12, value=1, kind="pooling")
    words = Sizes(12, 12, 12, value=12, kind="cross")
    assert told == [
        words, words, words, points, points, words._replace(kind="encoder"),
        points._replace(value=2), points._replace(value=7),
    ]  # fmt: skip


def test_weights_that_a_layer_made_are_recorded_and_changed():
    tap_site, weights = Site("encoder", 0), torch.tensor([[[0.5, -0.25], [1.0, 0.5]]])
    values, recorder = torch.eye(2)[None], Recorder()
    assert torch.equal(Tap(recorder).pool(tap_site, weights, values), weights)
    assert torch.equal(recorder.weights()[tap_site], weights)
    pin = Intervention(site=tap_site, action="pin", key=1, row=1)
    tap = Tap(interventions=[pin])
    assert tap.pool(tap_site, weights, values).tolist() == [[[0.5, -0.25], [0.0, 1.0]]]
    assert tap.pool(tap_site, weights, values).tolist() == weights.tolist()  # rows 2 and 3


class Looks(Gated):
    """It looks at the words after a query too."""

    def attend(self, tap, site, asked, kept, mask=None, key_positions=None):
        return super().attend(tap, site, asked, kept, None, key_positions)


class Keeps(Gated):
    def remember(self, inputs):
        return super().remember(inputs - inputs.mean(dim=1, keepdim=True))


class Calls(Gated):
    def attend(self, tap, site, asked, kept, mask=None, key_positions=None):
        return super().attend(Tap(), site, asked, kept, mask, key_positions)


class Unsaid(Differential):
    signed = False


class Silent(Differential):
    pass


class Forgets(Gated):
    """It does not say where keys stand that have others left out between them."""

    def attend(self, tap, site, asked, kept, mask=None, key_positions=None):
        return super().attend(tap, site, asked, kept, mask)


class Mixes(Gated):
    """Each key is mixed with the one before it, whether or not that one may be seen."""

    def attend(self, tap, site, asked, kept, mask=None, key_positions=None):
        keys = kept["keys"] + kept["keys"].roll(1, dims=-2)
        return super().attend(tap, site, asked, {**kept, "keys": keys}, mask, key_positions)


class Halves(Gated):
    def attend(self, *given, **named):
        return super().attend(*given, **named)[..., :6]


WRONG = [
    (Looks, "padding_changes_nothing", "mask by the lengths", {}),
    (Keeps, "positions_are_remembered_one_by_one", "let each position stand for itself", {}),
    (Calls, "weights_leave_through_the_tap", "the tap was given no weights", {}),
    (Unsaid, "weights_are_a_distribution", "say signed = True", {"own_scoring": True}),
    (Silent, "it_asks_for_a_scoring_as_it_says", "say own_scoring=True", {}),
    (Gated, "it_asks_for_a_scoring_as_it_says", "leave own_scoring=True", {"own_scoring": True}),
    (Forgets, "keys_may_be_left_out", "hand key_positions on", {}),
    (Mixes, "keys_may_be_left_out", "let no key reach another one's weight", {}),
    (Halves, "it_can_be_built_and_asked", "return as many", {}),
    (lambda *given: nn.Identity(), "it_can_be_built_and_asked", "method remember", {}),
]


@pytest.mark.parametrize(("build", "rule", "phrase", "more"), WRONG)
def test_a_wrong_layer_is_named_by_its_cause(build, rule, phrase, more):
    wrong = spec(build, **more)
    with pytest.raises(Broken, match=phrase):
        rules("layers", wrong)[rule](wrong)


def test_a_host_is_a_transformer_of_the_layers_name():
    assert hosted(GATED).name == "mine"
    for kinds in (("pooling",), (), ["encoder"], ("encoder", "pooling")):
        with pytest.raises(ContractError, match="kinds to be some of encoder, decoder, cross"):
            spec(Gated, kinds=kinds)
    wrong = {
        "attend": nn.Identity(),
        "remember": type("NoModule", (), {"remember": len, "attend": len})(),
    }
    wrong["attend"].remember = len
    for method, made in wrong.items():
        with pytest.raises(ContractError, match=f"an nn.Module with a method {method}"):
            spec(lambda *_, made=made: made).create(None, LayerSizes(4))
    with pytest.raises(ContractError, match="own_scoring is True or False"):
        spec(Gated, own_scoring="no")
