"""Luong's encoder-decoder, as a plugin of Attention Workbench.

Bahdanau's decoder looks with the state before a step. This one moves first and looks with the
new state; what it saw goes into the prediction, and into the next step (input feeding).
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_plugins import ModelSizes, ModelSpec, Parameter, Site, Sizes, Tap, hookimpl
from attention_plugins.attention import as_mask
from attention_plugins.contract import Scalar, ScoringFactory
from attention_plugins.models.protocols import Batch, State
from attention_plugins.text import BOS_ID

ATTENTION_CONTRACT = "1.0"

CROSS = Site("cross", 0)


class Luong(nn.Module):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`."""

    def __init__(
        self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Mapping[str, Scalar]
    ) -> None:
        super().__init__()
        embed, hidden = values["embed"], values["hidden"]
        self.rate, self.feeding = values["dropout"], values["input_feeding"]
        self.source_words = nn.Embedding(sizes.source, embed)
        self.encoder = nn.GRU(embed, hidden, batch_first=True)
        self.target_words = nn.Embedding(sizes.target, embed)
        self.decoder = nn.GRUCell(embed + hidden * self.feeding, hidden)
        self.scoring = make_scoring(Sizes(query=hidden, key=hidden, hidden=hidden))
        self.combine = nn.Linear(2 * hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, sizes.target)

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; the decoder starts from the encoder's last states."""
        words = dropout(self.source_words(source), self.rate, self.training)
        packed = pack_padded_sequence(
            words, source_lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        hidden = last[0]
        return {
            "hidden": hidden,  # (B, h)
            "seen": torch.zeros_like(hidden),  # (B, h): nothing yet
            "memory": memory,  # (B, n, h)
            "keys": self.scoring.project_keys(memory),  # (B, n, h or what the scoring makes)
            "mask": as_mask(source_lengths, torch.Size((len(source), 1, source.shape[1]))),
        }

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """Move, look, say: ``(B, vocabulary)`` log-probabilities, and the next state."""
        read = dropout(self.target_words(tokens), self.rate, self.training)
        if self.feeding:
            read = torch.cat([read, state["seen"]], dim=-1)
        hidden = self.decoder(read, state["hidden"])
        context = tap.attend(
            CROSS, self.scoring, hidden[:, None], state["keys"], state["memory"], state["mask"],
            keys_projected=True,
        )[:, 0]  # fmt: skip
        seen = torch.tanh(self.combine(torch.cat([context, hidden], dim=-1)))
        logits = self.output(dropout(seen, self.rate, self.training))
        return logits.log_softmax(dim=-1), {**state, "hidden": hidden, "seen": seen}

    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy in nats per target token, with the right words forced."""
        tap = Tap()
        state = self.start(batch.source, batch.source_lengths, tap)
        begin = torch.full_like(batch.target[:, :1], BOS_ID)
        columns = []
        for tokens in torch.cat([begin, batch.target[:, :-1]], dim=1).unbind(dim=1):
            said, state = self.step(state, tokens, tap)
            columns.append(said)
        places = torch.arange(batch.target.shape[1], device=batch.target.device)
        counts = places < batch.target_lengths[:, None]  # (B, m)
        said = torch.stack(columns, dim=1)[counts]  # (tokens, vocabulary)
        return cross_entropy(said, batch.target[counts], label_smoothing=label_smoothing)


LUONG = ModelSpec(
    name="luong_gru",
    title="Luong encoder–decoder (GRU)",
    task="translation",
    build=Luong,
    parameters=(
        Parameter(name="embed", title="Embedding size", default=32, low=2, high=1024, step=2),
        Parameter(name="hidden", title="Hidden size", default=32, low=2, high=1024, step=2),
        Parameter(name="dropout", title="Dropout", default=0.1, low=0.0, high=0.9, step=0.05),
        Parameter(
            name="input_feeding", title="Input feeding", default=True,
            help="Each step reads what the last one saw.",
        ),
    ),
    reference="Luong, Pham & Manning 2015, Effective approaches to attention-based neural "
    "machine translation",
    description="A GRU decoder whose new state asks the encoder's states what it should have "
    "seen.",
)  # fmt: skip


@hookimpl
def attention_models():
    """The one model."""
    yield LUONG
