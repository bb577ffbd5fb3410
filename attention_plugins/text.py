"""Sentences to token ids and back: normalising, tokenising, vocabularies, padding.

Two tokenisers are registered by name, because the choice changes what a model can learn:

* ``words`` is the pipeline of *Dive into Deep Learning*, section 10.5: lower-case, one space
  before ``, . ! ?``, split at spaces. ``i'm`` is one token.
* ``clitics`` also splits what French and English glue together (``j'`` | ``ai``, ``i`` | ``'m``,
  ``est`` | ``-ce``), which halves the unknown words of a small corpus.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

PAD, BOS, EOS, UNK = "<pad>", "<bos>", "<eos>", "<unk>"
RESERVED = (UNK, PAD, BOS, EOS)
UNK_ID, PAD_ID, BOS_ID, EOS_ID = range(len(RESERVED))

# \s covers U+00A0, U+202F and U+2009, which French puts before ! and ?
_SPACES = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"(?<=\S)([,.!?])")
_ENGLISH_CLITICS = ("n't", "'s", "'m", "'re", "'ve", "'ll", "'d")
_ENGLISH_CLITIC = re.compile(rf"(?<=\w)({'|'.join(_ENGLISH_CLITICS)})(?!\w)")
# after j' and qu', but not in aujourd'hui and o'clock
_ELISION = re.compile(r"(?<!\baujourd)(?<!\bo)(?<=\w)'(?!t(?!\w))(?=\w)")
_ENCLITIC = (
    r"-(?:t-)?(?:ce|je|tu|ils?|elles?|on|nous|vous|moi|toi|les?|la|lui|leur|y|en|là|ci)(?!\w)"
)
_ENCLITICS = re.compile(rf"(?<=\w)({_ENCLITIC})(?=(?:{_ENCLITIC})*(?![\w-]))")
_GLUED_IN_FRENCH = frozenset((",", ".", ")", "...", "…", "%", *_ENGLISH_CLITICS))
_GLUED_IN_ENGLISH = _GLUED_IN_FRENCH | {"!", "?", ":", ";"}
_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|'?[\w-]+(?:'\w+|'(?=\s))?|\.\.\.|[^\w\s]")


def normalise(text: str) -> str:
    """Lower-case and composed (NFC), with each kind of space as one space, ``’`` as ``'``."""
    text = unicodedata.normalize("NFC", text.replace("’", "'").replace("\ufeff", ""))
    return _SPACES.sub(" ", text).strip().lower()


def tokenise_words(text: str) -> list[str]:
    """Split at spaces, after one space was put before ``, . ! ?`` (d2l.ai, section 10.5)."""
    return _PUNCTUATION.sub(r" \1", normalise(text)).split()


def tokenise_clitics(text: str) -> list[str]:
    """Split words, punctuation and clitics: ``l'eau n'est-elle pas`` gives six tokens."""
    text = _ENGLISH_CLITIC.sub(r" \1", normalise(text))
    text = _ELISION.sub("' ", text)
    return _TOKEN.findall(_ENCLITICS.sub(r" \1", text))


TOKENISERS: dict[str, Callable[[str], list[str]]] = {
    "words": tokenise_words,
    "clitics": tokenise_clitics,
}


def detokenise(tokens: Iterable[str], *, french: bool = False) -> str:
    """The tokens as a reader expects them: clitics glued, punctuation spaced as the language does.

    French keeps a space before ``! ? : ;``; English has none.
    """
    glued_left = _GLUED_IN_FRENCH if french else _GLUED_IN_ENGLISH
    opening = ("(", "'") if french else "("  # in English ' ends a plural or a quotation
    text = ""
    for token in tokens:
        enclitic = token[0] == "-" and len(token) > 1
        glued = enclitic or token in glued_left or text.endswith(opening)
        text += token if glued or not text else f" {token}"
    return text


class Vocabulary:
    """Tokens numbered by falling frequency, after the four reserved ones.

    Ties are broken by first occurrence, so equal corpora give equal vocabularies.
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        if tuple(tokens[: len(RESERVED)]) != RESERVED:
            raise ValueError(
                f"a vocabulary starts with {', '.join(RESERVED)}; got {list(tokens[:4])}"
            )
        self.tokens = tuple(tokens)
        self._ids = {token: index for index, token in enumerate(self.tokens)}
        if len(self._ids) != len(self.tokens):
            twice = next(token for token, count in Counter(tokens).items() if count > 1)
            raise ValueError(f"a vocabulary holds each token once; {twice!r} occurs twice")

    @classmethod
    def count(cls, sentences: Iterable[Sequence[str]], *, min_frequency: int = 1) -> Vocabulary:
        """Every token seen at least ``min_frequency`` times in the tokenised sentences."""
        counts = Counter(token for sentence in sentences for token in sentence)
        kept = [t for t, n in counts.most_common() if n >= min_frequency and t not in RESERVED]
        return cls((*RESERVED, *kept))

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The number of each token; ``<unk>`` for those it does not hold.

        A reserved token that a user typed is an unknown word, not an order to stop.
        """
        return [UNK_ID if token in RESERVED else self._ids.get(token, UNK_ID) for token in tokens]

    def words(self, ids: Iterable[int]) -> list[str]:
        """The token of each number."""
        return [self.tokens[index] for index in ids]


def truncate(ids: Sequence[int], limit: int) -> list[int]:
    """At most ``limit`` ids, the last of them always ``<eos>``, also when the sentence was cut.

    d2l.ai cuts ``<eos>`` off with the tail, so that a model never learns to end long sentences.
    """
    return [*ids[: limit - 1], EOS_ID]


def pad(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The rows, padded on the right to the longest: shape ``(rows, longest)``."""
    longest = max(map(len, rows), default=0)
    return [[*row, *[PAD_ID] * (longest - len(row))] for row in rows]
