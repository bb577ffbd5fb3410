"""Every attention layer against its published formula, at once, word by word, and watched."""

import math

import numpy as np
import pytest
import torch
from support import published_layers as published

from attention_plugins import checkpoints
from attention_plugins.checking import check, rules
from attention_plugins.contract import ContractError, LayerSizes, ModelSizes
from attention_plugins.models.protocols import Batch
from attention_plugins.opening import open_checkpoint
from attention_plugins.registry import load
from attention_plugins.tap import Recorder, Site, Tap
from attention_plugins.text import RESERVED

REGISTRY = load(allow=[])
LAYERS = {name: spec for name, spec in REGISTRY.layers.items() if name != "multi_head"}
SIGNED = ("differential", "multi_token", "linformer", "retention", "gated_linear", "delta_rule")
RECURRENT = ("retention", "gated_linear", "delta_rule")
HEADS, SIZE, WORDS, SOURCE = 3, 12, 11, 7
VALUES = {"gated_output": {"each": True}, "native_sparse": {"block": 3, "chosen": 2, "window": 2}}
PLACES = [(name, kind) for name, spec in LAYERS.items() for kind in spec.kinds]
CAUSAL = [name for name, spec in LAYERS.items() if "decoder" in spec.kinds]
every_place = pytest.mark.parametrize(("name", "kind"), PLACES)
every_causal = pytest.mark.parametrize("name", CAUSAL)
BATCH = Batch(
    torch.tensor([[4, 9, 5, 2], [7, 5, 2, 0]]), torch.tensor([4, 3]),
    torch.tensor([[6, 5, 8, 2], [5, 2, 0, 0]]), torch.tensor([4, 2]),
)  # fmt: skip


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(name, kind, scoring="scaled_dot", **values):
    """A layer whose every weight matters, also those that start as nothing."""
    torch.manual_seed(3)
    factory = REGISTRY.scoring(scoring).factory()
    layer = LAYERS[name].create(factory, LayerSizes(SIZE, HEADS, 0.0, kind), values).double()
    with torch.no_grad():
        for number, weight in enumerate(layer.parameters()):
            weight.add_(draw(*weight.shape, seed=number) / 2)
    return layer.eval()


def looking(kind, lengths):
    """What asks, what is asked, and a mask ``(B, 1, n_q or 1, n_k)``."""
    asked = draw(2, WORDS, SIZE)
    memory = draw(2, SOURCE, SIZE, seed=1) if kind == "cross" else asked
    keys = memory.shape[1]
    mask = (torch.arange(keys) < torch.tensor(lengths)[:, None])[:, None, None]
    return asked, memory, mask & causal(keys) if kind == "decoder" else mask


def causal(words):
    return torch.ones(words, words, dtype=torch.bool).tril()


@every_place
def test_it_is_its_published_formula(name, kind):
    site, values = Site(kind, 1 if name == "differential" else 0), VALUES.get(name, {})
    layer, lengths = make(name, kind, **values), [5, 3] if kind == "cross" else [WORDS, 6]
    asked, memory, mask = looking(kind, lengths)
    recorder = Recorder()
    output = layer(Tap(recorder), site, asked, memory, mask).detach().numpy()
    maps = recorder.weights()[site].detach().numpy()
    known = {name: weight.detach().numpy() for name, weight in layer.state_dict().items()}
    known |= {f"vectors {n}": w for n, w in known.items()}
    more = {"native_sparse": values, "differential": {"layer": 1}, "sinkhorn": {"rounds": 10},
            "latent": {"cross": kind == "cross"}}.get(name, {})  # fmt: skip
    for row, length in enumerate(lengths):
        words = WORDS if kind == "cross" else length  # what padding gathers is nobody's
        allowed = mask.expand(2, 1, WORDS, memory.shape[1])[row, 0].numpy()
        parts = asked[row].numpy(), memory[row].numpy(), allowed
        expected = getattr(published, name)(known, *parts, HEADS, **more)
        if name not in RECURRENT:
            expected, theirs = expected
            np.testing.assert_allclose(maps[row, :, :words], theirs[:, :words], rtol=0, atol=1e-9)
        np.testing.assert_allclose(output[row, :words], expected[:words], rtol=0, atol=1e-9)
        assert (maps[row, :, :words, length:] == 0).all()
        ones = np.allclose(maps[row, :, :words].sum(-1), 1)
        assert ones == layer.sums_to_one


