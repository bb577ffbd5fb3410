"""One stack of causal self-attention: a language model, with any scoring function."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import ModelSizes, ModelSpec, Scalar, ScoringFactory, as_record
from attention_plugins.models.losses import WordByWord, shifted
from attention_plugins.models.parts import Stack, grown, placed
from attention_plugins.models.protocols import State
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.models.transformer_layers import EncoderLayer, Hyperparameters, initialise
from attention_plugins.record import TEXT, Axes
from attention_plugins.tap import Recorder, Site, Tap


class Decoder(WordByWord):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`.

    It reads ``<bos>``, the source without its ``<eos>``, then the target, each word from where
    the last one stands. Every word sees itself and those before it, at ``Site("decoder", layer)``.
    Source and target share their embedding where they share their vocabulary.

    A row follows its own source without padding in between. Each step reads the whole row again:
    the words of a batch stand at different places, which neither positions nor memory could tell
    apart, and a short text costs hardly more than its last word.
    """

    def __init__(
        self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Mapping[str, Scalar]
    ) -> None:
        super().__init__()
        known = as_record(Hyperparameters, values)
        self.rate = known.dropout
        self.target_embedding = nn.Embedding(sizes.target, known.hidden)
        self.source_embedding = self.target_embedding
        if sizes.copies != (*range(sizes.target),):
            self.source_embedding = nn.Embedding(sizes.source, known.hidden)
        self.layers: Stack[EncoderLayer] = known.stack(
            lambda: EncoderLayer(make_scoring, known, "decoder")
        )
        self.norm = known.last_norm()
        self.output = nn.Linear(known.hidden, sizes.target)
        embeddings = self.source_embedding, self.target_embedding
        initialise(self, self.output, embeddings, known.tied)

    def axes(self, site: Site) -> Axes:
        """Rows and columns are the same words, in their order."""
        return Axes((TEXT,), (TEXT,))

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """The words that are to be continued, ``<bos>`` first; nothing is computed yet."""
        return {"source": shifted(source), "lengths": source_lengths}

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """One word further: ``(B, vocabulary)`` log-probabilities, and the next state.

        The first token is ``<bos>``, which opens the source already.
        """
        first = "target" not in state
        before = tokens.new_empty(len(tokens), 0) if first else state["target"]
        target = before if first else torch.cat([before, tokens[:, None]], dim=1)
        recorder, again = tap.recorder, tap.anew(tap.recorder and Recorder())
        features = self._read(state["source"], state["lengths"], target, again)
        if recorder and again.recorder:
            newest = state["lengths"][:, None] + target.shape[1] - 1
            for site, found in again.recorder.weights().items():
                row = found if first else _rows(found.movedim(2, 1), newest).movedim(1, 2)
                recorder.add(site, row)
        said = self.output(features[:, -1]).log_softmax(dim=-1)
        return said, {**state, "target": target}

    def forced(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What ``output`` reads before each word of ``target (B, m)``, ``(B, m, h)``."""
        return self._read(shifted(source), lengths, target[:, :-1], tap)

    def _read(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What was made of the source's last word and of the target's, ``(B, 1 + m, h)``.

        Of ``source (B, n)`` of ``lengths (B,)`` and ``target (B, m)``, where nothing is padded
        between the two.
        """
        rate = self.rate if self.training else 0.0
        words = torch.arange(source.shape[1] + target.shape[1], device=source.device)
        places = lengths[:, None] + words[: target.shape[1]]  # (B, m)
        before = placed(self.source_embedding, source, words[: source.shape[1]], rate)
        after = placed(self.target_embedding, target, places, rate)
        inputs = grown(before, after, places)
        causal = words <= words[:, None]  # padding comes after all words of its row
        for number, layer in enumerate(self.layers):
            inputs = layer(inputs, causal, tap, Site("decoder", number))
        last = torch.cat([lengths[:, None] - 1, places], dim=1)
        return self.norm(_rows(inputs, last))


def _rows(tensor: Tensor, places: Tensor) -> Tensor:
    """``(B, k, ...)``: of each row of ``tensor (B, n, ...)`` those at ``places (B, k)``."""
    return tensor[torch.arange(len(tensor), device=tensor.device)[:, None], places]


DECODER = ModelSpec(
    build=Decoder,
    parameters=TRANSFORMER.parameters,
    **row(__file__, "decoder"),
)
