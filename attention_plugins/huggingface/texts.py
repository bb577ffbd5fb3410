"""Decoders and encoders of the library at work: a prompt and what follows it, or one text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_plugins.contract import ContractError
from attention_plugins.huggingface.decoder import LibraryDecoder
from attention_plugins.huggingface.encoder import NO_HEAD, LibraryEncoder
from attention_plugins.huggingface.folder import Adopted, positions_of
from attention_plugins.huggingface.model import ends_of
from attention_plugins.huggingface.numbers import Numbers
from attention_plugins.huggingface.translator import INSIDE, AdoptedTranslator
from attention_plugins.language import Candidates, Reading, Wanted
from attention_plugins.marking import gettext_noop
from attention_plugins.overview import BlockRecorder
from attention_plugins.tap import Intervention, Tap
from attention_plugins.translator import Pair, Sentence, check_length, check_width

_OPENING = "([{“‘«\"'-/–—_@#$"
_WITHOUT_SPACES = "\u0e00"  # from Thai on, most scripts put no spaces between words
MOST_NEW = 32  # tokens that are written where nobody asks for certain ones
MOST_MASKED = 128  # tokens of a text whose losses an encoder gives
_USUAL = Wanted()


def joined(prompt: str, target: str) -> str:
    """What follows the prompt to the letter, where a target says it without its first space.

    A space is put before a word, unless the prompt ends in one or in what opens, such as a
    bracket. A target that begins with ``·`` goes on with the prompt's last word.
    """
    if target.startswith(INSIDE):
        return target.removeprefix(INSIDE)
    begins_word = target[:1].isalnum() and target[0] < _WITHOUT_SPACES
    apart = prompt[-1:].strip() and prompt[-1] not in _OPENING and prompt[-1] < _WITHOUT_SPACES
    return f" {target}" if begins_word and apart else target


@dataclass(frozen=True)
class Continuation(Sentence):
    """A text that goes on where the prompt of these ids ends."""

    after: list[int]


@dataclass(frozen=True)
class Unsaid(Sentence):
    """A text of which a model has no likelihoods."""

    text: str


class AdoptedDecoder(AdoptedTranslator):
    """As :class:`~attention_plugins.translator.Translator`, of a model that continues a text.

    The sentence is a prompt and may be empty where the model has a token to begin from. The
    target is its continuation, see :func:`joined`.
    """

    model: LibraryDecoder
    never: Sequence[int] = ()  # tokens that no text goes on with

    def __init__(
        self, checkpoint: Adopted, registry: object, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(checkpoint, registry, device)
        self.most_tokens = positions_of(checkpoint.config)
        self.ends = ends_of(self.model.library)

    def _read_begin(self) -> None:
        self._first = self._tokenizer.bos_token_id
        if self._first is None:
            self._first = self.model.library.config.bos_token_id
        self.begin = "" if self._first is None else self._pieces.words([self._first])[0]

    def _read(self, text: str, what: str, *, target: bool = False) -> Sentence:
        if target:
            ids = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        else:
            ids = self._tokenizer(text)["input_ids"]
            if not ids and self._first is not None:
                ids = [self._first]
        if not ids:
            raise ContractError(
                f"need at least one word in {what}, got none; this model has no token to begin "
                "a text from"
            )
        self._check_length(len(ids), what, self.most_tokens)
        return Sentence(self._pieces.words(ids), ids)

    def _read_pair(
        self, sentence: str, target: str, width: int, interventions: Sequence[Intervention]
    ) -> tuple[Sentence, Sentence]:
        read = self._read(sentence, gettext_noop("the prompt"))
        if target.strip():
            ids = self._continued(sentence, target, read.ids)
        else:
            ids = self._decode([read], width, interventions)[0]
        return read, Continuation(self._pieces.words(ids), ids, read.ids)

    def _opened(self, read: Sentence) -> tuple[Sentence, list[int]]:
        return Sentence(read.words[:1], read.ids[:1]), read.ids[1:]

    def _continued(self, prompt: str, target: str, before: list[int]) -> list[int]:
        """Both are read together, since many tokenizers begin a text as they begin a word."""
        if isinstance(self._tokenizer, Numbers):
            return self._read(target, gettext_noop("the target"), target=True).ids
        target = joined(prompt, target)
        # After a line break where the prompt's last token would grow by the target.
        for start in (prompt, "\n"):
            known = before if start == prompt else self._tokenizer(start)["input_ids"]
            found = self._tokenizer(start + target)["input_ids"]
            if not known:
                continue
            ended = len(known) - (known[-1] in self.ends)  # as some tokenizers end every text
            begun = int(known[0] == self._first)  # which some do not write themselves
            for ids in (known[:ended], known[begun:ended]):
                if found[: len(ids)] == ids and len(found) > len(ids):
                    rest = found[len(ids) :]
                    return rest[:-1] if rest[-1] in self.ends and len(rest) > 1 else rest
        return self._read(target, gettext_noop("the target"), target=True).ids

    def _decode(
        self, sentences: Sequence[Sentence], width: int, interventions: Sequence[Intervention]
    ) -> list[list[int]]:
        check_width(width)
        longest = max(len(sentence.ids) for sentence in sentences)
        most = self.max_tokens if longest <= self.max_tokens else self.most_tokens
        return self.model.search(
            *self._tensors(sentences), width=width, limit=min(MOST_NEW, most - longest + 1),
            interventions=interventions,
        )  # fmt: skip

    def _check_pair(self, read: Sentence, written: Sentence, *, whole: bool) -> None:
        tokens = len(read.ids) + len(written.ids) - 1
        most = self.max_tokens if whole else self.most_tokens
        self._check_length(tokens, gettext_noop("the prompt with its continuation"), most)

    def _text(self, sentence: Sentence) -> str:
        if not isinstance(sentence, Continuation):
            return super()._text(sentence)
        before, whole = (
            self._pieces.raw_text(ids) for ids in (sentence.after, sentence.after + sentence.ids)
        )
        said = whole.removeprefix(before)
        return INSIDE + said if joined(before, said) != said else said

    def _read_in_a_row(self, source: tuple[str, ...], target: tuple[str, ...]) -> tuple[str, ...]:
        return (*source, *target[:-1])


class AdoptedEncoder(AdoptedTranslator):
    """As :class:`~attention_plugins.translator.Translator`, of a model that only reads a text.

    The target is that text without its special tokens. A token's log-probability is with that
    token masked; where the model has no head for it there is no target, and there are maps alone.
    """

    model: LibraryEncoder

    def _read_begin(self) -> None:
        self.begin = ""
        self.mask = str(self._tokenizer.mask_token) if self.model.mask is not None else ""

    @torch.no_grad()
    def read_text(self, text: str, wanted: Wanted = _USUAL) -> Reading:
        """See :meth:`~attention_plugins.translator.Translator.read_text`; it writes nothing.

        Of a text of more than :data:`MOST_MASKED` tokens none has a loss, since each is a pass.
        """
        read = self._read(text, gettext_noop("the prompt"))
        check_length(read)
        source = self._tensors([read])
        recorder = BlockRecorder(len(read.ids), wanted.most, wanted.only)
        scores = self.model.guess(*source, Tap(recorder))[0]
        told = dict[int, float]()
        if self.model.mask is not None and len(read.ids) <= MOST_MASKED and wanted.only is None:
            places = self._words(read)
            target = torch.tensor([[read.ids[place] for place in places]], device=self.device)
            found = self.model.forced_log_probabilities(*source, target.long(), Tap())
            told = dict(zip(places, found[0].tolist(), strict=True))
        return Reading(
            text="", tokens=tuple(read.words),
            log_probabilities=tuple(told.get(place) for place in range(len(read.ids))), written=0,
            candidates=self._guessed(read, scores, wanted.top), unknown=self._unknown(read),
            maps=self._square_maps(recorder, read.words), block=recorder.block,
            length=len(read.ids),
        )  # fmt: skip

    def _guessed(self, read: Sentence, scores: Tensor, top: int) -> tuple[Candidates, ...]:
        masks = [place for place, id in enumerate(read.ids) if id == self.model.mask]
        return tuple(self._candidates(place, scores[place], top) for place in masks)

    def _read_pair(
        self, sentence: str, target: str, width: int, interventions: Sequence[Intervention]
    ) -> tuple[Sentence, Sentence]:
        read = self._read(sentence, gettext_noop("the sentence"))
        if target.strip() and self._read(target, gettext_noop("the target")).ids != read.ids:
            raise ContractError(
                "this model is an encoder: it reads one text and writes none; need the same text "
                "as its target, or no target"
            )
        if self.model.mask is None:
            return read, Unsaid([], [], sentence)
        if not (places := self._words(read)):
            raise ContractError("need at least one word in the sentence, got none")
        return read, Sentence([read.words[n] for n in places], [read.ids[n] for n in places])

    def _words(self, read: Sentence) -> list[int]:
        """Which of its tokens are not special ones."""
        special = set(self._tokenizer.all_special_ids)
        return [place for place, id in enumerate(read.ids) if id not in special]

    def _text(self, sentence: Sentence) -> str:
        return sentence.text if isinstance(sentence, Unsaid) else super()._text(sentence)

    def pair_and_text(
        self, sentence: str, target: str = "", *, width: int = 1
    ) -> tuple[Pair, str]:
        """As :meth:`Translator.pair`; ContractError where the model gives no likelihoods."""
        found = super().pair_and_text(sentence, target, width=width)
        if not found[0].target.numel():
            raise ContractError(NO_HEAD)
        return found


TRANSLATORS: Mapping[str, type[AdoptedTranslator]] = {
    "encoder-decoder": AdoptedTranslator, "decoder": AdoptedDecoder, "encoder": AdoptedEncoder,
}  # fmt: skip