@every_place
def test_weights_are_dropped_while_training_alone_and_the_scoring_is_told_its_place(name, kind):
    told = []

    def factory(sizes):
        told.append((sizes.kind, sizes.heads, sizes.value))
        return REGISTRY.scoring("scaled_dot").create(sizes)

    torch.manual_seed(3)
    layer = LAYERS[name].create(factory, LayerSizes(SIZE, HEADS, 0.5, kind)).double().eval()
    assert told == ([] if LAYERS[name].own_scoring else [(kind, HEADS, SIZE // HEADS)])
    asked, memory, mask = looking(kind, [SOURCE, 6])
    for recorder in (None, Recorder()):  # which may take other ways

        def gathered(recorder=recorder):
            return layer(Tap(recorder), Site(kind, 0), asked, memory, mask)

        still = layer.eval() and gathered()
        assert torch.equal(gathered(), still)
        assert not torch.allclose(layer.train() and gathered(), still)


# Standard deviations of what is drawn, and how far from 0 it may be on average.
DRAWN = {
    ("linformer", "sums"): 16**-0.5, ("differential", "vectors"): 0.1,
    ("latent", "queries.weight"): (2 / (64 + 4 * 24)) ** 0.5,
    ("latent", "up.weight"): (2 / (20 + 128)) ** 0.5, ("latent", "up.bias"): 0.0,
}  # fmt: skip


@pytest.mark.parametrize(("name", "weight"), DRAWN)
def test_what_is_drawn_starts_at_its_size(name, weight):
    values = {"linformer": {"rows": 16}, "latent": {"latent": 20, "rotary": 8}}.get(name, {})
    found, factory = [], REGISTRY.scoring("scaled_dot").factory()
    for seed in range(40 if name == "differential" else 4):
        torch.manual_seed(seed)
        layer = LAYERS[name].create(factory, LayerSizes(64, 4, 0.0, "decoder" if name == "latent"
                                                        else "encoder"), values)  # fmt: skip
        found.append(dict(layer.named_parameters())[weight].detach())
    assert torch.stack(found).std().item() == pytest.approx(DRAWN[name, weight], rel=0.1)


@every_causal
@pytest.mark.parametrize("parts", [(1,) * WORDS, (4, 1, 6)])
def test_words_that_come_in_turn_gather_what_all_do(name, parts):
    layer, site = make(name, "decoder"), Site("decoder", 0)
    inputs = draw(2, WORDS, SIZE)
    whole, watched = Recorder(), Recorder()
    expected = layer(Tap(whole), site, inputs, inputs, causal(WORDS))
    tap, kept, found = Tap(watched), {}, []
    for part in inputs.split(parts, dim=1):
        asked, new = layer.read(part)
        kept = {n: torch.cat([kept[n], p], -2) if kept else p for n, p in new.items()}
        keys = next(iter(kept.values())).shape[-2]
        mask = causal(keys)[-part.shape[1] :] if part.shape[1] > 1 else None
        found.append(layer.attend(tap, site, asked, kept, mask))
    torch.testing.assert_close(torch.cat(found, dim=1), expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(watched.weights(), whole.weights(), rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_it_keeps_every_rule_of_the_kit(name):
    found = check("layers", LAYERS[name])
    assert len(found) > 20
    assert [one for one in found if not one.passed] == []


@every_place
def test_nobody_who_looks_changes_what_is_gathered(name, kind, monkeypatch):
    """Nor do blocks of queries, nor padding beyond; and where all is padding nothing is found."""
    layer, site = make(name, kind), Site(kind, 0)
    asked, memory, mask = looking(kind, [7, 0])
    expected = layer(Tap(Recorder()), site, asked, memory, mask)
    monkeypatch.setattr("attention_plugins.tap._MOST_SCORES", 1)
    monkeypatch.setattr("attention_plugins.blocks._BLOCK_ELEMENTS", 1)
    found = layer(Tap(), site, asked, memory, mask)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    if kind != "decoder":  # where all words may be looked at, a shorter sequence is its own
        asked = asked if kind == "cross" else asked[:, :7]
        alone = layer(Tap(), site, asked, memory[:, :7], mask[..., :7])
        torch.testing.assert_close(alone[0], expected[0, : asked.shape[1]], rtol=0, atol=1e-10)
    nothing = torch.zeros(1, SIZE, dtype=torch.float64)
    torch.testing.assert_close(found[1], layer.output(nothing).expand_as(found[1]))
    found.square().sum().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in layer.parameters())


@pytest.mark.parametrize("name", LAYERS)
def test_a_transformer_of_it_learns(name):
    torch.manual_seed(1)
    values = {"hidden": 12, "heads": 3, "layers": 1, "ffn": 8, "dropout": 0.1, "layer": name}
    model = REGISTRY.model("transformer").create(
        REGISTRY.scoring("scaled_dot").factory(), ModelSizes(11, 11), values
    )
    optimiser, losses = torch.optim.Adam(model.parameters(), lr=0.02), []
    for _ in range(12):
        losses.append(model.loss(BATCH))
        optimiser.zero_grad()
        losses[-1].backward()
        optimiser.step()
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("name", [n for n in CAUSAL if LAYERS[n].kinds == ("decoder",)])
def test_a_layer_that_looks_back_is_refused_elsewhere(name):
    inputs = draw(2, WORDS, SIZE)
    with pytest.raises(ContractError, match="looks back at the words before"):
        make(name, "decoder")(Tap(), Site("encoder", 0), inputs, inputs)


@pytest.mark.parametrize(
    ("name", "values", "keys", "why"),
    [
        ("linformer", {"longest": 16}, 17, "sums up at most 16 words, got 17"),
        ("sinkhorn", {}, SOURCE, "needs a query for each key.*got 11 queries and 7 keys"),
    ],
)
def test_a_layer_that_mixes_words_is_refused_where_words_look_back(name, values, keys, why):
    inputs = draw(2, WORDS, SIZE)
    with pytest.raises(ContractError, match="mixes all words"):
        make(name, "encoder")(Tap(), Site("encoder", 0), inputs, inputs, causal(WORDS))
    with pytest.raises(ContractError, match="not decoder"):
        make(name, "decoder")
    layer, memory = make(name, "encoder", **values), draw(2, keys, SIZE)
    with pytest.raises(ContractError, match=why):
        layer(Tap(), Site("encoder", 0), inputs, memory)


@pytest.mark.parametrize(
    ("name", "scoring", "why"),
    [
        ("forgetting", "shaw", "its own pool"), ("selective", "coverage", "memory"),
        ("linformer", "rope", "positions"),
        ("sinkhorn", "monotonic", "its own normaliser or memory"),
    ],
)  # fmt: skip
def test_a_scoring_that_a_layer_cannot_serve_is_refused(name, scoring, why):
    with pytest.raises(ContractError, match=f"no scoring that needs {why}, as .*scaled_dot"):
        make(name, LAYERS[name].kinds[0], scoring)


def test_a_normaliser_that_was_chosen_is_refused_where_rows_are_made_otherwise():
    factory = REGISTRY.scoring("scaled_dot").factory(
        None, REGISTRY.normaliser("sparsemax").factory()
    )
    with pytest.raises(ContractError, match="no scoring that needs its own normaliser"):
        LAYERS["sinkhorn"].create(factory, LayerSizes(SIZE, HEADS))


def test_kernels_start_as_no_change_and_gates_are_of_heads_or_of_each_number():
    factory, sizes = REGISTRY.scoring("scaled_dot").factory(), LayerSizes(SIZE, HEADS, 0.0)
    kernel = (
        LAYERS["multi_token"]
        .create(factory, sizes._replace(kind="decoder"), {"reach": 3, "width": 5})
        .kernel
    )
    expected = torch.zeros(HEADS, 3, 5)
    expected[:, 0, 2] = 1.0
    assert torch.equal(kernel.detach(), expected)
    for each, gates in ((True, SIZE), (False, HEADS)):
        gated = LAYERS["gated_output"].create(factory, sizes, {"each": each})
        assert gated.gate.out_features == gates


@pytest.mark.parametrize("name", ["latent", "differential"])
def test_keys_may_be_left_out(name):
    check = rules("layers", LAYERS[name])["keys_may_be_left_out"]
    assert check(LAYERS[name]) is None, "it raises where the layer breaks the rule"


def test_heads_of_an_odd_size_have_no_halves():
    with pytest.raises(ContractError, match="even size, got 3"):
        LAYERS["differential"].create(
            REGISTRY.scoring("scaled_dot").factory(), LayerSizes(SIZE, 4)
        )


@pytest.mark.parametrize("name", ["forgetting", "differential", "selective", "multi_token"])
def test_a_scoring_is_told_where_words_stand(name):
    """Rotary scores at once are those word by word, of neighbours too."""
    layer, site, inputs = make(name, "decoder", "rope"), Site("decoder", 0), draw(2, WORDS, SIZE)
    expected = layer(Tap(), site, inputs, inputs, causal(WORDS))
    tap, kept, found = Tap(), {}, []
    for part in inputs.split(1, dim=1):
        asked, new = layer.read(part)
        kept = {n: torch.cat([kept[n], p], -2) if kept else p for n, p in new.items()}
        found.append(layer.attend(tap, site, asked, kept))
    torch.testing.assert_close(torch.cat(found, dim=1), expected, rtol=0, atol=1e-10)
    other = make(name, "decoder")(Tap(), site, inputs, inputs, causal(WORDS))
    assert not torch.allclose(expected, other)


def test_what_latent_attention_keeps_is_smaller_as_it_says():
    """``c + r`` numbers of a word, where heads of keys and values are ``2 H d``."""
    sizes = LayerSizes(96, 6, 0.0, "decoder")
    plain, latent = (
        REGISTRY.layer(name).create(REGISTRY.scoring("scaled_dot").factory(), sizes, values)
        for name, values in (("multi_head", {}), ("latent", {"latent": 20, "rotary": 4}))
    )
    inputs = torch.randn(1, 13, 96)
    counts = [sum(t.numel() for t in layer.remember(inputs).values()) for layer in (plain, latent)]
    assert counts == [13 * 2 * 96, 13 * 24]


def test_native_sparse_attention_reads_a_few_words():
    """Of 64 words a query that is alone with its window reads 8 of its blocks and 6 others."""
    values = {"block": 8, "chosen": 2, "window": 6}
    layer, site = make("native_sparse", "decoder", **values), Site("decoder", 0)
    layer.gates.bias.data.view(HEADS, 3)[:, 0] = -math.inf  # of blocks as a whole
    inputs, recorder = draw(1, 64, SIZE), Recorder()
    layer.gates.weight.data.view(HEADS, 3, SIZE)[:, 0] = 0.0
    layer(Tap(recorder), site, inputs, inputs, causal(64))
    read = (recorder.weights()[site] != 0).sum(dim=-1)
    assert read.max() <= 2 * 8 + 6
    assert (read[..., -1] == 2 * 8).all()  # the last word's window lies in its own block


def test_linformers_memory_is_linear_where_nobody_looks():
    layer, site = make("linformer", "encoder", longest=4096), Site("encoder", 0)
    largest = []

    class Largest(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            out = function(*args, **(kwargs or {}))
            largest.append(out.numel() if isinstance(out, torch.Tensor) else 0)
            return out

    sizes = []
    for words in (1024, 4096):
        inputs = draw(1, words, SIZE)
        largest.clear()
        with torch.no_grad(), Largest():
            layer(Tap(), site, inputs, inputs)
        sizes.append(max(largest))
    assert sizes[1] == 4 * sizes[0]


def test_sinkhorns_columns_sum_to_one_too():
    layer, site = make("sinkhorn", "encoder", rounds=100), Site("encoder", 0)
    asked, memory, mask = looking("encoder", [WORDS, 6])
    recorder = Recorder()
    layer(Tap(recorder), site, asked, memory, mask)
    weights = recorder.weights()[site]
    for row, length in enumerate([WORDS, 6]):
        words = weights[row, :, :length, :length]
        torch.testing.assert_close(words.sum(-1), torch.ones_like(words[..., 0]))
        torch.testing.assert_close(
            words.sum(-2), torch.ones_like(words[..., 0]), rtol=0, atol=1e-6
        )


def test_differential_attention_takes_out_what_both_softmaxes_have():
    """Equal halves leave a share of the weights alone; one that is told apart stays."""
    layer, site = make("differential", "encoder"), Site("encoder", 0)
    with torch.no_grad():
        half = SIZE // HEADS // 2
        rows = layer.projections.weight[: 2 * SIZE].view(2, HEADS, 2, half, SIZE)
        rows[:, :, 1] = rows[:, :, 0]
        bias = layer.projections.bias[: 2 * SIZE].view(2, HEADS, 2, half)
        bias[:, :, 1] = bias[:, :, 0]
        layer.vectors.zero_()
    inputs, recorder = draw(1, WORDS, SIZE), Recorder()
    layer(Tap(recorder), site, inputs, inputs)
    sums = recorder.weights()[site].sum(-1)
    torch.testing.assert_close(sums, torch.full_like(sums, 1 - (0.8 - 0.6)))


@pytest.mark.parametrize("name", LAYERS)
def test_a_saved_model_opens_again_with_its_maps(name, tmp_path):
    torch.manual_seed(2)
    values = {"hidden": 12, "heads": 3, "layers": 1, "ffn": 8, "layer": name}
    words = [*RESERVED, *"abcdef"]
    model = REGISTRY.model("transformer").create(
        REGISTRY.scoring("scaled_dot").factory(), ModelSizes(len(words), len(words)), values
    )
    card = {
        "title": name, "model": "transformer", "model_parameters": values,
        "scoring": "scaled_dot", "scoring_parameters": {}, "tokeniser": "words", "max_tokens": 10,
        "source_vocabulary": words, "target_vocabulary": words, "corpus": {"name": "letters"},
        "training": {}, "scores": {},
    }  # fmt: skip
    checkpoints.write(tmp_path / "small", model, card)
    opened = open_checkpoint(checkpoints.read(tmp_path / "small"), REGISTRY)
    maps = opened.explain("a b c d", target="b c a").maps
    assert {(one.site.kind, one.weights.shape) for one in maps} == {
        ("encoder", (3, 5, 5)), ("decoder", (3, 4, 4)), ("cross", (3, 4, 5))
    }  # fmt: skip
    assert {one.signed for one in maps} == {name in SIGNED}
    below = {one.site.kind for one in maps if (one.weights < 0).any()}
    assert below <= {*LAYERS[name].kinds}
    assert bool(below) == (name in SIGNED and name != "multi_token")  # its heads start unmixed
