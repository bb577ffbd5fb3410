"""Maps of tokens folded to words, so that models that split a text differently can be compared."""

from collections.abc import Sequence

import numpy as np

_MARKS = ("##", "·", "▁")  # of pieces that begin or continue a word
OTHERS = "…"  # the tokens that stand for no word, such as [CLS]


def texts_of(model: str, kind: str, text: str, target: str) -> tuple[str, str]:
    """What stands in the rows and in the columns of a map of this kind, of this kind of model."""
    if model == "decoder":
        both = f"{text} {target.removeprefix('·')}"
        return both, both
    return (text if kind == "encoder" else target, target if kind == "decoder" else text)


def labels_of(text: str) -> tuple[str, ...]:
    """The row's or column's labels after folding: other tokens, then every word."""
    return (OTHERS, *text.split())


def words_of(text: str, tokens: Sequence[str]) -> list[int]:
    """Which word of a text each of its tokens is in, from 1, by its letters; 0 where in none.

    Words are what stands between spaces. Upper and lower case are the same.
    """
    letters = [(letter, number) for number, word in enumerate(text.split(), 1)
               for letter in word.casefold()]  # fmt: skip
    spelled = "".join(letter for letter, _ in letters)
    found, place = list[int](), 0
    for token in tokens:
        bare = token.casefold()
        for mark in _MARKS:
            bare = bare.removeprefix(mark)
        bare = "".join(bare.split())
        if bare and spelled.startswith(bare, place):
            found.append(letters[place][1])
            place += len(bare)
        else:
            found.append(0)
    return found


def folded(
    weights: np.ndarray, texts: tuple[str, str], queries: Sequence[str], keys: Sequence[str]
) -> np.ndarray:
    """Weights ``(heads, queries, keys)`` with the rows and columns of :func:`labels_of` the texts.

    A word's row is the mean of its tokens' rows, its column the sum of their columns, so rows
    still sum to 1. NaN counts as 0; a word without a token has none.
    """
    rows, columns = (
        np.eye(len(labels_of(text)))[words_of(text, tokens)].T
        for text, tokens in zip(texts, (queries, keys), strict=True)
    )
    rows = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
    return rows @ np.nan_to_num(weights.astype(np.float64)) @ columns.T
