"""A library's model at work: sentences in, translations with their maps out."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import torch

from attention_plugins.contract import ContractError
from attention_plugins.huggingface import folder
from attention_plugins.huggingface.folder import Adopted
from attention_plugins.huggingface.model import LibraryModel
from attention_plugins.huggingface.numbers import Numbers
from attention_plugins.tap import Intervention
from attention_plugins.translator import Sentence, Translator, check_width

_MANY_LANGUAGES = ("m2m_100", "mbart")
_WORD, _BYTES = "▁", "Ġ"  # how SentencePiece and byte-level BPE write a space before a piece
INSIDE = "·"


class Pieces:
    """The tokenizer's vocabulary.

    A piece that begins a word is shown as it is, one that goes on with a word after ``·``:
    ``trans``, ``·lation``. Special tokens are shown as the tokenizer writes them.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        begins = {piece[:1] for piece in tokenizer.get_vocab()}
        self._space = next((mark for mark in (_WORD, _BYTES) if mark in begins), "")
        languages = getattr(tokenizer, "lang_token_to_id", {})  # M2M100 does not call them special
        self._special = frozenset([*tokenizer.all_special_ids, *languages.values()])

    def words(self, ids: Sequence[int]) -> list[str]:
        """Each id's piece, readably."""
        return [
            # T5 can write a few ids more than its tokenizer has pieces.
            f"<{id}>" if piece is None else piece if id in self._special else self.shown(piece)
            for id, piece in zip(ids, self._tokenizer.convert_ids_to_tokens(ids), strict=True)
        ]

    def shown(self, piece: str) -> str:
        """A piece as the tokenizer writes it, readably."""
        if not self._space:
            return piece
        text = self.spelled(piece)
        if self._space == _BYTES and text:
            text = self._tokenizer.convert_tokens_to_string([text])
        return (text or _WORD) if piece.startswith(self._space) else INSIDE + text

    def spelled(self, piece: str) -> str:
        """A piece without what says that it begins a word."""
        return piece.removeprefix(self._space)

    def text(self, ids: Sequence[int]) -> str:
        """What the ids say, without special tokens; what is unknown stays."""
        return self.raw_text(ids).strip()

    def raw_text(self, ids: Sequence[int]) -> str:
        """The same with the space that it may begin with."""
        unknown = self._tokenizer.unk_token_id
        said = [id for id in ids if id == unknown or id not in self._special]
        return self._tokenizer.decode(said, clean_up_tokenization_spaces=False)


class AdoptedTranslator(Translator):
    """As :class:`Translator`, with the library's tokenizer and its own search.

    Maps, likelihoods and changes to heads are made as for the models of our own: the words that
    were found are forced, token by token, with every attention going through the tap.
    CheckpointError: a model or a tokenizer that cannot be loaded, or languages that a model of
    many languages does not know.
    """

    model: LibraryModel

    def __init__(
        self, checkpoint: Adopted, registry: object, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(checkpoint, registry, device)
        self.library = ("transformers", version("transformers"))
        self._read_begin()

    def _read_begin(self) -> None:
        if self._first is not None and self._first == self.model.begin:
            raise ContractError(
                "this mBART begins from its language; read are those that write it first, such "
                "as mBART-50"
            )
        self.begin = self._pieces.words([self.model.begin])[0]

    def _read_vocabularies(self, checkpoint: Adopted, registry: object) -> None:
        source, target = (str(checkpoint.note.get(side, "")) for side in ("source", "target"))
        self._prefix, self._first = checkpoint.prefix, None
        if checkpoint.config["model_type"] in _MANY_LANGUAGES:
            self._tokenizer = folder.tokenizer(checkpoint.folder, source, target)
            if not isinstance(self._tokenizer, Numbers):
                self._first = self._language(target)
        else:
            self._tokenizer = folder.tokenizer(checkpoint.folder)
        if getattr(self._tokenizer, "separate_vocabs", False):
            raise ContractError(
                f"{checkpoint.folder}: need one vocabulary of both languages, got two"
            )
        self._pieces = Pieces(self._tokenizer)
        self.source_vocabulary = self.target_vocabulary = self._pieces
        self.unknown_id = self._tokenizer.unk_token_id

    def _language(self, code: str) -> int:
        """The id of the token that says in which language to write."""
        names = dict.fromkeys((code, f"__{code}__"))
        ids = [self._tokenizer.convert_tokens_to_ids(name) for name in names if code]
        known = [id for id in ids if id not in (None, self._tokenizer.unk_token_id)]
        if not known:
            raise ContractError(
                f"this model knows many languages; need the one to write in, got {code!r}: adopt "
                "it with --source and --target"
            )
        return known[0]

    def _tokenise(self, text: str, *, target: bool = False) -> list[str]:
        return self._tokenizer.tokenize(text)

    def _read(self, text: str, what: str, *, target: bool = False) -> Sentence:
        if not text.strip():
            raise ContractError(f"need at least one word in {what}, got none")
        given = {"text_target": text} if target else {"text": self._prefix + text}
        fast = self._tokenizer.is_fast
        found = self._tokenizer(**given, return_offsets_mapping=fast)
        ids = found["input_ids"]
        self._check_length(len(ids), what)
        words = self._pieces.words(ids)
        (written,) = given.values()
        if fast:
            spelled = [written[start:end].strip() for start, end in found["offset_mapping"]]
        else:
            # Without offsets: pieces before they are looked up, which it gives of sources alone.
            pieces = [] if target else self._tokenise(written)
            spelled = [self._pieces.spelled(piece) for piece in pieces]
        for place, word in enumerate(spelled):
            if ids[place] == self.unknown_id and word:
                words[place] = word
        return Sentence(words, ids)

    def _decode(
        self, sentences: Sequence[Sentence], width: int, interventions: Sequence[Intervention]
    ) -> list[list[int]]:
        check_width(width)
        return self.model.search(
            *self._tensors(sentences), width=width, limit=self.max_tokens, first=self._first,
            interventions=interventions,
        )  # fmt: skip

    def _text(self, sentence: Sentence) -> str:
        return self._pieces.text(sentence.ids)
