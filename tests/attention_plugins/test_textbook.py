"""The attention chapter's lines as it prints them, beside the parts that stand for them.

Names and sizes are the chapter's; each test says where ours differ.
"""

from __future__ import annotations

import collections
import math

import pytest
import torch
from torch import nn

from attention_plugins.attention import attend
from attention_plugins.contract import ModelSizes, SentencePair, Sizes
from attention_plugins.decoding import force
from attention_plugins.encoding import encode
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.losses import target_loss
from attention_plugins.models.protocols import Batch
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.models.transformer_layers import (
    AddNorm,
    EncoderLayer,
    FeedForward,
    Hyperparameters,
)
from attention_plugins.recipe import PRESETS
from attention_plugins.registry import load
from attention_plugins.tap import Recorder, Site, Tap
from attention_plugins.text import BOS_ID, EOS, EOS_ID, PAD

SCORINGS = load(allow=[]).scorings


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def preprocess_nmt(text):
    def no_space(char, prev_char):
        return char in set(",.!?") and prev_char != " "

    text = text.replace("\u202f", " ").replace("\xa0", " ").lower()
    out = [
        " " + char if i > 0 and no_space(char, text[i - 1]) else char
        for i, char in enumerate(text)
    ]
    return "".join(out)


def tokenize_nmt(text):
    source, target = [], []
    for line in text.split("\n"):
        parts = line.split("\t")
        if len(parts) == 2:
            source.append(parts[0].split(" "))
            target.append(parts[1].split(" "))
    return source, target


def vocab(lines, min_freq=2):
    counter = collections.Counter(token for line in lines for token in line)
    freqs = sorted(counter.items(), key=lambda x: x[1], reverse=True)
    return ["<unk>", "<pad>", "<bos>", "<eos>"] + [t for t, freq in freqs if freq >= min_freq]


def build_array_nmt(lines, tokens, num_steps):
    index = {token: i for i, token in enumerate(tokens)}
    rows = [[index.get(token, 0) for token in line] + [index[EOS]] for line in lines]
    rows = [row[:num_steps] + [index[PAD]] * (num_steps - len(row)) for row in rows]
    return rows, [sum(i != index[PAD] for i in row) for row in rows]


TEXT = """Go.\tVa !
Go on.\tContinue !
I'm home.\tJe suis chez moi.
I'm lost!\tJe suis perdu\u202f!
I lost.\tJ'ai perdu.
He's calm, isn't he?\tIl est calme, n'est-ce pas ?
We go home, we go on, we go home, we go on.\tOn rentre, on continue, on rentre, on continue.
Go home, he's lost.\tRentre chez moi, il est perdu."""


def test_sentences_become_the_chapters_numbers():
    """Both vocabularies, ids and valid lengths; but a sentence that is cut keeps its end."""
    recipe = PRESETS["d2l"].recipe
    steps = recipe.max_tokens
    encoded = encode([SentencePair(*line.split("\t")) for line in TEXT.split("\n")], recipe)
    cut = 0
    for lines, ids, vocabulary in zip(
        tokenize_nmt(preprocess_nmt(TEXT)),
        (encoded.source, encoded.target),
        (encoded.source_vocabulary, encoded.target_vocabulary),
        strict=True,
    ):
        tokens = vocab(lines)
        assert list(vocabulary.tokens) == tokens
        assert len(tokens) > 8
        rows, valid = build_array_nmt(lines, tokens, steps)
        assert [len(own) for own in ids] == valid
        for own, row, line in zip(ids, rows, lines, strict=True):
            long = len(line) >= steps
            cut += long
            assert own == ([*row[:-1], EOS_ID] if long else row[: len(own)])
    assert (steps, cut) == (10, 2)


def sequence_mask(X, valid_len, value=0):  # noqa: N803
    mask = torch.arange(X.size(1))[None, :] < valid_len[:, None]
    X[~mask] = value
    return X


