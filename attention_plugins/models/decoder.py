"""One stack of self-attention over source and target in a row, with any scoring function.

In the decoder every word sees itself and those before it: a language model. In the prefix language
model source words see each other; target words see the source and the target words before them: it
continues a prefix.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attention_plugins.attention import as_mask, needs_memory
from attention_plugins.beside import row
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringFactory, as_record
from attention_plugins.models.losses import WordByWord, shifted
from attention_plugins.models.parts import Stack, grown, placed
from attention_plugins.models.protocols import State, Values
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.models.transformer_layers import (
    EncoderLayer,
    Hyperparameters,
    initialise,
    keep,
    kept_in,
    positions_in,
)
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

    def __init__(self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
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
        initialise(self, self.output, (self.source_embedding, self.target_embedding), known.tied)

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
        return self.output(features[:, -1]).log_softmax(dim=-1), {**state, "target": target}

    def forced(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What ``output`` reads before each word of ``target (B, m)``, ``(B, m, h)``."""
        return self._read(shifted(source), lengths, target[:, :-1], tap)

    def _read(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What was made of the source's last word and of the target's, ``(B, 1 + m, h)``.

        Of ``source (B, n)`` of ``lengths (B,)`` and ``target (B, m)``, with no padding between.
        """
        rate = self.rate if self.training else 0.0
        words = torch.arange(source.shape[1] + target.shape[1], device=source.device)
        places = lengths[:, None] + words[: target.shape[1]]  # (B, m)
        before = placed(self.source_embedding, source, words[: source.shape[1]], rate)
        inputs = grown(before, placed(self.target_embedding, target, places, rate), places)
        causal = words <= words[:, None]  # padding comes after all words of its row
        for number, layer in enumerate(self.layers):
            inputs = layer(inputs, causal, tap, Site("decoder", number))
        return self.norm(_rows(inputs, torch.cat([lengths[:, None] - 1, places], dim=1)))


def _rows(tensor: Tensor, places: Tensor) -> Tensor:
    """``(B, k, ...)``: of each row of ``tensor (B, n, ...)`` those at ``places (B, k)``."""
    return tensor[torch.arange(len(tensor), device=tensor.device)[:, None], places]


DECODER = ModelSpec(build=Decoder, **row(__file__, "decoder", *TRANSFORMER.parameters))


class PrefixLM(WordByWord):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`.

    Source rows attend at ``Site("encoder", layer)``, target rows at ``Site("cross", layer)``,
    where keys are the source and then ``<bos>`` and the target. Nothing reads what the last
    layer makes of the source: it gives keys and values alone.

    Embeddings are placed by the row's own length: the target goes on where the source ends. A
    scoring that needs positions is given each part's own, from 0, as sentences of a batch end at
    different places; two words of the target are then as far apart as they stand.

    A scoring that needs memory may read the weights of a key's neighbours: for these the target's
    keys follow each source without padding in between. The columns of its maps then do too, which
    makes a difference in batches of unequal lengths only.
    """

    def __init__(self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
        super().__init__()
        known = as_record(Hyperparameters, values)
        self.rate = known.dropout
        self.source_embedding = nn.Embedding(sizes.source, known.hidden)
        self.target_embedding = nn.Embedding(sizes.target, known.hidden)
        self.layers: Stack[EncoderLayer] = known.stack(
            lambda: EncoderLayer(make_scoring, known, "decoder")
        )
        self.norm = known.last_norm()
        self.output = nn.Linear(known.hidden, sizes.target)
        initialise(self, self.output, (self.source_embedding, self.target_embedding), known.tied)
        self.joined = needs_memory(self.layers)

    def axes(self, site: Site) -> Axes:
        """What a site's rows and columns stand for."""
        if site.kind == "cross":
            return Axes(("target",), ("source", "target"))
        return Axes(("source",), ("source",))

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Read the sentences; every layer's keys and values of them are made here, once."""
        words = source.shape[1]
        mask = as_mask(source_lengths, torch.Size((len(source), 1, 1, words)))  # (B, 1, 1, n)
        places = torch.arange(words, device=source.device)
        inputs = self._embed(self.source_embedding, source, places)
        state = {
            "source": mask[:, 0, 0],  # (B, n): True on words
            # (B,): the first column of the target's keys
            "first": source_lengths if self.joined else torch.full_like(source_lengths, words),
        }
        *layers, last = self.layers
        for number, layer in enumerate(layers):

            def look(x: Tensor, number: int = number, layer: EncoderLayer = layer) -> Tensor:
                asked, kept = layer.attention.read(x)
                keep(state, _row(number), kept)
                return layer.attention.attend(tap, Site("encoder", number), asked, kept, mask)

            inputs = layer.around(inputs, look)
        keep(state, _row(len(layers)), last.attention.remember(last.before(inputs)))
        return state

    def write(self, tokens: Tensor, state: State, tap: Tap) -> tuple[Tensor, State]:
        """What the output layer reads after ``tokens (B, m)``, ``(B, m, size)``; the state."""
        source, new = state["source"], dict(state)
        before = positions_in(kept_in(state, _row(0))) - source.shape[1]
        count = torch.arange(before + tokens.shape[1], device=tokens.device)
        places, width = count[before:], source.shape[1] + len(count)
        into = state["first"][:, None] + places  # (B, m): the columns of the new keys
        columns = torch.arange(width, device=tokens.device)
        so_far = (columns >= state["first"][:, None, None]) & (columns <= into[..., None])
        mask = (pad(source, (0, len(count)))[:, None] | so_far)[:, None]  # (B, 1, m, width)
        stand = None if self.joined else torch.cat([columns[: source.shape[1]], count])
        lengths = source.sum(dim=1, keepdim=True)
        inputs = self._embed(self.target_embedding, tokens, lengths + places)
        for number, layer in enumerate(self.layers):

            def look(x: Tensor, number: int = number, layer: EncoderLayer = layer) -> Tensor:
                asked, added = layer.attention.read(x)
                rows = kept_in(state, _row(number))
                kept = {name: grown(rows[name], part, into) for name, part in added.items()}
                keep(new, _row(number), kept)
                return layer.attention.attend(tap, Site("cross", number), asked, kept, mask, stand)

            inputs = layer.around(inputs, look)
        return self.norm(inputs), new

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, places: Tensor) -> Tensor:
        return placed(embedding, tokens, places, self.rate if self.training else 0.0)


def _row(layer: int) -> Site:
    """Under which what a layer remembers of source and target lies in the state."""
    return Site("decoder", layer)


PREFIX_LM = ModelSpec(build=PrefixLM, **row(__file__, "prefix_lm", *TRANSFORMER.parameters))
