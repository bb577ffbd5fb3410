"""The models, the training and the prediction of d2l.ai, chapter 10, as its code computes them.

Written anew, eager and without shortcuts: what the benchmarks are compared with. Sections are
named at each part. Masked scores are -1e6, as in section 10.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from attention_plugins.models.parts import Stack
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID

STEPS = 10  # tokens to which every sentence is padded or cut


def sequence_mask(scores: Tensor, lengths: Tensor, value: float = 0) -> Tensor:
    """Section 9.7: overwrites what lies behind each row's length."""
    places = torch.arange(scores.shape[1], dtype=torch.float32)[None, :]
    scores[~(places < lengths[:, None])] = value
    return scores


def masked_softmax(scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Section 10.3: ``(B, n_q, n_k)``, with lengths ``(B,)`` or ``(B, n_q)``."""
    if lengths is None:
        return scores.softmax(dim=-1)
    shape = scores.shape
    if lengths.dim() == 1:
        lengths = torch.repeat_interleave(lengths, shape[1])
    else:
        lengths = lengths.reshape(-1)
    masked = sequence_mask(scores.reshape(-1, shape[-1]), lengths, value=-1e6)
    return masked.reshape(shape).softmax(dim=-1)


class AdditiveAttention(nn.Module):
    """Section 10.3."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.W_k, self.W_q = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.w_v = nn.Linear(size, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, lengths: Tensor | None
    ) -> Tensor:
        queries, keys = self.W_q(queries), self.W_k(keys)
        features = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(features).squeeze(-1), lengths)
        return torch.bmm(self.dropout(self.attention_weights), values)


class DotProductAttention(nn.Module):
    """Section 10.3."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, lengths: Tensor | None
    ) -> Tensor:
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, lengths)
        return torch.bmm(self.dropout(self.attention_weights), values)


class MultiHeadAttention(nn.Module):
    """Section 10.5: heads lie along the batch."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.attention = heads, DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(size, size, bias=False) for _ in range(4)
        )

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, lengths: Tensor | None
    ) -> Tensor:
        queries = self._split(self.W_q(queries))
        keys, values = self._split(self.W_k(keys)), self._split(self.W_v(values))
        if lengths is not None:
            lengths = torch.repeat_interleave(lengths, self.heads, dim=0)
        output = self.attention(queries, keys, values, lengths)
        output = output.reshape(-1, self.heads, *output.shape[1:]).permute(0, 2, 1, 3)
        return self.W_o(output.reshape(output.shape[0], output.shape[1], -1))

    def _split(self, tensor: Tensor) -> Tensor:
        tensor = tensor.reshape(*tensor.shape[:2], self.heads, -1).permute(0, 2, 1, 3)
        return tensor.reshape(-1, tensor.shape[2], tensor.shape[3])


class RecurrentEncoder(nn.Module):
    """Section 9.7, ``Seq2SeqEncoder``: padding is read like words."""

    def __init__(self, words: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, size)
        self.rnn = nn.GRU(size, size, layers, dropout=dropout)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        return self.rnn(self.embedding(tokens).permute(1, 0, 2))


class AttentionDecoder(nn.Module):
    """Section 10.4, ``Seq2SeqAttentionDecoder``: keys are projected at every step."""

    def __init__(self, words: int, size: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.attention = AdditiveAttention(size, dropout)
        self.embedding = nn.Embedding(words, size)
        self.rnn = nn.GRU(2 * size, size, layers, dropout=dropout)
        self.dense = nn.Linear(size, words)

    def init_state(self, encoded: tuple[Tensor, Tensor], lengths: Tensor) -> list:
        outputs, hidden = encoded
        return [outputs.permute(1, 0, 2), hidden, lengths]

    def forward(self, tokens: Tensor, state: list) -> tuple[Tensor, list]:
        memory, hidden, lengths = state
        outputs, self.attention_weights = [], []
        for x in self.embedding(tokens).permute(1, 0, 2):
            query = torch.unsqueeze(hidden[-1], dim=1)
            context = self.attention(query, memory, memory, lengths)
            read = torch.cat((context, torch.unsqueeze(x, dim=1)), dim=-1)
            out, hidden = self.rnn(read.permute(1, 0, 2), hidden)
            outputs.append(out)
            self.attention_weights.append(self.attention.attention_weights)
        return self.dense(torch.cat(outputs, dim=0)).permute(1, 0, 2), [memory, hidden, lengths]


class PositionalEncoding(nn.Module):
    """Section 10.6."""

    def __init__(self, size: int, dropout: float, longest: int = 1000) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        powers = torch.arange(0, size, 2, dtype=torch.float32) / size
        places = torch.arange(longest, dtype=torch.float32).reshape(-1, 1)
        angles = places / torch.pow(10000, powers)
        self.P = torch.zeros((1, longest, size))
        self.P[:, :, 0::2], self.P[:, :, 1::2] = torch.sin(angles), torch.cos(angles)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.P[:, : x.shape[1], :].to(x.device))