def masked_softmax_ce_loss(pred, label, valid_len):
    weights = sequence_mask(torch.ones_like(label), valid_len)
    unweighted = nn.functional.cross_entropy(pred.permute(0, 2, 1), label, reduction="none")
    return (unweighted * weights).mean(dim=1)


def test_the_masked_loss_is_the_chapters_but_for_what_it_is_divided_by():
    """The chapter's mean counts padding; ours is over target tokens. Gradients point alike."""
    label, valid = torch.randint(13, (3, 5)), torch.tensor([5, 1, 3])
    features = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    output = nn.Linear(7, 13).double()
    batch = Batch(label, valid, label.clone(), valid)
    theirs = masked_softmax_ce_loss(output(features), label, valid).sum() * 5 / 9
    ours = target_loss(features, output, batch)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    learning = [features, *output.parameters()]
    for one, other in zip(
        torch.autograd.grad(ours, learning), torch.autograd.grad(theirs, learning), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)
    assert not torch.autograd.grad(target_loss(features, output, batch), features)[0][1, 1:].any()


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(self, queries, keys, values):
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        self.attention_weights = nn.functional.softmax(self.w_v(features).squeeze(-1), dim=-1)
        return torch.bmm(self.attention_weights, values)


class Seq2SeqAttentionDecoder(nn.Module):
    def __init__(self, vocab_size, embed_size, num_hiddens, num_layers):
        super().__init__()
        self.attention = AdditiveAttention(num_hiddens, num_hiddens, num_hiddens)
        self.embedding = nn.Embedding(vocab_size, embed_size)
        self.rnn = nn.GRU(embed_size + num_hiddens, num_hiddens, num_layers)
        self.dense = nn.Linear(num_hiddens, vocab_size)

    def forward(self, X, state):  # noqa: N803
        enc_outputs, hidden_state = state
        outputs, self.weights = [], []
        for x in self.embedding(X).permute(1, 0, 2):
            query = torch.unsqueeze(hidden_state[-1], dim=1)
            context = self.attention(query, enc_outputs, enc_outputs)
            both = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden_state = self.rnn(both.permute(1, 0, 2), hidden_state)
            outputs.append(out)
            self.weights.append(self.attention.attention_weights)
        outputs = self.dense(torch.cat(outputs, dim=0))
        return outputs.permute(1, 0, 2), [enc_outputs, hidden_state]


def taught(model, embed):
    """The chapter's decoder with our model's weights."""
    theirs = Seq2SeqAttentionDecoder(10, 8, 16, 2)
    own = dict(model.named_parameters())
    attention = [own[f"scoring.{name}"] for name, _ in model.scoring.named_parameters()]
    by_shape = dict(zip(("W_q", "W_k", "w_v"), attention, strict=True))
    with torch.no_grad():
        for name, weight in by_shape.items():
            getattr(theirs.attention, name).weight.copy_(weight)
        theirs.embedding.load_state_dict(model.embedding.state_dict())
        theirs.dense.load_state_dict(model.output.state_dict())
        for layer, cell in enumerate(model.cells):
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                weight = getattr(cell, part)
                if (layer, part) == (0, "weight_ih"):  # the chapter puts the context first
                    weight = torch.cat([weight[:, embed:], weight[:, :embed]], dim=1)
                getattr(theirs.rnn, f"{part}_l{layer}").copy_(weight)
    return theirs


