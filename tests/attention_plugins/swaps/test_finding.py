"""Models, calls and scorings that cannot be swapped are refused by name, and stay as they were."""

from __future__ import annotations

import pytest
import torch
from support.swaps import tiny
from support.tiny_families import BY_THEMSELVES, build, given

from attention_plugins import ContractError, swap, unswap
from attention_plugins.swaps import site

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize(
    "family",
    ["bloom", *(pytest.param(name, marks=pytest.mark.slow) for name in [*BY_THEMSELVES][1:])],
)
def test_families_that_attend_by_themselves_are_refused_by_name(family):
    model = build(family)
    with pytest.raises(ContractError, match=r"Attention, which attends by itself, and neither"):
        swap(model, "cosine")
    assert model.config._attn_implementation == "eager"


def test_a_scoring_that_needs_memory_is_refused_with_the_reason():
    model = build("gpt2")
    with pytest.raises(ContractError, match=r"'coverage' needs the weights of all earlier quer"):
        swap(model, "coverage")
    assert not [name for name in model.state_dict() if "swapped" in name]


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_call_that_would_ignore_the_swap_raises(implementation):
    model, inputs = build("gpt2"), given("gpt2")
    swap(model, "cosine")
    model.set_attn_implementation(implementation)
    with pytest.raises(ContractError, match="GPT2Attention attended by itself, so the scoring"):
        model(**inputs)
    unswap(model)
    assert model(**inputs).logits.isfinite().all()


def test_a_part_that_no_made_up_call_reaches_is_named():
    config = transformers.GPT2Config(n_embd=20, n_layer=1, n_head=5, vocab_size=11,
                                     add_cross_attention=True)  # fmt: skip
    model = transformers.GPT2LMHeadModel(config).eval()
    with pytest.raises(ContractError, match=r"did not attend in .*crossattention.*example=\{"):
        swap(model, "cosine")
    example = {"input_ids": torch.ones(1, 3, dtype=torch.long),
               "encoder_hidden_states": torch.zeros(1, 5, 20)}  # fmt: skip
    assert len(swap(model, "cosine", example=example).sites) == 2


def test_a_class_of_a_notebook_is_refused_by_name(monkeypatch):
    model = build("gpt2")
    kind = type("Mine", (type(model),), {"__module__": "__main__"})
    monkeypatch.setattr(kind, "_can_set_attn_implementation", classmethod(lambda cls: False))
    model.__class__ = kind
    with pytest.raises(ContractError, match="Mine cannot be told how to attend: __main__"):
        swap(model, "cosine")
    assert model.config._attn_implementation == "eager"


def test_positions_that_lie_in_the_mask_are_not_removed():
    with pytest.raises(ContractError, match="adds its positions to the mask"):
        swap(build("swin"), "cosine", positions="remove")


class Rotates(torch.nn.Module):
    def forward(self, hidden, position_embeddings=None): ...


@pytest.mark.parametrize("by_name", [True, False])
def test_a_rotation_is_taken_out_wherever_a_call_has_it(by_name):
    hidden, angles = torch.ones(1, 3, 4), (torch.full((3, 2), 0.5), torch.full((3, 2), 0.7))
    args, kwargs = (
        ((hidden,), {"position_embeddings": angles}) if by_name else ((hidden, angles), {})
    )
    args, kwargs = site._without_rotation(Rotates(), args, kwargs)
    assert args[0] is hidden
    cosines, sines = kwargs["position_embeddings"] if by_name else args[1]
    assert len(args) == 2 - by_name
    assert cosines.equal(torch.ones(3, 2))
    assert sines.equal(torch.zeros(3, 2))


@pytest.mark.parametrize("given", ["cos", (torch.ones(2),), (torch.ones(2), torch.arange(2))])
def test_what_is_no_cosines_and_sines_is_not_removed(given):
    with pytest.raises(ContractError, match=r"its rotation as \w+, and not as cosines and sines"):
        site._without_rotation(Rotates(), (), {"position_embeddings": given})


def test_padding_between_the_tokens_of_one_call_is_refused_where_positions_count():
    model, inputs = tiny("bert")
    inputs["attention_mask"][0, 3:5] = 0
    with swap(model, "shaw"), pytest.raises(ContractError, match="padding between its tokens"):
        model(**inputs)
    with swap(model, "additive"):
        assert model(**inputs)[0].isfinite().all()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"layers": "nowhere"}, ValueError, "fits no module's name"),
        ({"layers": 9}, ContractError, "layers= and kinds= choose none of transformer.h.0.attn"),
        ({"kinds": "sideways"}, ContractError, "kinds are self, cross, encoder, decoder"),
        ({"positions": "away"}, ContractError, 'positions are "keep" or "remove"'),
        ({"normaliser": "entmax16"}, ContractError, 'did you mean "entmax15"'),
        ({"width": 3}, ContractError, "no parameter 'width'"),
    ],
)
def test_wrong_choices_are_answered_by_what_would_be_right(changes, error, message):
    with pytest.raises(error, match=message):
        swap(build("gpt2"), "additive", **changes)


def test_a_scoring_that_raises_leaves_the_model_as_it_was():
    def broken(queries, keys):
        if queries.shape[-1] > 4:
            raise RuntimeError("no such thing")
        return queries @ keys.mT

    model, inputs = build("gpt2"), given("gpt2")
    before = model(**inputs)[0]
    with pytest.raises(ContractError, match="RuntimeError when it was tried: no such thing"):
        swap(model, broken)
    assert model(**inputs)[0].equal(before)


def test_only_modules_are_taken():
    with pytest.raises(ContractError, match=r"need a torch.nn.Module, got dict"):
        swap({}, "additive")
