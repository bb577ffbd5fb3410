"""Word links from one tokenisation of a sentence pair to another."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.text import normalise

Link = tuple[int, int]
Tokens = Sequence[str]


def carried(
    links: Sequence[Link],
    before: tuple[Tokens, Tokens],
    after: tuple[Tokens, Tokens],
    pair: tuple[str, str],
) -> list[Link]:
    """The links over the tokens ``before``, over the tokens ``after`` of the same pair.

    Tokens that share a letter of the text stand for each other, so a link of a word becomes one
    of each of its pieces. A link is dropped where the tokens cannot be found in the text.

    Args:
        links: ``(source index, target index)``.
        before, after: the tokens of both sides.
        pair: the text of both sides.
    """
    if tuple(map(list, before)) == tuple(map(list, after)):
        return list(links)
    sides = [_pieces(*side) for side in zip(before, after, pair, strict=True)]
    found = {
        (i, j)
        for source, target in links
        for i in sides[0].get(source, ())
        for j in sides[1].get(target, ())
    }
    return sorted(found)


def _pieces(before: Tokens, after: Tokens, text: str) -> dict[int, list[int]]:
    """For each token before the tokens after that have a letter in common with it."""
    letters = "".join(normalise(text).split())
    owners = [_owners(tokens, letters) for tokens in (before, after)]
    found: dict[int, list[int]] = {}
    for old, new in zip(*owners, strict=True):
        if old >= 0 and new >= 0 and new not in found.setdefault(old, []):
            found[old].append(new)
    return found


def _owners(tokens: Tokens, letters: str) -> list[int]:
    """For each letter the token that it belongs to, -1 for none.

    Marks that a tokeniser adds, such as ``@@`` and ``▁``, are no letters of the text.
    """
    owners, place = [-1] * len(letters), 0
    for number, token in enumerate(tokens):
        for letter in token.lower():
            if place < len(letters) and letters[place] == letter:
                owners[place] = number
                place += 1
    return owners
