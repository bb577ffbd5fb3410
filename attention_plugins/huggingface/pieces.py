"""What a library's tokenizer reads and writes, as pieces that a reader can tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_WORD, _BYTES = "▁", "Ġ"  # how SentencePiece and byte-level BPE write a space before a piece
INSIDE = "·"


class Pieces:
    """The tokenizer's vocabulary.

    A piece that begins a word is shown as it is, one that goes on with a word after ``·``:
    ``trans``, ``·lation``. Special tokens are shown as the tokenizer writes them.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        known = tokenizer.get_vocab()
        self._space = next(
            (mark for mark in (_WORD, _BYTES) if any(piece.startswith(mark) for piece in known)),
            "",
        )
        languages = getattr(tokenizer, "lang_token_to_id", {})  # M2M100 does not call them special
        self._special = frozenset([*tokenizer.all_special_ids, *languages.values()])

    def words(self, ids: Iterable[int]) -> list[str]:
        """Each id's piece, readably."""
        ids = list(ids)
        found = self._tokenizer.convert_ids_to_tokens(ids)
        return [
            # T5 can write a few ids more than its tokenizer has pieces.
            f"<{id}>" if piece is None else piece if id in self._special else self.shown(piece)
            for id, piece in zip(ids, found, strict=True)
        ]

    def shown(self, piece: str) -> str:
        """A piece as the tokenizer writes it, readably."""
        if not self._space:
            return piece
        begins = piece.startswith(self._space)
        text = self.spelled(piece)
        if self._space == _BYTES and text:
            text = self._tokenizer.convert_tokens_to_string([text])
        if not begins:
            return INSIDE + text
        return text or _WORD

    def spelled(self, piece: str) -> str:
        """A piece without what says that it begins a word."""
        return piece.removeprefix(self._space)

    def text(self, ids: Sequence[int]) -> str:
        """What the ids say, without special tokens; what is unknown stays."""
        unknown = self._tokenizer.unk_token_id
        said = [id for id in ids if id == unknown or id not in self._special]
        return self._tokenizer.decode(said, clean_up_tokenization_spaces=False).strip()
