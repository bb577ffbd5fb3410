"""Sentences to token ids and back: normalising, splitting, joining, vocabularies, padding."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
_GLUED = frozenset((",", ".", ")", "...", "…", "%", *_ENGLISH_CLITICS))
_MARKS = "!?:;"  # with a space before them or none, as the language has it
_MARK = re.compile(rf"\S(\s?)([{_MARKS}])")
_APOSTROPHE = re.compile(r"\w'(\w|\s)")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|'?[\w-]+(?:'\w+|'(?=\s))?|\.\.\.|[^\w\s]")

# What normalise does, for those who compare scores.
NORMALISED = "lower-cased, NFC, ’ as ', one kind of space"


def normalise(text: str) -> str:
    """Lower-case and composed (NFC), with each kind of space as one space, ``’`` as ``'``."""
    text = unicodedata.normalize("NFC", text.replace("’", "'").replace("\ufeff", ""))
    return _SPACES.sub(" ", text).strip().lower()


def tokenise_words(text: str) -> list[str]:
    """Split at spaces, after one space was put before ``, . ! ?`` (d2l.ai, section 9.5)."""
    return _PUNCTUATION.sub(r" \1", normalise(text)).split()


def tokenise_clitics(text: str) -> list[str]:
    """Split words, punctuation and clitics: ``l'eau n'est-elle pas`` gives six tokens."""
    text = _ENGLISH_CLITIC.sub(r" \1", normalise(text))
    text = _ELISION.sub("' ", text)
    return _TOKEN.findall(_ENCLITICS.sub(r" \1", text))


class Spacing(NamedTuple):
    """How a language sets its marks: those of ``! ? : ;`` that have a space before them.

    Where it elides, ``'`` at a word's end binds it to the next one, as in ``j'ai``; elsewhere it
    ends a plural or a quotation.
    """

    apart: str
    elides: bool


FRENCH, ENGLISH = Spacing(_MARKS, True), Spacing("", False)


def spacing_of(sentences: Iterable[str]) -> Spacing:
    """How most of the sentences set each mark; one that none of them has is glued."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        text = normalise(sentence)
        for space, mark in _MARK.findall(text):
            counts[mark] += 1 if space else -1
        for after in _APOSTROPHE.findall(_ENGLISH_CLITIC.sub("", text)):
            counts["'"] += -1 if after == " " else 1
    return Spacing("".join(mark for mark in _MARKS if counts[mark] > 0), counts["'"] > 0)


def detokenise(tokens: Iterable[str], spacing: Spacing = ENGLISH) -> str:
    """The tokens as a reader expects them: clitics glued, marks set as the language does."""
    glued_left = _GLUED.union(set(_MARKS) - set(spacing.apart))
    opening = ("(", "'") if spacing.elides else "("
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
    def count(cls, sentences: Iterable[Sequence[str]], *, min_frequency: int = 1) -> "Vocabulary":
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


def copies(source: Vocabulary, target: Vocabulary) -> tuple[int, ...]:
    """For each id of ``source`` the id of the same token in ``target``, or ``<unk>``'s."""
    return (*range(len(RESERVED)), *target.ids(source.tokens[len(RESERVED) :]))


def truncate(ids: Sequence[int], limit: int) -> list[int]:
    """At most ``limit`` ids, the last of them always ``<eos>``, also when the sentence was cut.

    d2l.ai cuts ``<eos>`` off with the tail, so that a model never learns to end long sentences.
    """
    return [*ids[: limit - 1], EOS_ID]


def pad(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The rows, padded on the right to the longest: shape ``(rows, longest)``."""
    longest = max(map(len, rows), default=0)
    return [[*row, *[PAD_ID] * (longest - len(row))] for row in rows]
