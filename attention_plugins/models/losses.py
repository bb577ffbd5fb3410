"""What translation models minimise, and how they force the words of a target."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from attention_plugins.models.protocols import Batch, State
from attention_plugins.randomness import pooled_draws
from attention_plugins.tap import Tap
from attention_plugins.text import BOS_ID

# Logits that exist at once: about what a core's cache holds, but of no fewer tokens than these:
# of a large vocabulary the matrix would be read from memory for every few of them.
_CHUNK, _FEWEST = 1 << 17, 128


def valid_positions(lengths: Tensor, longest: int) -> Tensor:
    """``(B, longest)``, True on the first ``lengths`` positions of each row."""
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


def shifted(target: Tensor) -> Tensor:
    """What a decoder reads when ``target (B, m)`` is forced: ``<bos>``, then all but the last."""
    return torch.cat([torch.full_like(target[:, :1], BOS_ID), target[:, :-1]], dim=1)


class WordByWord(nn.Module):
    """A :class:`~attention_plugins.models.protocols.TranslationModel` by its two ways to read.

    All words of a target at once are written as one after the other is: the same :meth:`write`
    serves the loss, forced targets and steps.
    """

    output: nn.Linear

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode ``source (B, n)`` with valid lengths ``(B,)``; the state before all words."""
        raise NotImplementedError

    def write(self, tokens: Tensor, state: State, tap: Tap) -> tuple[Tensor, State]:
        """What ``output`` reads after each of ``tokens (B, m)``, ``(B, m, h)``; the new state."""
        raise NotImplementedError

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """One word further: ``(B, vocabulary)`` log-probabilities, and the next state."""
        features, new = self.write(tokens[:, None], state, tap)
        return self.output(features[:, 0]).log_softmax(dim=-1), new

    def forced(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What ``output`` reads before each word of ``target (B, m)``, ``(B, m, h)``."""
        return self.write(shifted(target), self.start(source, lengths, tap), tap)[0]

    @pooled_draws()
    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy in nats per target token, with the right words forced."""
        features = self.forced(batch.source, batch.source_lengths, batch.target, Tap())
        return target_loss(features, self.output, batch, label_smoothing)

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Of all words of ``target (B, m)`` at once, ``(B, m)``."""
        features = self.forced(source, source_lengths, target, tap)
        return target_log_probabilities(features, self.output, target)


def target_loss(
    features: Tensor, output: nn.Linear, batch: Batch, label_smoothing: float = 0.0
) -> Tensor:
    """Mean cross-entropy in nats per target token; padding does not count.

    ``features``: ``(B, m, h)``, what the layer ``output`` reads before each target word.
    """
    counts = valid_positions(batch.target_lengths, batch.target.shape[1])  # (B, m)
    return projected_cross_entropy(
        features[counts], output.weight, output.bias, batch.target[counts], label_smoothing
    )


def target_log_probabilities(features: Tensor, output: nn.Linear, target: Tensor) -> Tensor:
    """Log-probabilities of the words ``target (B, m)``, ``(B, m)``; those of padding too.

    ``features``: ``(B, m, h)``, what the layer ``output`` reads before each word.
    """
    chunk = max(1, _CHUNK // output.out_features)
    found = [
        logits.gather(1, words[:, None])[:, 0] - logits.logsumexp(dim=-1)
        for rows, words in zip(
            features.flatten(0, 1).split(chunk), target.flatten().split(chunk), strict=True
        )
        for logits in [output(rows)]
    ]
    return torch.cat(found).view_as(target)


def projected_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor,
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Mean cross-entropy of ``features @ weight.T + bias`` against ``target``, in nats.

    The logits of all tokens never exist at once: each chunk's become gradients while in cache.
    Equal to :func:`torch.nn.functional.cross_entropy`, at about half the time on a CPU.

    Args:
        features: ``(tokens, h)``.
        weight, bias: ``(vocabulary, h)`` and ``(vocabulary,)``, None for none.
        target: ``(tokens,)`` ids.
        label_smoothing: share of the target probability spread over the whole vocabulary.
    """
    if not torch.is_grad_enabled():
        return cross_entropy(
            linear(features, weight, bias), target, label_smoothing=label_smoothing
        )
    return _ProjectedCrossEntropy.apply(features, weight, bias, target, label_smoothing)


class _ProjectedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor,
        smoothing: float,
    ) -> Tensor:  # fmt: skip
        n, words = len(features), len(weight)
        chunk = max(_FEWEST, _CHUNK // words) if features.device.type == "cpu" else max(n, 1)
        total = features.new_zeros(())
        d_features, d_weight = torch.empty_like(features), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        for start in range(0, n, chunk):
            part = slice(start, start + chunk)
            rows, picked = features[part], target[part, None]
            logits = linear(rows, weight, bias)  # (chunk, words)
            total -= (1 - smoothing) * logits.gather(1, picked).sum()
            if smoothing:
                total -= smoothing / words * logits.sum()
            largest = logits.amax(dim=-1, keepdim=True)
            d_logits = logits.sub_(largest).exp_()
            sums = d_logits.sum(dim=-1, keepdim=True)
            total += largest.sum() + sums.log().sum()
            d_logits.div_(sums)  # the probabilities
            if smoothing:
                d_logits.sub_(smoothing / words)
            rest = torch.full_like(picked, smoothing - 1, dtype=d_logits.dtype)
            d_logits.scatter_add_(1, picked, rest)
            torch.mm(d_logits, weight, out=d_features[part])
            d_weight.addmm_(d_logits.T, rows)
            if d_bias is not None:
                d_bias += d_logits.sum(dim=0)
        ctx.save_for_backward(
            d_features.div_(n), d_weight.div_(n), None if d_bias is None else d_bias.div_(n)
        )
        return total / n

    @staticmethod
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor | None, ...]:
        return *(None if made is None else made * d_loss for made in ctx.saved_tensors), None, None