class AddNorm(nn.Module):
    """Section 10.7."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.dropout, self.ln = nn.Dropout(dropout), nn.LayerNorm(size)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.ln(self.dropout(y) + x)


class EncoderBlock(nn.Module):
    """Section 10.7."""

    def __init__(self, size: int, inner: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(size, heads, dropout)
        self.addnorm1, self.addnorm2 = (AddNorm(size, dropout) for _ in range(2))
        self.ffn = nn.Sequential(nn.Linear(size, inner), nn.ReLU(), nn.Linear(inner, size))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        y = self.addnorm1(x, self.attention(x, x, x, lengths))
        return self.addnorm2(y, self.ffn(y))


class DecoderBlock(nn.Module):
    """Section 10.7: keeps the inputs so far, and projects all of them anew at every step."""

    def __init__(self, size: int, inner: int, heads: int, dropout: float, number: int) -> None:
        super().__init__()
        self.number = number
        self.attention1, self.attention2 = (
            MultiHeadAttention(size, heads, dropout) for _ in range(2)
        )
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(size, dropout) for _ in range(3))
        self.ffn = nn.Sequential(nn.Linear(size, inner), nn.ReLU(), nn.Linear(inner, size))

    def forward(self, x: Tensor, state: list) -> tuple[Tensor, list]:
        memory, lengths, so_far = state
        before = so_far[self.number]
        so_far[self.number] = seen = x if before is None else torch.cat((before, x), dim=1)
        causal = None
        if self.training:
            causal = torch.arange(1, x.shape[1] + 1).repeat(x.shape[0], 1)
        y = self.addnorm1(x, self.attention1(x, seen, seen, causal))
        z = self.addnorm2(y, self.attention2(y, memory, memory, lengths))
        return self.addnorm3(z, self.ffn(z)), state


class TransformerEncoder(nn.Module):
    """Section 10.7."""

    def __init__(
        self, words: int, size: int, inner: int, heads: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.size, self.embedding = size, nn.Embedding(words, size)
        self.pos_encoding = PositionalEncoding(size, dropout)
        self.blks = Stack(EncoderBlock(size, inner, heads, dropout) for _ in range(layers))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        x = self.pos_encoding(self.embedding(tokens) * math.sqrt(self.size))
        self.attention_weights = []
        for block in self.blks:
            x = block(x, lengths)
            self.attention_weights.append(block.attention.attention.attention_weights)
        return x


class TransformerDecoder(nn.Module):
    """Section 10.7."""

    def __init__(
        self, words: int, size: int, inner: int, heads: int, layers: int, dropout: float
    ) -> None:
        super().__init__()
        self.size, self.embedding = size, nn.Embedding(words, size)
        self.pos_encoding = PositionalEncoding(size, dropout)
        self.blks = Stack(
            DecoderBlock(size, inner, heads, dropout, number) for number in range(layers)
        )
        self.dense = nn.Linear(size, words)

    def init_state(self, encoded: Tensor, lengths: Tensor) -> list:
        return [encoded, lengths, [None] * len(self.blks)]

    def forward(self, tokens: Tensor, state: list) -> tuple[Tensor, list]:
        x = self.pos_encoding(self.embedding(tokens) * math.sqrt(self.size))
        self.attention_weights = []
        for block in self.blks:
            x, state = block(x, state)
            self.attention_weights.append(
                [part.attention.attention_weights for part in (block.attention1, block.attention2)]
            )
        return self.dense(x), state


class EncoderDecoder(nn.Module):
    """Section 9.6."""

    def __init__(self, encoder: nn.Module, decoder: AttentionDecoder | TransformerDecoder) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, source: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
        state = self.decoder.init_state(self.encoder(source, lengths), lengths)
        return self.decoder(target, state)[0]


def bahdanau(words: tuple[int, int], size: int) -> EncoderDecoder:
    """Section 10.4's model for vocabularies of source and target."""
    read, written = words
    layers, dropout = 2, 0.1
    return EncoderDecoder(
        RecurrentEncoder(read, size, layers, dropout),
        AttentionDecoder(written, size, layers, dropout),
    )