def test_the_attention_decoder_is_the_chapters_with_its_printed_shapes():
    """Four sequences of seven steps; outputs, states and weights are those of its lines."""
    values = {"embed": 8, "hidden": 16, "layers": 2, "dropout": 0.0}
    model = BAHDANAU.create(SCORINGS["additive"].factory(), ModelSizes(10, 10), values).eval()
    source, target = torch.randint(10, (4, 7)), torch.randint(4, 10, (4, 7))
    recorder = Recorder()
    tap = Tap(recorder)
    first = state = model.start(source, torch.full((4,), 7), tap)
    read = torch.cat([torch.full((4, 1), BOS_ID), target[:, :-1]], dim=1)
    with torch.no_grad():
        steps = []
        for tokens in read.T:
            scores, state = model.step(state, tokens, tap)
            steps.append(scores)
        output = torch.stack(steps, dim=1)
        theirs = taught(model, 8)
        begun = [first["memory"], first["hidden"].transpose(0, 1).contiguous()]
        expected, (outputs, hidden) = theirs(read, begun)
    assert output.shape == expected.shape == (4, 7, 10)
    assert state["memory"].shape == outputs.shape == (4, 7, 16)
    assert (len(hidden), hidden[0].shape) == (2, (4, 16))
    torch.testing.assert_close(output, expected.log_softmax(-1), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(state["hidden"], hidden.transpose(0, 1), atol=1e-5, rtol=1e-5)
    weights = torch.cat(theirs.weights, dim=1)
    torch.testing.assert_close(recorder.weights()[Site("cross")], weights, atol=1e-5, rtol=1e-5)


def test_the_position_wise_network_does_the_same_at_every_position():
    """On ones ``(2, 3, 4)`` with four hidden units; ours writes as many numbers as it reads."""
    ffn = FeedForward(4, 4, 0.5).eval()
    found = ffn(torch.ones(2, 3, 4))
    assert found.shape == (2, 3, 4)
    assert torch.equal(found, found[:1, :1].expand(2, 3, 4))
    x = torch.randn(2, 3, 4)
    w = [p.detach() for p in ffn.parameters()]
    expected = [[torch.relu(w[0] @ row + w[1]) for row in rows] for rows in x]
    expected = torch.stack([torch.stack([w[2] @ h + w[3] for h in rows]) for rows in expected])
    torch.testing.assert_close(ffn(x), expected)


def test_addition_and_norm_go_by_position_and_not_by_sequence():
    """The chapter's ``AddNorm([3, 4])`` takes one mean of a sequence, padding included."""
    add_norm = AddNorm(4, 0.5, pre_norm=False).eval()
    assert add_norm(torch.ones(2, 3, 4), torch.ones_like).shape == (2, 3, 4)
    x, said = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    total = x + said
    mean, variance = total.mean(-1, keepdim=True), total.var(-1, correction=0, keepdim=True)
    found = add_norm(x, lambda given: said)
    torch.testing.assert_close(found, (total - mean) / (variance + 1e-5).sqrt())
    padded = x.clone()
    padded[:, 2] = 99.0
    assert torch.equal(add_norm(padded, lambda given: said)[:, :2], found[:, :2])
    of_the_sequence = nn.LayerNorm([3, 4])
    assert not torch.allclose(of_the_sequence(padded + said)[:, :2], of_the_sequence(total)[:, :2])


BLOCK = Hyperparameters(
    hidden=24, heads=8, layers=2, ffn=48, dropout=0.5, pre_norm=False, tied=False
)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
def test_an_encoder_block_keeps_the_shape_and_is_torchs():
    """``EncoderBlock(24, ..., 24, 48, 8)`` on ``(2, 100, 24)`` with lengths 3 and 2."""
    mine = EncoderLayer(SCORINGS["scaled_dot"].factory(), BLOCK).eval()
    theirs = nn.TransformerEncoderLayer(24, 8, 48, 0.5, batch_first=True).eval()
    theirs.self_attn.in_proj_weight.data.copy_(mine.attention.projections.weight)
    theirs.self_attn.out_proj.load_state_dict(mine.attention.output.state_dict())
    theirs.linear1.load_state_dict(mine.feed_forward.rise.state_dict())
    theirs.linear2.load_state_dict(mine.feed_forward.fall.state_dict())
    padding = torch.arange(100) >= torch.tensor([[3], [2]])
    x = torch.randn(2, 100, 24)
    with torch.no_grad():
        found = mine(x, ~padding[:, None, None], Tap(), 0)
        # Gradients switched on, or torch takes a path of its own that leaves padding out.
    expected = theirs(x, src_key_padding_mask=padding).detach()
    assert found.shape == (2, 100, 24)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_the_transformers_weights_have_the_chapters_shapes():
    """Two layers of four heads over ten source tokens; six words are written."""
    values = {"hidden": 32, "heads": 4, "layers": 2, "ffn": 64, "dropout": 0.1}
    factory = SCORINGS["scaled_dot"].factory()
    model = TRANSFORMER.create(factory, ModelSizes(19, 13), values).eval()
    source, lengths = torch.randint(4, 19, (1, 10)), torch.tensor([4])
    target = torch.randint(4, 13, (1, 6))
    _, sites = force(model, source, lengths, target, by_steps=True)
    kinds = {
        kind: torch.cat([sites[Site(kind, layer)] for layer in (0, 1)])
        for kind in ("encoder", "decoder", "cross")
    }
    assert kinds["encoder"].shape == (2, 4, 10, 10)
    assert kinds["decoder"].shape == (2, 4, 6, 6)
    assert kinds["cross"].shape == (2, 4, 6, 10)
    assert not kinds["encoder"][..., 4:].any()
    assert not kinds["cross"][..., 4:].any()
    assert (kinds["decoder"].tril() == kinds["decoder"]).all()
    for weights in kinds.values():
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
    assert len({tuple(head.flatten().tolist()) for head in kinds["cross"].flatten(0, 1)}) == 8


def attention_by_hand(scores, values, lengths):
    """Weights of each query over its row's valid keys alone, with Python's numbers."""
    found = []
    for row, own, length in zip(scores.tolist(), values.tolist(), lengths, strict=True):
        found.append([])
        for query in row:
            parts = [math.exp(score) for score in query[:length]]
            found[-1].append([
                sum(part / sum(parts) * own[j][d] for j, part in enumerate(parts))
                for d in range(len(own[0]))
            ])  # fmt: skip
    return torch.tensor(found, dtype=values.dtype)


def test_attention_by_hand_is_the_chapters_example():
    values = torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    found = attention_by_hand(torch.zeros(2, 1, 10), values, [2, 6])
    assert found.tolist() == [[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]]


@pytest.mark.parametrize("name", ["additive", "mlp"])
def test_additive_attention_reads_its_valid_keys_alone(name):
    """Queries of 20 numbers, keys of 2, lengths 2 and 6: the chapter's lines, and its example."""
    scoring = SCORINGS[name].create(Sizes(20, 2, 8)).double()
    w_q, w_k, w_v = (parameter.detach() for parameter in scoring.parameters())
    queries, keys = torch.randn(2, 3, 20).double(), torch.randn(2, 10, 2).double()
    values = torch.randn(2, 10, 4).double()
    features = torch.tanh((queries @ w_q.T).unsqueeze(2) + (keys @ w_k.T).unsqueeze(1))
    scores = (features @ w_v.T).squeeze(-1)
    for lengths in ([2, 6], [10, 1]):
        found, _ = attend(scoring, queries, keys, values, torch.tensor(lengths))
        torch.testing.assert_close(found, attention_by_hand(scores, values, lengths))
    ones, counting = torch.ones(2, 10, 2).double(), torch.arange(40.0).reshape(1, 10, 4)
    found, _ = attend(
        scoring, queries[:, :1], ones, counting.repeat(2, 1, 1).double(), torch.tensor([2, 6])
    )
    expected = torch.tensor([[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]]).double()
    torch.testing.assert_close(found, expected)


def test_scaled_dot_product_attention_reads_its_valid_keys_alone():
    scoring = SCORINGS["scaled_dot"].create(Sizes(2, 2, 8))
    queries, keys, values = (torch.randn(2, n, d).double() for n, d in ((3, 2), (10, 2), (10, 4)))
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(2)
    for lengths in ([2, 6], [10, 1]):
        found, _ = attend(scoring, queries, keys, values, torch.tensor(lengths))
        torch.testing.assert_close(found, attention_by_hand(scores, values, lengths))
