"""Words cut into pieces that are frequent, by byte-pair encoding (BPE).

Which pieces there are is learned from one side by Hugging Face's ``tokenizers``, and stored as
JSON: the letters, and the pairs that are merged, in their order. A word that was never learned is
cut into smaller pieces, down to letters, so that hardly any text is unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from attention_plugins.contract import ContractError, TokeniserSpec
from attention_plugins.text import normalise

INSIDE = "·"  # before a piece that goes on where the one before it ended
_OTHER_DOT = "‧"  # stands for the mark above where a text has it
_LARGEST = 4_000  # pieces and letters
_FEWEST = 10  # occurrences of a pair that is merged
_RUN = re.compile(r"\w+|[^\w\s]")


class Pieces:
    """Cuts lower-case words into pieces; ``trans`` and ``·lation`` make a word."""

    def __init__(self, learned: str) -> None:
        self._model, self._letters = _model(learned)

    def tokenise(self, text: str) -> list[str]:
        """The pieces; one that goes on with a word, or is glued to it, begins with ``·``."""
        found: list[str] = []
        for word in _words(text):
            inside = ""
            for run in _RUN.findall(word):
                for piece in self._cut(run):
                    found.append(inside + piece.removeprefix(INSIDE))
                    inside = INSIDE
        return found

    def detokenise(self, tokens: Sequence[str]) -> str:
        """The text, with a space before each piece that begins a word."""
        parts = (t[1:] if t.startswith(INSIDE) else f" {t}" for t in tokens)
        return "".join(parts).strip()

    def _cut(self, run: str) -> Iterator[str]:
        """The pieces of letters that were learned; any other letter is a piece of its own."""
        for known, letters in groupby(run, self._letters.__contains__):
            if known and self._model:
                yield from (token.value for token in self._model.tokenize("".join(letters)))
            else:
                yield from letters


def learn(sentences: Sequence[str]) -> str:
    """The letters of one side, and the pairs to merge, as JSON."""
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.trainers import BpeTrainer

    runs = [" ".join(_RUN.findall(word)) for text in sentences for word in _words(text)]
    letters = sorted(set("".join(runs)) - {" "})
    tokenizer = Tokenizer(BPE(continuing_subword_prefix=INSIDE))
    tokenizer.pre_tokenizer = WhitespaceSplit()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.train_from_iterator(
        runs,
        BpeTrainer(
            vocab_size=_LARGEST, min_frequency=_FEWEST, show_progress=False,
            continuing_subword_prefix=INSIDE,
        ),
    )  # fmt: skip
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return json.dumps({"letters": "".join(letters), "merges": merges}, ensure_ascii=False)


def _words(text: str) -> list[str]:
    return normalise(text).replace(INSIDE, _OTHER_DOT).split()


def _model(learned: str) -> tuple[Any, frozenset[str]]:
    """A ``tokenizers.models.BPE`` for runs of known letters, and these; None without any.

    Raises:
        ContractError: text that :func:`learn` did not give.
    """
    if not learned:
        return None, frozenset()
    from tokenizers.models import BPE

    try:
        read = json.loads(learned)
        letters, merges = str(read["letters"]), [(str(a), str(b)) for a, b in read["merges"]]
        pieces = [*letters, *(INSIDE + letter for letter in letters)]
        pieces += (a + b.removeprefix(INSIDE) for a, b in merges)
        vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
        model = BPE(vocabulary, merges, continuing_subword_prefix=INSIDE)
    except Exception as error:  # the library raises nothing more precise
        raise ContractError(
            f"the tokeniser 'pieces' cannot use what its card says it learned ({error}); train "
            "the model again"
        ) from error
    return model, frozenset(letters)


PIECES = TokeniserSpec(
    name="pieces",
    title="Pieces of words",
    build=Pieces,
    learn=learn,
    examples=("i'm home.", "l'eau n'est-elle pas là ?", "would you like a cup of tea?"),
    reference="Sennrich, Haddow & Birch, 2016, arXiv:1508.07909",
    description="Frequent words are tokens, others are cut into frequent pieces by byte-pair "
    "encoding, so that hardly any word is unknown; ·lation goes on with the piece before it.",
)
