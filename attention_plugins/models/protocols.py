"""What the modules that a :class:`~attention_plugins.contract.ModelSpec` builds must offer."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from attention_plugins.tap import Tap

State = dict[str, Tensor]


class RegressionModel(Protocol):
    """Predicts values at queries by attending to training points."""

    def __call__(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at queries ``(m, d)`` from keys ``(n, d)`` and values ``(n,)``.

        ``mask`` is boolean, ``(m, n)``, True where a query may see a key; or None.
        """


class EncodingModel(Protocol):
    """Makes of every item of a sequence one that has seen the others."""

    def __call__(self, sequence: Tensor, lengths: Tensor, tap: Tap) -> Tensor:
        """``sequence (B, n, d)`` of valid lengths ``(B,)`` to ``(B, n, h)``.

        What lies beyond a sequence's length must not change what comes of the items before it.
        """


class Batch(NamedTuple):
    """Sentence pairs as padded token ids.

    ``source (B, n)``, ``source_lengths (B,)``, ``target (B, m)``, ``target_lengths (B,)``. Both
    sides end in ``<eos>`` and hold no ``<bos>``; lengths count ``<eos>``.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor


class TranslationModel(Protocol):
    """An encoder-decoder. Greedy, beam, forced targets and recording come from ``decoding``.

    A state is a dict of tensors with the batch first, so that rows can be picked and repeated.
    It must hold everything that a step needs: the module itself keeps nothing.
    """

    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy over the batch's target tokens, in nats; padding does not count."""

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode ``source (B, n)`` with valid lengths ``(B,)``; the state before all steps."""

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """One step for every row.

        Args:
            state: what :meth:`start` or the last step gave.
            tokens: the last target token of each row, ``(B,)``; ``<bos>`` at first.

        Returns:
            Log-probabilities of the next token ``(B, vocabulary)`` and the next state.
        """
