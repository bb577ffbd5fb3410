"""What the modules that a :class:`~attention_plugins.contract.ModelSpec` builds must offer."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol, Self, cast, runtime_checkable

import torch
from torch import Tensor, nn

from attention_plugins.contract import Scalar
from attention_plugins.tap import Tap

Values = Mapping[str, Scalar]  # of a model's parameters, by name
State = dict[str, Tensor]


class Module(Protocol):
    """What trainings and checkpoints ask of a model; every ``nn.Module`` has it."""

    training: bool

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """The weights."""
        ...

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, nn.Parameter]]:
        """The weights with their names."""
        ...

    def modules(self) -> Iterator[nn.Module]:
        """The model and all its parts."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """The weights and buffers by name."""
        ...

    def load_state_dict(self, state_dict: Mapping[str, Tensor], strict: bool = True) -> object:
        """Take over weights and buffers."""
        ...

    def train(self, mode: bool = True) -> Self:
        """Behave as in training."""
        ...

    def eval(self) -> Self:
        """Behave as in use."""
        ...

    def double(self) -> Self:
        """Hold weights and buffers in double precision, in place."""
        ...

    def to(self, device: torch.device) -> Self:
        """Move to a device, in place."""
        ...


class RegressionModel(Module, Protocol):
    """Predicts values at queries by attending to training points."""

    def __call__(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at queries ``(m, d)`` from keys ``(n, d)`` and values ``(n,)``.

        ``mask`` is boolean, ``(m, n)``, True where a query may see a key; or None.
        """
        ...


@runtime_checkable
class LeavesOneOut(Protocol):
    """A regression model that knows a faster way to leave out points than by a mask."""

    def leave_one_out(self, x: Tensor, y: Tensor, rows: Tensor) -> Tensor | None:
        """Predictions ``(r,)`` of the points numbered ``rows (r,)``, each from all but itself.

        Of training points ``x (n, d)``, ``y (n,)``; None where a mask is the way to go.
        """
        ...


@runtime_checkable
class PredictsTwice(Protocol):
    """A regression model that predicts points with and without themselves in one pass."""

    def work_of_a_pair(self, x: Tensor, y: Tensor) -> float:
        """What :meth:`with_and_without` costs for a row and a point.

        The unit is the cheapest pair of :data:`attention_plugins.regression.MOST_WORK`; 0 where
        the cost is linear in rows and points.
        """
        ...

    def with_and_without(self, x: Tensor, y: Tensor, rows: Tensor) -> tuple[Tensor, Tensor] | None:
        """Predictions ``(r,)`` of the points numbered ``rows (r,)``: from all, from all others.

        Of training points ``x (n, d)``, ``y (n,)``; None where two passes, one masked, do it.
        """
        ...


class EncodingModel(Module, Protocol):
    """Makes of every item of a sequence one that has seen the others."""

    def __call__(self, sequence: Tensor, lengths: Tensor, tap: Tap) -> Tensor:
        """``sequence (B, n, d)`` of valid lengths ``(B,)`` to ``(B, n, h)``.

        What lies beyond a sequence's length must not change what comes of the items before it.
        """
        ...


class _Tokens(NamedTuple):
    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor


class Batch(_Tokens):
    """Sentence pairs as padded token ids.

    ``source (B, n)``, ``source_lengths (B,)``, ``target (B, m)``, ``target_lengths (B,)``. Both
    sides end in ``<eos>`` and hold no ``<bos>``; lengths count ``<eos>``.

    ``alignment (B, m, n)``, boolean, is True where target token i stands for source token j by
    the corpus's sure gold links, and False at ``<eos>`` and padding. It is None where the corpus
    has no links, and where a loss is measured, not learned from.
    """

    alignment: Tensor | None = None  # no part of the tuple, which models of 1.0 unpack in four

    def __new__(
        cls, source: Tensor, source_lengths: Tensor, target: Tensor, target_lengths: Tensor,
        alignment: Tensor | None = None,
    ) -> Self:  # fmt: skip
        """The tuple of the first four, and the alignment."""
        made = super().__new__(cls, source, source_lengths, target, target_lengths)
        made.alignment = alignment
        return made


class StepModel(Module, Protocol):
    """What decoding needs: an encoder-decoder that writes one word at a time.

    A state is a dict of tensors with the batch first, so that rows can be picked and repeated.
    It must hold everything that a step needs: the module itself keeps nothing. What a step hands
    on as the very tensor that it was given is not reordered among a sentence's hypotheses.
    """

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode ``source (B, n)`` with valid lengths ``(B,)``; the state before all steps."""
        ...

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """One step for every row.

        Args:
            state: what :meth:`start` or the last step gave.
            tokens: the last target token of each row, ``(B,)``; ``<bos>`` at first.

        Returns:
            Log-probabilities of the next token ``(B, vocabulary)`` and the next state.
        """
        ...


@runtime_checkable
class ForcedModel(Protocol):
    """What a model may offer besides steps: all words of a target at once, which is faster.

    It must say and attend what steps would; forced targets are recorded by way of it.
    """

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Log-probabilities ``(B, m)`` of ``target (B, m)``, in evaluation mode.

        Args:
            source, source_lengths: ``(B, n)`` and ``(B,)``.
            target: ids, padded; those of padding have log-probabilities too.
            tap: at every site the queries are in the order of the steps, and where keys join word
                by word the mask keeps each query from those that come later.
        """
        ...


class TranslationModel(StepModel, Protocol):
    """An encoder-decoder. Greedy, beam, forced targets and recording come from ``decoding``."""

    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy over the batch's target tokens, in nats; padding does not count."""
        ...


def as_translation_model(model: nn.Module) -> TranslationModel:
    """The module that a spec of the task ``"translation"`` built, with its methods' types.

    Nothing is looked at: the conformance kit does that.
    """
    return cast("TranslationModel", model)
