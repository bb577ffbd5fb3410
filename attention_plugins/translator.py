"""A checkpoint at work: sentences in, translations with their maps out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from attention_plugins import beyond, record
from attention_plugins.attention import needs_memory, rows_sum_to_one, weights_are_signed
from attention_plugins.checkpoints import Checkpoint
from attention_plugins.contract import ContractError
from attention_plugins.decoding import beam, force, greedy
from attention_plugins.language import MOST_READ, Candidates, Reading, Wanted
from attention_plugins.marking import gettext_noop
from attention_plugins.models.protocols import StepModel
from attention_plugins.overview import BlockRecorder
from attention_plugins.tap import Intervention, Recorder, Site, Tap
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Vocabulary, pad

MAX_BEAM = 16
_USUAL = Wanted()
# When a sentence is of the other language: so many of its words, or pieces per piece.
_FEWEST, _MOST_OF, _FEWER = 2, 0.4, 0.7


class Pair(NamedTuple):
    """One sentence and its translation as :func:`~attention_plugins.decoding.force` takes them.

    ``source (1, n)``, ``lengths (1,)``, ``target (1, m)``: ids with ``<eos>``.
    """

    source: Tensor
    lengths: Tensor
    target: Tensor


@dataclass(frozen=True)
class Sentence:
    """Its words as the reader wrote them and their ids, both with the end."""

    words: list[str]
    ids: list[int]


class Translator:
    """A model with its vocabularies; keeps nothing between calls, so users may share one.

    A checkpoint of another library has a translator of its own: see
    :func:`~attention_plugins.opening.open_checkpoint`.
    """

    library: tuple[str, str] | None = None  # name and version, of a model that is not our own
    unknown_id: int | None = UNK_ID
    begin = "<bos>"
    ends: Sequence[int] = (EOS_ID,)
    mask = ""  # how a masked word is written; empty where the model knows none
    never: Sequence[int] = (UNK_ID, PAD_ID, BOS_ID)  # tokens that no text goes on with

    def __init__(
        self, checkpoint: Checkpoint, registry: object, device: torch.device | str = "cpu"
    ) -> None:
        self.card = checkpoint.card
        self.summary = checkpoint.summary
        self.device = torch.device(device)
        self.model = checkpoint.build(registry).to(self.device)
        self.max_tokens: int = self.card["max_tokens"]
        self.most_tokens = self.max_tokens  # of a text that no map of every site is made of
        self._read_vocabularies(checkpoint, registry)
        self._untrained = partial(checkpoint.untrained, registry)
        self._fresh: StepModel | None = None

    def untrained(self) -> StepModel:
        """The model as its training began, where this one is; one of our own is kept."""
        fresh = self._fresh or self._untrained().to(self.device)
        self._fresh = None if self.library else fresh
        return fresh

    def _read_vocabularies(self, checkpoint: Checkpoint, registry: object) -> None:
        self._tokenisers = checkpoint.tokenisers(registry)
        self.source_vocabulary, self.target_vocabulary = checkpoint.vocabularies

    def translate(
        self, sentences: Sequence[str], *, width: int = 1, batch_size: int = 128,
        interventions: Sequence[Intervention] = (),
    ) -> list[str]:  # fmt: skip
        """The sentences' translations, in their order, decoded in batches of like length.

        ContractError: an empty or over-long sentence (named by its number), a bad width.
        """
        read = [self._read(s, gettext_noop(f"sentence {n}")) for n, s in enumerate(sentences, 1)]
        order = sorted(range(len(read)), key=lambda i: len(read[i].ids))
        texts = [""] * len(read)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            decoded = self._decode([read[i] for i in rows], width, interventions)
            for row, ids in zip(rows, decoded, strict=True):
                texts[row] = self._text(self._written(ids))
        return texts

    def explain(
        self, sentence: str, *, width: int = 1, target: str = "",
        interventions: Sequence[Intervention] = (), sites: Collection[Site] | None = None,
        measure: str = "",
    ) -> record.Translation:  # fmt: skip
        """One sentence's translation, or ``target`` forced instead, with the maps of every site.

        They show a ``measure`` of :data:`~attention_plugins.beyond.MEASURES` where it is named.
        Where ``sites`` are given, the maps of these alone are kept, and a model may read longer
        texts than those that have a map of every site.

        ContractError: an empty or over-long sentence or target, a bad width, weights below 0.
        """
        read, written = self._read_pair(sentence, target, width, interventions)
        self._check_pair(read, written, whole=sites is None)
        pair = self._pair(read, written)
        scores, found = (
            beyond.measured(self.model, *pair, measure, interventions=interventions) if measure
            else force(self.model, *pair, interventions=interventions, recorder=Recorder(sites))
        )  # fmt: skip
        _require_keys(interventions, found)
        known = {
            "normalised": not interventions and not measure and rows_sum_to_one(self.model),
            "signed": measure == "gradient" or weights_are_signed(self.model),
        }
        spoken, said = tuple(read.words), tuple(written.words)
        return record.Translation(
            text=self._text(written), tokens=said, log_probabilities=tuple(scores[0].tolist()),
            source_tokens=spoken, unknown=self._unknown(read),
            target_unknown=self._unknown(written),
            maps=tuple(
                self._map(site, weights, spoken, said, **known)
                for site, weights in found.items()
            ),
        )  # fmt: skip

    def outputs(self, sentence: str, pair: Pair) -> dict[Site, Tensor]:
        """What every head gathers, ``(heads, rows, d_v)``, of a sentence and the pair's target.

        ContractError: as :meth:`explain`.
        """
        read = self._read(sentence, gettext_noop("the other sentence"))
        self._check_pair(read, self._written(pair.target[0].tolist()), whole=True)
        target = pair.target[:, :0] if self.summary["kind"] == "encoder" else pair.target
        return beyond.outputs(self.model, *self._tensors([read]), target)

    def read_text(self, text: str, wanted: Wanted = _USUAL) -> Reading:
        """A text as a language model reads it; only of models whose ``kind`` is one.

        ContractError: an empty or over-long text, weights below 0.
        """
        read = self._read(text, gettext_noop("the prompt"))
        check_length(read)
        first, prompt = self._opened(read)
        most = min(self.most_tokens, MOST_READ)
        room = max(0, most - len(prompt))  # the last token that is written is not read
        scores, written = self._go_on(read, min(wanted.words, room))
        whole = [*prompt, *written]
        target = whole
        ended = bool(whole) and whole[-1] in self.ends
        if not ended and len(whole) < most:
            # A row for the last token, too, which tells what comes next: any token may follow.
            target = [*whole, (*first.ids, *whole)[-1]]
        recorder = BlockRecorder(len(target), wanted.most, wanted.only)
        given = torch.tensor([target], device=self.device)
        log_probabilities, _ = force(self.model, *self._tensors([first]), given, recorder=recorder)
        tokens = [*first.words, *self.target_vocabulary.words(whole)]
        return Reading(
            text=self._text(self._written(written)), tokens=tuple(tokens),
            log_probabilities=(None, *log_probabilities[0, : len(whole)].tolist()),
            written=len(written),
            candidates=(self._candidates(len(prompt) + 1, scores, wanted.top),),
            unknown=self._unknown(read), maps=self._square_maps(recorder, tokens[: len(target)]),
            block=recorder.block, length=len(target),
            stopped_at=most if len(written) == room < wanted.words and not ended else 0,
        )  # fmt: skip

    def _opened(self, read: Sentence) -> tuple[Sentence, list[int]]:
        """What a decoder is given before a text that it is to foretell, and the text's ids."""
        return Sentence([self.begin], [EOS_ID]), read.ids[:-1]

    @torch.no_grad()
    def _go_on(self, read: Sentence, words: int) -> tuple[Tensor, list[int]]:
        """Log-probabilities ``(vocabulary,)`` of what follows a text, and so many words."""
        source, lengths = self._tensors([read])
        never = torch.tensor(self.never, dtype=torch.long, device=self.device)
        tap = Tap()
        state = self.model.start(source, lengths, tap)
        scores, state = self.model.step(state, torch.full_like(lengths, BOS_ID), tap)
        first, written = scores[0], list[int]()
        while len(written) < words and not (written and written[-1] in self.ends):
            if written:
                scores, state = self.model.step(state, torch.full_like(lengths, written[-1]), tap)
            written.append(int(scores[0].index_fill(0, never, -torch.inf).argmax()))
        return first, written

    def _candidates(self, place: int, scores: Tensor, top: int) -> Candidates:
        found = scores.topk(min(top, len(scores)))
        words = self.target_vocabulary.words(found.indices.tolist())
        return Candidates(place, tuple(words), tuple(found.values.tolist()))

    def _square_maps(
        self, recorder: BlockRecorder, tokens: Sequence[str]
    ) -> tuple[record.AttentionMap, ...]:
        """The maps of sites whose rows and columns are the blocks of these tokens."""
        named, normalised = recorder.labels(tokens), rows_sum_to_one(self.model)
        signed = weights_are_signed(self.model)
        return tuple(
            record.AttentionMap(
                site=site, weights=_heads_first(weights[0]).float().cpu(),
                query_labels=named, key_labels=named, normalised=normalised, signed=signed,
            )
            for site, weights in recorder.weights().items()
        )  # fmt: skip

    def pair(self, sentence: str, target: str = "", *, width: int = 1) -> Pair:
        """The ids of a sentence and of ``target``, or its own translation; raises as explain."""
        return self.pair_and_text(sentence, target, width=width)[0]

    def pair_and_text(
        self, sentence: str, target: str = "", *, width: int = 1
    ) -> tuple[Pair, str]:
        """What :meth:`pair` gives, and the text of its target."""
        read, written = self._read_pair(sentence, target, width, ())
        self._check_pair(read, written, whole=True)
        return self._pair(read, written), self._text(written)

    def write(self, sentence: str, interventions: Sequence[Intervention] = ()) -> str:
        """The text of :meth:`explain`, whose maps are not made."""
        return self._text(self._read_pair(sentence, "", 1, interventions)[1])

    def look(
        self, pairs: Sequence[tuple[str, str]], *, batch_size: int = 128,
        interventions: Sequence[Intervention] = (),
    ) -> Iterator[dict[Site, Tensor]]:  # fmt: skip
        """Every site's weights ``(heads, queries, keys)`` while each pair's target is forced.

        Pair by pair, in order, unpadded. ContractError names an empty or over-long sentence.
        """
        if needs_memory(self.model) and hasattr(self.model, "axes"):
            batch_size = 1  # its keys may follow each other without the padding between two parts
        for start in range(0, len(pairs), batch_size):
            part = list(enumerate(pairs[start : start + batch_size], start=start + 1))
            sources = [self._read(s, gettext_noop(f"source {n}")) for n, (s, _) in part]
            targets = [
                self._read(t, gettext_noop(f"target {n}"), target=True) for n, (_, t) in part
            ]
            source, lengths = self._tensors(sources)
            target, _ = self._tensors(targets)
            _, sites = force(self.model, source, lengths, target, interventions=interventions)
            for row in range(len(part)):
                n, m = len(sources[row].ids), len(targets[row].ids)
                sizes = {"source": (n, source.shape[1]), "target": (m, target.shape[1])}
                sizes[record.TEXT] = (n + m - 1, source.shape[1] + target.shape[1] - 1)
                yield {
                    site: self._trim(site, weights[row], sizes) for site, weights in sites.items()
                }

    def source_keys(self, site: Site, queries: int, keys: int) -> range | None:
        """Which of a map's keys are the source's words, without ``<eos>``; None where none are.

        Where the target is among the keys, the map's rows tell how long it is.
        """
        axes = record.axes_of(self.model, site)
        if "source" not in axes.keys:
            return None
        sizes = {"target": queries}
        others = sum(sizes.get(part, 1) for part in axes.keys if part != "source")
        first = record.start_of("source", axes.keys, sizes) or 0
        return range(first, first + keys - others - 1)

    def reads(self, sentence: str, *, target: bool = False) -> bool:
        """Whether a source, or a target, is neither empty nor too long for this model."""
        return 0 < len(self._tokenise(sentence, target=target)) < self.max_tokens

    def reads_as_target(self, sentence: str) -> bool:
        """Whether a sentence seems to be of the language that the model writes.

        Most of its words are unknown as a source's and known as a target's; or, where words are
        cut into pieces, the target's pieces spell it with clearly fewer.
        """
        read, written = (self._tokenise(sentence, target=side) for side in (False, True))
        source, target = self.source_vocabulary, self.target_vocabulary
        if not isinstance(source, Vocabulary) or not isinstance(target, Vocabulary):
            return False  # of another library, whose two sides share their pieces
        if all(token in target for token in written) and len(written) <= _FEWER * len(read):
            return True
        words = [token for token in dict.fromkeys(read) if token[-1].isalpha()]
        foreign = [word for word in words if word not in source and word in target]
        return len(foreign) >= max(_FEWEST, _MOST_OF * len(words))

    def _read_pair(
        self, sentence: str, target: str, width: int, interventions: Sequence[Intervention]
    ) -> tuple[Sentence, Sentence]:
        read = self._read(sentence, gettext_noop("the sentence"))
        if target.strip():
            return read, self._read(target, gettext_noop("the target"), target=True)
        return read, self._written(self._decode([read], width, interventions)[0])

    def _check_pair(self, read: Sentence, written: Sentence, *, whole: bool) -> None:
        """Raise ContractError where both are too long together, ``whole`` with every map."""

    def _written(self, ids: list[int]) -> Sentence:
        return Sentence(self.target_vocabulary.words(ids), ids)

    def _pair(self, read: Sentence, written: Sentence) -> Pair:
        source, lengths = self._tensors([read])
        return Pair(source, lengths, torch.tensor([written.ids], device=self.device))

    def _tokenise(self, text: str, *, target: bool = False) -> list[str]:
        return self._tokenisers[target].tokenise(text)

    def _read(self, text: str, what: str, *, target: bool = False) -> Sentence:
        words = self._tokenise(text, target=target)
        if not words:
            raise ContractError(f"need at least one word in {what}, got none")
        self._check_length(len(words), what, self.max_tokens - 1)
        ids = (self.target_vocabulary if target else self.source_vocabulary).ids(words)
        return Sentence([*words, "<eos>"], [*ids, EOS_ID])

    def _check_length(self, tokens: int, what: str, most: int = 0) -> None:
        if tokens > (most := most or self.max_tokens):
            raise ContractError(
                f"{what} has {tokens} tokens; this model reads at most {most}: shorten it"
            )

    def _tensors(self, sentences: Sequence[Sentence]) -> tuple[Tensor, Tensor]:
        rows = [sentence.ids for sentence in sentences]
        lengths = torch.tensor([len(row) for row in rows], device=self.device)
        return torch.tensor(pad(rows), device=self.device), lengths

    def _decode(
        self, sentences: Sequence[Sentence], width: int, interventions: Sequence[Intervention]
    ) -> list[list[int]]:
        check_width(width)
        source, lengths = self._tensors(sentences)
        options = {"limit": self.max_tokens, "interventions": interventions}
        if width == 1:
            return [found.ids for found in greedy(self.model, source, lengths, **options)]
        found = beam(self.model, source, lengths, width=width, **options)
        return [best[0].ids for best in found]

    def _text(self, sentence: Sentence) -> str:
        return self._tokenisers[1].detokenise([word for word in sentence.words if word != "<eos>"])

    def _unknown(self, sentence: Sentence) -> tuple[str, ...]:
        pairs = zip(sentence.words, sentence.ids, strict=True)
        return tuple(dict.fromkeys(word for word, id in pairs if id == self.unknown_id))

    def _map(
        self, site: Site, weights: Tensor, source: tuple[str, ...], target: tuple[str, ...],
        **known: bool,
    ) -> record.AttentionMap:  # fmt: skip
        """One sentence's weights ``(1, [heads,] queries, keys)`` with its words as labels."""
        axes = record.axes_of(self.model, site)
        read = (self.begin, *target[:-1])
        both = {"source": source, record.TEXT: self._read_in_a_row(source, target)}
        return record.AttentionMap(
            site=site, weights=_heads_first(weights[0]).float().cpu(),
            query_labels=record.labels(axes.queries, {**both, "target": target}),
            key_labels=record.labels(axes.keys, {**both, "target": read}), **known,
        )  # fmt: skip

    def _read_in_a_row(self, source: tuple[str, ...], target: tuple[str, ...]) -> tuple[str, ...]:
        """The tokens of the part ``"text"``, see :class:`~attention_plugins.record.Axes`."""
        return (self.begin, *source[:-1], *target[:-1])

    def _trim(self, site: Site, weights: Tensor, sizes: Mapping[str, tuple[int, int]]) -> Tensor:
        axes = record.axes_of(self.model, site)
        rows, columns = record.kept(axes.queries, sizes), record.kept(axes.keys, sizes)
        return _heads_first(weights)[:, rows][..., columns].float().cpu()


def check_length(read: Sentence) -> None:
    """Raise ContractError unless a text may be read with its maps."""
    if len(read.ids) > MOST_READ:
        raise ContractError(
            f"the prompt has {len(read.ids):,} tokens; maps are made of at most {MOST_READ:,}: "
            "shorten it"
        )


def check_width(width: int) -> None:
    """Raise ContractError unless a beam may be as wide."""
    if not 1 <= width <= MAX_BEAM:
        raise ContractError(f"need 1 <= beam <= {MAX_BEAM}, got {width}")


def _heads_first(weights: Tensor) -> Tensor:
    return weights if weights.dim() == 3 else weights[None]


def _require_keys(interventions: Sequence[Intervention], sites: Mapping[Site, Tensor]) -> None:
    """Refuse a pin on a key that its site does not have, once the sentence is finished."""
    for change in interventions:
        n_keys = sites[change.site].shape[-1] if change.site in sites else 0
        if change.key is not None and n_keys and not 0 <= change.key < n_keys:
            raise ContractError(
                f"{change.site.kind} layer {change.site.layer + 1} has {n_keys} keys in this "
                f"sentence, no key {change.key}"
            )
