"""A checkpoint at work: sentences in, translations with their maps out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from attention_plugins.checkpoints import Checkpoint
from attention_plugins.contract import ContractError
from attention_plugins.decoding import Decoded, beam, force, greedy
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Intervention, Site
from attention_plugins.text import (
    EOS_ID,
    TOKENISERS,
    Vocabulary,
    detokenise,
    pad,
)

MAX_BEAM = 16


@dataclass(frozen=True, kw_only=True)
class Translation:
    """One sentence's translation.

    ``tokens`` and ``source_tokens`` end in ``<eos>`` where the model wrote or read it;
    log-probabilities are in nats. ``maps`` is empty unless they were asked for.
    """

    text: str
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    source_tokens: tuple[str, ...]
    unknown: tuple[str, ...]
    target_unknown: tuple[str, ...] = ()
    maps: tuple[AttentionMap, ...] = field(default=())

    @property
    def log_probability(self) -> float:
        """Of all tokens together, in nats."""
        return sum(self.log_probabilities)


class Pair(NamedTuple):
    """One sentence and its translation as :func:`~attention_plugins.decoding.force` takes them.

    ``source (1, n)``, ``lengths (1,)``, ``target (1, m)``: ids with ``<eos>``.
    """

    source: Tensor
    lengths: Tensor
    target: Tensor


@dataclass(frozen=True)
class _Sentence:
    words: list[str]  # as the reader wrote them, with <eos>
    ids: list[int]


class Translator:
    """A model with its vocabularies; keeps nothing between calls, so users may share one.

    Args:
        checkpoint: the model to load.
        registry: where its scoring and model are looked up.
        device: where it computes.
    """

    def __init__(
        self, checkpoint: Checkpoint, registry: object, device: torch.device | str = "cpu"
    ) -> None:
        self.card = checkpoint.card
        self.summary = checkpoint.summary
        self.device = torch.device(device)
        self.model = checkpoint.build(registry).to(self.device)
        self.source_vocabulary, self.target_vocabulary = checkpoint.vocabularies
        self.max_tokens: int = self.card["max_tokens"]

    def translate(
        self,
        sentences: Sequence[str],
        *,
        width: int = 1,
        batch_size: int = 128,
        interventions: Sequence[Intervention] = (),
    ) -> list[str]:
        """The sentences' translations, in their order, decoded in batches of like length.

        Args:
            width: of the beam; 1 is greedy.

        Raises:
            ContractError: an empty or over-long sentence (named by its number), a bad width.
        """
        read = [self._read(s, f"sentence {n}") for n, s in enumerate(sentences, start=1)]
        order = sorted(range(len(read)), key=lambda i: len(read[i].ids))
        texts = [""] * len(read)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            decoded = self._decode([read[i] for i in rows], width, interventions)
            for row, result in zip(rows, decoded, strict=True):
                texts[row] = self._text(self.target_vocabulary.words(result.ids))
        return texts

    def explain(
        self,
        sentence: str,
        *,
        width: int = 1,
        target: str = "",
        interventions: Sequence[Intervention] = (),
    ) -> Translation:
        """One sentence's translation with the maps of every site.

        Args:
            target: words to force instead of searching.

        Raises:
            ContractError: an empty or over-long sentence or target, a bad width.
        """
        read, written = self._read_pair(sentence, target, width, interventions)
        pair = self._pair(read, written)
        scores, sites = force(self.model, *pair, interventions=interventions)
        return Translation(
            text=self._text(written.words),
            tokens=tuple(written.words),
            log_probabilities=tuple(scores[0].tolist()),
            source_tokens=tuple(read.words),
            unknown=_unknown(read, self.source_vocabulary),
            target_unknown=_unknown(written, self.target_vocabulary),
            maps=tuple(
                _map(site, weights, read.words, written.words, normalised=not interventions)
                for site, weights in sites.items()
            ),
        )

    def pair(self, sentence: str, target: str = "", *, width: int = 1) -> Pair:
        """The ids of a sentence and of ``target``, or its own translation; raises as explain."""
        return self._pair(*self._read_pair(sentence, target, width, ()))

    def look(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        batch_size: int = 128,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[dict[Site, Tensor]]:
        """Where the model looks while each pair's target is forced, pair by pair, in order.

        Yields:
            Every site's weights ``(heads, queries, keys)`` of one pair, without padding.

        Raises:
            ContractError: an empty or over-long sentence (named by its number).
        """
        for start in range(0, len(pairs), batch_size):
            part = list(enumerate(pairs[start : start + batch_size], start=start + 1))
            sources = [self._read(s, f"source {n}") for n, (s, _) in part]
            targets = [self._read(t, f"target {n}", self.target_vocabulary) for n, (_, t) in part]
            source, lengths = self._tensors(sources)
            target, _ = self._tensors(targets)
            _, sites = force(self.model, source, lengths, target, interventions=interventions)
            for row in range(len(part)):
                n, m = len(sources[row].ids), len(targets[row].ids)
                yield {site: _trim(site, weights[row], n, m) for site, weights in sites.items()}

    def reads(self, sentence: str) -> bool:
        """Whether the sentence is neither empty nor too long for this model."""
        return 0 < len(self._tokenise(sentence)) < self.max_tokens

    def _read_pair(
        self, sentence: str, target: str, width: int, interventions: Sequence[Intervention]
    ) -> tuple[_Sentence, _Sentence]:
        read = self._read(sentence, "the sentence")
        if target.strip():
            return read, self._read(target, "the target", self.target_vocabulary)
        ids = self._decode([read], width, interventions)[0].ids
        return read, _Sentence(self.target_vocabulary.words(ids), ids)

    def _pair(self, read: _Sentence, written: _Sentence) -> Pair:
        source, lengths = self._tensors([read])
        return Pair(source, lengths, torch.tensor([written.ids], device=self.device))

    def _tokenise(self, text: str) -> list[str]:
        return TOKENISERS[self.card["tokeniser"]](text)

    def _read(self, text: str, what: str, vocabulary: Vocabulary | None = None) -> _Sentence:
        words = self._tokenise(text)
        if not words:
            raise ContractError(f"need at least one word in {what}, got none")
        if len(words) >= self.max_tokens:
            raise ContractError(
                f"{what} has {len(words)} tokens; this model reads at most {self.max_tokens - 1}"
            )
        ids = (vocabulary or self.source_vocabulary).ids(words)
        return _Sentence([*words, "<eos>"], [*ids, EOS_ID])

    def _tensors(self, sentences: Sequence[_Sentence]) -> tuple[Tensor, Tensor]:
        rows = [sentence.ids for sentence in sentences]
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return torch.tensor(pad(rows), device=self.device), lengths

    def _decode(
        self, sentences: Sequence[_Sentence], width: int, interventions: Sequence[Intervention]
    ) -> list[Decoded]:
        if not 1 <= width <= MAX_BEAM:
            raise ContractError(f"need 1 <= beam <= {MAX_BEAM}, got {width}")
        source, lengths = self._tensors(sentences)
        options = {"limit": self.max_tokens, "interventions": interventions}
        if width == 1:
            return greedy(self.model, source, lengths, **options)
        return [best[0] for best in beam(self.model, source, lengths, width=width, **options)]

    def _text(self, tokens: Sequence[str]) -> str:
        return detokenise((t for t in tokens if t != "<eos>"), french=True)


def _unknown(sentence: _Sentence, vocabulary: Vocabulary) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in sentence.words if word not in vocabulary))


def _heads_first(weights: Tensor) -> Tensor:
    """``(queries, keys)`` of a model without heads as one head."""
    return weights if weights.dim() == 3 else weights[None]


def _trim(site: Site, weights: Tensor, source: int, target: int) -> Tensor:
    """One sentence's ``([heads,] queries, keys)`` without its padding."""
    queries, keys = {"cross": (target, source), "encoder": (source, source)}.get(
        site.kind, (target, target)
    )
    return _heads_first(weights)[:, :queries, :keys].float().cpu()


def _map(
    site: Site, weights: Tensor, source: Sequence[str], target: Sequence[str], *, normalised: bool
) -> AttentionMap:
    """One sentence's weights ``(1, [heads,] queries, keys)`` with the words they belong to.

    A row of the decoder is a word being written; it looks at ``<bos>`` and the words before it.
    """
    read = ("<bos>", *target[:-1])
    labels = {"cross": (target, source), "encoder": (source, source), "decoder": (target, read)}
    queries, keys = labels[site.kind]
    return AttentionMap(
        site=site, weights=_heads_first(weights[0]).float().cpu(), query_labels=tuple(queries),
        key_labels=tuple(keys), normalised=normalised,
    )  # fmt: skip
