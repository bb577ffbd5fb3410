"""Words cut into pieces that are frequent, by byte-pair encoding (BPE).

Which pieces there are is learned from one side by Hugging Face's ``tokenizers``, and stored as
JSON: the letters, the pairs that are merged, in their order, and how marks are set. A word that
was never learned is cut into smaller pieces, down to letters, so that hardly any text is unknown.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

from attention_plugins.beside import row
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
        self._learned = _Learned.read(learned)

    def tokenise(self, text: str) -> list[str]:
        """The pieces; one that goes on with a word, or is glued to it, begins with ``·``.

        A mark that was always glued, or never, is read so however it is set here.
        """
        found: list[str] = []
        for word in _words(text):
            inside = ""
            for run in _RUN.findall(word):
                if run in self._learned.glued:
                    inside = INSIDE if found else ""
                elif run in self._learned.apart:
                    inside = ""
                for piece in self._cut(run):
                    found.append(inside + piece.removeprefix(INSIDE))
                    inside = INSIDE
        return found

    def detokenise(self, tokens: Sequence[str]) -> str:
        """The text, with a space before each piece that begins a word."""
        return "".join(t[1:] if t.startswith(INSIDE) else f" {t}" for t in tokens).strip()

    def _cut(self, run: str) -> Iterator[str]:
        """The pieces of letters that were learned; any other letter is a piece of its own."""
        for known, letters in groupby(run, self._learned.letters.__contains__):
            if known:
                model = self._learned.model
                yield from (token.value for token in model.tokenize("".join(letters)))
            else:
                yield from letters


def learn(sentences: Sequence[str]) -> str:
    """The letters of one side, the pairs to merge, the marks always glued and never, as JSON."""
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.trainers import BpeTrainer

    words = [_RUN.findall(word) for text in sentences for word in _words(text)]
    glued = {run for word in words for run in word[1:] if not run[0].isalnum()}
    apart = {word[0] for word in words if not word[0][0].isalnum()}
    runs = [" ".join(word) for word in words]
    letters = sorted(set("".join(runs)) - {" "})
    tokenizer = Tokenizer(BPE(continuing_subword_prefix=INSIDE))
    tokenizer.pre_tokenizer = WhitespaceSplit()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.train_from_iterator(
        runs,
        BpeTrainer(
            vocab_size=_LARGEST, min_frequency=_FEWEST, show_progress=False,
            continuing_subword_prefix=INSIDE,
            # Else these are numbered in an order that differs from process to process, and with
            # it which of two pairs is merged first that are as frequent.
            special_tokens=[INSIDE + letter for letter in letters],
        ),
    )  # fmt: skip
    found = {
        "letters": "".join(letters), "merges": json.loads(tokenizer.to_str())["model"]["merges"],
        "glued": "".join(sorted(glued - apart)), "apart": "".join(sorted(apart - glued)),
    }  # fmt: skip
    return json.dumps(found, ensure_ascii=False)


def _words(text: str) -> list[str]:
    return normalise(text).replace(INSIDE, _OTHER_DOT).split()


@dataclass(frozen=True)
class _Learned:
    """What :func:`learn` gave: a ``tokenizers.models.BPE`` for the letters, and the marks."""

    model: Any = None
    letters: frozenset[str] = frozenset()
    glued: frozenset[str] = frozenset()
    apart: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str) -> Self:
        """From the JSON that :func:`learn` gave, else ContractError; nothing where it is empty."""
        if not text:
            return cls()
        from tokenizers.models import BPE

        try:
            read = json.loads(text)
            letters, glued, apart = (str(read[name]) for name in ("letters", "glued", "apart"))
            merges = [(str(one), str(other)) for one, other in read["merges"]]
            pieces = [*letters, *(INSIDE + letter for letter in letters)]
            pieces += (one + other.removeprefix(INSIDE) for one, other in merges)
            vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
            model = BPE(vocabulary, merges, continuing_subword_prefix=INSIDE)
        except Exception as error:  # the library raises nothing more precise
            raise ContractError(
                f"the tokeniser 'pieces' cannot use what its card says it learned ({error}); "
                "train the model again"
            ) from error
        return cls(model, frozenset(letters), frozenset(glued), frozenset(apart))


PIECES = TokeniserSpec(build=Pieces, learn=learn, **row(__file__, "pieces"))
