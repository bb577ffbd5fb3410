"""What stands in for a tokenizer where a folder has none: each token is its number."""

from collections.abc import Mapping, Sequence
from typing import Any

from attention_plugins.contract import ContractError


class Numbers:
    """Reads and writes texts such as ``0 2 1``; what is asked of the library's tokenizers."""

    is_fast = True
    unk_token_id = None

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.words = int(config.get("vocab_size") or 0)
        self.bos_token_id = config.get("bos_token_id")
        self.mask_token_id = config.get("mask_token_id")
        if not isinstance(self.mask_token_id, int) or self.mask_token_id >= self.words:
            self.mask_token_id = None
        named = (config.get(f"{name}_token_id") for name in ("bos", "eos", "pad"))
        self.all_special_ids = [id for id in named if isinstance(id, int)]

    def get_vocab(self) -> dict[str, int]:
        """Every number with itself as its id."""
        return {str(id): id for id in range(self.words)}

    def tokenize(self, text: str) -> list[str]:
        """ContractError where something is no number of a token."""
        found = text.split()
        for word in found:
            if not (word.isascii() and word.isdecimal() and int(word) < self.words):
                raise ContractError(
                    "this model came without a tokenizer, so its tokens are numbers: need some "
                    f"from 0 to {self.words - 1} with spaces between them, got {word!r}"
                )
        return found

    def __call__(self, text: str = "", text_target: str = "", **_: Any) -> dict[str, Any]:
        """``input_ids``, and where each stands in the text."""
        written = text or text_target
        words = self.tokenize(written)
        places, end = [], 0
        for word in words:
            start = written.index(word, end)
            places.append((start, end := start + len(word)))
        return {"input_ids": [*map(int, words)], "offset_mapping": places}

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        """The numbers as texts."""
        return [str(id) for id in ids]

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        """The numbers with spaces between them."""
        return " ".join(map(str, ids))
