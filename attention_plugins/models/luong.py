"""Luong's encoder-decoder, attending with any scoring function.

The decoder moves first and looks then, with its new state ``h``: the attentional vector
``tanh(W [c; h])`` of that state and the context ``c`` predicts the word, and is read by the next
step beside the word (input feeding), so that a step knows what earlier ones looked at.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_plugins import contract
from attention_plugins.attention import as_mask
from attention_plugins.beside import row
from attention_plugins.models.losses import WordByWord
from attention_plugins.models.protocols import State
from attention_plugins.randomness import dropout
from attention_plugins.tap import Site, Tap

CROSS = Site("cross", 0)
_CELLS: dict[str, type[nn.GRU | nn.LSTM]] = {"gru": nn.GRU, "lstm": nn.LSTM}


class Hyperparameters(NamedTuple):
    """The model's parameters; see :data:`LUONG`."""

    embed: int
    hidden: int
    layers: int
    dropout: float
    cell: str
    input_feeding: bool


class Luong(WordByWord):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`."""

    def __init__(
        self, make_scoring: contract.ScoringFactory, sizes: contract.ModelSizes,
        values: Mapping[str, contract.Scalar],
    ) -> None:  # fmt: skip
        super().__init__()
        known = contract.as_record(Hyperparameters, values)
        embed, hidden, self.rate = known.embed, known.hidden, known.dropout
        self.feeding = known.input_feeding
        between = known.dropout if known.layers > 1 else 0.0  # torch warns where there is none
        options = {"num_layers": known.layers, "batch_first": True, "dropout": between}
        self.source_embedding = nn.Embedding(sizes.source, embed)
        self.encoder = _CELLS[known.cell](embed, hidden, **options)
        self.target_embedding = nn.Embedding(sizes.target, embed)
        self.decoder = _CELLS[known.cell](embed + hidden * self.feeding, hidden, **options)
        self.scoring = make_scoring(contract.Sizes(
            query=hidden, key=hidden, hidden=hidden, value=hidden, kind="cross"
        ))  # fmt: skip
        self.combine = nn.Linear(2 * hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, sizes.target)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and "embedding" not in name and "scoring" not in name:
                nn.init.xavier_uniform_(parameter)

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; the decoder's layers begin as the encoder's ended."""
        words = dropout(self.source_embedding(source), self.rate, self.training)
        packed = pack_padded_sequence(
            words, source_lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return {
            "memory": memory,  # (B, n, h)
            "keys": self.scoring.project_keys(memory),  # (B, n, h or what the scoring makes)
            "mask": as_mask(source_lengths, torch.Size((len(source), 1, source.shape[1]))),
            "seen": torch.zeros_like(memory[:, 0]),  # (B, h): nothing yet
            **_kept(last),
        }

    def write(self, tokens: Tensor, state: State, tap: Tap) -> tuple[Tensor, State]:
        """What the output layer reads after ``tokens (B, m)``, ``(B, m, h)``; the state."""
        words = dropout(self.target_embedding(tokens), self.rate, self.training)
        seen = []
        for word in words.unbind(dim=1):  # (B, embed)
            read = torch.cat([word, state["seen"]], dim=-1) if self.feeding else word
            moved, last = self.decoder(read[:, None], _resumed(state))  # (B, 1, h)
            context = tap.attend(
                CROSS, self.scoring, moved, state["keys"], state["memory"], state["mask"],
                keys_projected=True,
            )  # fmt: skip
            vector = torch.tanh(self.combine(torch.cat([context, moved], dim=-1)))[:, 0]
            seen.append(dropout(vector, self.rate, self.training))
            state = {**state, "seen": seen[-1], **_kept(last)}
        return torch.stack(seen, dim=1), state


def _kept(last: Tensor | tuple[Tensor, Tensor]) -> State:
    """A GRU's states ``(layers, B, h)``, or an LSTM's with its cells, batch first."""
    if isinstance(last, Tensor):
        return {"hidden": last.transpose(0, 1)}
    hidden, cell = last
    return {"hidden": hidden.transpose(0, 1), "cell": cell.transpose(0, 1)}


def _resumed(state: State) -> Tensor | tuple[Tensor, Tensor]:
    hidden = state["hidden"].transpose(0, 1).contiguous()
    return (hidden, state["cell"].transpose(0, 1).contiguous()) if "cell" in state else hidden


LUONG = contract.ModelSpec(build=Luong, **row(__file__, "luong"))
