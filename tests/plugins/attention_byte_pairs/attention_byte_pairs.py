"""Byte pair encoding (Sennrich, Haddow and Birch 2016), learned from each side of a corpus."""

from collections import Counter
from itertools import pairwise

from attention_plugins import TokeniserSpec, hookimpl

MERGES = 60


def merged(pieces, pair):
    found = []
    for piece in pieces:
        if found and (found[-1], piece) == pair:
            found[-1] += piece
        else:
            found.append(piece)
    return tuple(found)


def letters(word):
    return ("▁" + word[0], *word[1:])


def learn(sentences):
    """The merges, one a line."""
    words = Counter(letters(word) for text in sentences for word in text.lower().split())
    merges = []
    for _ in range(MERGES):
        counts = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                counts[pair] += count
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        words = Counter({merged(word, best): count for word, count in words.items()})
    return "\n".join(map(" ".join, merges)) or "-"


class BytePairs:
    def __init__(self, learned):
        self.merges = [tuple(line.split(" ")) for line in learned.splitlines()]

    def tokenise(self, text):
        found = []
        for word in text.lower().split():
            pieces = letters(word)
            for pair in self.merges:
                pieces = merged(pieces, pair)
            found += pieces
        return found

    def detokenise(self, tokens):
        return "".join(tokens).replace("▁", " ").strip()


@hookimpl
def attention_tokenisers():
    yield TokeniserSpec(
        name="byte_pairs",
        title="Byte pairs",
        build=BytePairs,
        learn=learn,
        reference="Sennrich, Haddow & Birch 2016, Neural machine translation of rare words",
        description="Frequent pieces of words, so that no word is unknown.",
    )
