"""What counts is charged for, once, and what is held out was never tuned on."""

from itertools import pairwise

import pytest
import torch

from attention_plugins.contract import ContractError
from attention_plugins.price.tuning import Text, batches, cut, ends_of, loss, nats, written


def by_hand(model, text):
    """−log p of each token that counts, in double precision, one text alone."""
    config = model.config
    with torch.no_grad():
        if config.is_encoder_decoder:
            row = [config.decoder_start_token_id, *text.counted]
            logits = model(
                input_ids=torch.tensor([text.given]), decoder_input_ids=torch.tensor([row])
            ).logits
            start = 0
        else:
            row = [*text.given, *text.counted]
            logits = model(input_ids=torch.tensor([row])).logits
            start = len(text.given) - 1
    scores = logits[0].double().log_softmax(-1)
    return [-scores[start + place, token].item() for place, token in enumerate(text.counted)]


@pytest.mark.parametrize("name", ["llama", "bart"])
def test_a_padded_batch_costs_what_each_text_costs_alone(name, texts, request):
    model = request.getfixturevalue(name)
    several = [Text(text.given * (1 + n % 3), text.counted) for n, text in enumerate(texts)]
    wanted = [by_hand(model, text) for text in several]
    total, tokens = loss(model, several[:7])
    assert tokens == sum(map(len, wanted[:7]))
    assert total.item() == pytest.approx(sum(map(sum, wanted[:7])), rel=1e-5)
    every = [cost for own in wanted for cost in own]
    assert nats(model, several, 4) == pytest.approx(sum(every) / len(every), rel=1e-5)


def test_what_is_held_out_is_no_text_that_is_tuned_on(texts):
    for seed in range(3):
        tuned, held_out = found = cut([*texts, *texts], 7, seed)
        assert len(held_out) == 7
        assert {*held_out}.isdisjoint(tuned)
        assert {*held_out, *tuned} == {*texts}
        assert found == cut([*texts, *texts], 7, seed)
    assert all(cut(texts, 7, a) != cut(texts, 7, b) for a, b in pairwise(range(3)))


def test_answers_to_one_source_lie_together():
    answers = [Text((n, n + 1), (n + a,)) for n in range(3, 13) for a in range(3)]
    tuned, held_out = cut(answers, 4, 0)
    assert {one.given for one in held_out}.isdisjoint(one.given for one in tuned)
    with pytest.raises(ContractError, match="need at least 12 different texts, of which 6"):
        cut(answers, 6, 0)
    with pytest.raises(ContractError, match=r"got 10$"):
        cut(answers, 6, 0)


def test_each_text_comes_once_before_any_comes_again(texts):
    drawn = [text for batch in batches(texts[:12], 4, 6, 3) for text in batch]
    assert sorted(drawn[:12]) == sorted(drawn[12:]) == sorted(texts[:12])
    assert drawn[:12] != drawn[12:]
    assert {len(batch) for batch in batches(texts[:12], 5, 6, 3)} == {5}
    assert [*batches(texts, 4, 6, 3)] == [*batches(texts, 4, 6, 3)]


def test_a_model_writes_the_likeliest_tokens_and_draws_by_the_seed(llama):
    (greedy,) = written(llama, [(5, 9)], 4)
    row = [5, 9]
    for token in greedy.counted:
        with torch.no_grad():
            assert llama(input_ids=torch.tensor([row])).logits[0, -1].argmax() == token
        row.append(token)
    drawn = [written(llama, [(5, 9), (7,)], 4, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [one.given for one in drawn[0]] == [(5, 9), (7,)]


@pytest.mark.parametrize("name", ["llama", "bart"])
def test_what_is_drawn_is_the_models_own_distribution_up_to_its_end(name, request, monkeypatch):
    model = request.getfixturevalue(name)
    asked, (end,) = [], ends_of(model.config)

    def generate(ids, **given):
        asked.append(given)
        begun = ids if name == "llama" else ids[:, :1]  # what an encoder reads is not written
        return torch.cat([begun, torch.tensor([[5, end, 0]] * len(ids))], dim=1)

    monkeypatch.setattr(model, "generate", generate)
    assert written(model, [(7, 9)], 3, seed=1) == [((7, 9), (5, end))]
    written(model, [(7,) * 63], 9)
    assert asked[1]["max_new_tokens"] == (2 if name == "llama" else 9)
    plain = {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0, "num_beams": 1}
    assert plain.items() <= asked[0].items()


def test_a_model_writes_no_further_than_it_has_positions(gpt2_folder):
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(gpt2_folder).eval()
    model.config.eos_token_id = model.generation_config.eos_token_id = None
    (text,) = written(model, [(4,) * 60], 50)
    assert len(text.counted) == 5  # of 64 positions; the last one is read by nobody