def transformer(words: tuple[int, int], size: int) -> EncoderDecoder:
    """Section 10.7's model; its inner size is twice the hidden size."""
    shape = {"size": size, "inner": 2 * size, "heads": 4, "layers": 2, "dropout": 0.1}
    return EncoderDecoder(
        TransformerEncoder(words[0], **shape), TransformerDecoder(words[1], **shape)
    )


def padded(sentences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Section 9.5, ``build_array_nmt``: ``(B, STEPS)`` and lengths."""
    rows = [[*ids[:STEPS], *[PAD_ID] * (STEPS - len(ids))] for ids in sentences]
    array = torch.tensor(rows)
    return array, (array != PAD_ID).type(torch.int32).sum(1)


class Training:
    """Section 9.7, ``train_seq2seq``, an epoch at a time."""

    def __init__(
        self, net: EncoderDecoder, source: Sequence[Sequence[int]], target: Sequence[Sequence[int]]
    ) -> None:
        self.net = net.train()
        self.net.apply(_initialise)
        self.data = TensorDataset(*padded(source), *padded(target))
        self.optimizer = torch.optim.Adam(net.parameters(), lr=0.005)

    def epoch(self, batches: Iterable[list[int]]) -> float:
        """Learn the batches, given as numbers of sentences; nats per target token."""
        loss, tokens = 0.0, 0.0
        for source, source_lengths, target, lengths in DataLoader(
            self.data,
            batch_sampler=batches,  # pyright: ignore[reportArgumentType]
        ):
            self.optimizer.zero_grad()
            bos = torch.tensor([BOS_ID] * target.shape[0]).reshape(-1, 1)
            given = torch.cat([bos, target[:, :-1]], 1)
            found = masked_cross_entropy(self.net(source, given, source_lengths), target, lengths)
            found.sum().backward()
            clip(self.net, 1)
            count = lengths.sum()
            self.optimizer.step()
            with torch.no_grad():
                loss, tokens = loss + float(found.sum()), tokens + float(count)
        return STEPS * loss / tokens


def _initialise(module: nn.Module) -> None:
    if type(module) is nn.Linear:
        nn.init.xavier_uniform_(module.weight)
    if type(module) is nn.GRU:
        for name, parameter in module.named_parameters():
            if "weight" in name:
                nn.init.xavier_uniform_(parameter)


def masked_cross_entropy(logits: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    """Section 9.7, ``MaskedSoftmaxCELoss``: the mean over all steps, ``(B,)``."""
    weights = sequence_mask(torch.ones_like(target), lengths)
    found = cross_entropy(logits.permute(0, 2, 1), target, reduction="none")
    return (found * weights).mean(dim=1)


def clip(net: nn.Module, most: float) -> None:
    """Section 8.5, ``grad_clipping``."""
    gradients = [p.grad for p in net.parameters() if p.grad is not None]
    norm = torch.sqrt(sum((torch.sum(g**2) for g in gradients), torch.tensor(0.0)))
    if norm > most:
        for gradient in gradients:
            gradient[:] *= most / norm


def predict(net: EncoderDecoder, source: Sequence[int]) -> list[int]:
    """Section 9.7, ``predict_seq2seq``: one sentence, greedily, with gradients."""
    net.eval()
    tokens, length = padded([source])
    state = net.decoder.init_state(net.encoder(tokens, length), length)
    word, words = torch.tensor([[BOS_ID]]), []
    for _ in range(STEPS):
        scores, state = net.decoder(word, state)
        word = scores.argmax(dim=2)
        picked = word.squeeze(dim=0).type(torch.int32).item()
        if picked == EOS_ID:
            break
        words.append(int(picked))
    return words
