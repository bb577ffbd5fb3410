"""From words to sentences: elision, contraction, ``a``/``an``, spaces, capitals, and the links.

Articles are written ``LE`` and ``LES`` until here, since ``de`` and ``à`` swallow them (``du``,
``aux``) but leave the pronouns ``le`` and ``les`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.phrasebook.phrase import Marks, Phrase, Word
from attention_plugins.text import FRENCH, detokenise

_VOWELS = tuple("aeiouàâæéèêëîïôœùû")
_ASPIRATED = (
    "haut hauts haute hautes huit huitième hamster hamsters haricot haricots héros honte "
    "hasard hollande homard"
).split()
_NO_ELISION = ("onze", "oui")
_ELIDES = {
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "le": "l'",
    "la": "l'",
    "LE": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
}
_CONTRACTS = {("de", "LE"): "du", ("de", "LES"): "des", ("à", "LE"): "au", ("à", "LES"): "aux"}
_ARTICLES = {"LE": "le", "LES": "les"}
_INVERTED = ("-il", "-elle")
_AN_BEFORE = tuple("aeiou")
_A_DESPITE = ("university", "uniform", "useful", "european", "euro", "one")
_AN_DESPITE = ("hour", "honest")


@cache
def starts_with_vowel(word: str) -> bool:
    """Whether French elides before ``word``: a vowel or a mute h."""
    lower = word.lower()
    if lower in _NO_ELISION or lower in _ASPIRATED:
        return False
    return lower.startswith((*_VOWELS, "h")) or lower in ("y", "yeux")


def french_tokens(words: Sequence[Word]) -> tuple[list[str], list[Marks]]:
    """The words with contraction, elision and the ``-t-`` of inversion, and the marks of each."""
    texts: list[str] = []
    marks: list[Marks] = []
    last = len(words) - 1
    for index, (text, tied) in enumerate(words):
        following = words[index + 1][0] if index < last else ""
        written = _ARTICLES.get(text, text)
        if text in _ELIDES and starts_with_vowel(following):
            written = _ELIDES[text]
        elif text in _ARTICLES and texts and (texts[-1], text) in _CONTRACTS:
            texts[-1] = _CONTRACTS[texts[-1], text]
            marks[-1] += tuple(mark for mark in tied if mark not in marks[-1])
            continue
        elif text in _INVERTED and texts[-1][-1] not in "td":
            written = f"-t{text}"
        elif text == "si" and following in ("il", "ils"):
            written = "s'"
        texts.append(written)
        marks.append(tied)
    return texts, marks


def english_tokens(words: Sequence[Word]) -> tuple[list[str], list[Marks]]:
    """The words with ``an`` before a vowel sound, and the marks of each."""
    texts = [text for text, _ in words]
    for index, text in enumerate(texts[:-1]):
        if text == "a" and _takes_an(texts[index + 1].lower()):
            texts[index] = "an"
    return texts, [tied for _, tied in words]


def _takes_an(following: str) -> bool:
    vowel = following.startswith(_AN_BEFORE) and not following.startswith(_A_DESPITE)
    return vowel or following.startswith(_AN_DESPITE)


def sentence(phrase: Phrase, end: str) -> SentencePair:
    """The phrase as a pair of sentences that end in ``end`` (``.``, ``!`` or ``?``).

    Both start with a capital; French has a plain space (U+0020) before ``!`` and ``?``.
    """
    source, source_marks = english_tokens(phrase.english)
    target, target_marks = french_tokens(phrase.french)
    places: dict[int, list[int]] = {}
    for index, marks in enumerate(target_marks):
        for mark in marks:
            places.setdefault(mark, []).append(index)
    links = []
    for index, marks in enumerate(source_marks):
        if len(marks) == 1:
            links += [_link(index, place) for place in places.get(marks[0], ())]
        elif marks:
            tied = {place for mark in marks for place in places.get(mark, ())}
            links += [_link(index, place) for place in sorted(tied)]
    links.append(_link(len(source), len(target)))
    return SentencePair(
        _capital(detokenise([*source, end])),
        _capital(detokenise([*target, end], FRENCH)),
        tuple(links),
    )


@cache
def _link(source: int, target: int) -> tuple[int, int]:
    """One tuple for all sentences: the corpus has 182,000 links, and 157 different ones."""
    return source, target


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
