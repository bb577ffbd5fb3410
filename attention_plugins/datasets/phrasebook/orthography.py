"""From words to sentences: elision, contraction, ``a``/``an``, spaces, capitals, and the links.

Articles are written ``LE`` and ``LES`` until here, since ``de`` and ``à`` swallow them (``du``,
``aux``) but leave the pronouns ``le`` and ``les`` alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.phrasebook.phrase import Phrase, Word
from attention_plugins.text import detokenise

_VOWELS = tuple("aeiouàâæéèêëîïôœùûAEIOUÀÂÆÉÈÊËÎÏÔŒÙÛ")
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
_AN_BEFORE = tuple("aeiou")
_A_DESPITE = ("university", "uniform", "useful", "european", "euro", "one")
_AN_DESPITE = ("hour", "honest")


def starts_with_vowel(word: str) -> bool:
    """Whether French elides before ``word``: a vowel or a mute h."""
    lower = word.lower()
    if lower in _NO_ELISION or lower in _ASPIRATED:
        return False
    return word.startswith(_VOWELS) or lower.startswith("h") or lower in ("y", "yeux")


def french_tokens(words: Sequence[Word]) -> list[Word]:
    """The words with contraction, elision and the ``-t-`` of inversion."""
    contracted: list[Word] = []
    for index, word in enumerate(words):
        before = contracted[-1] if contracted else Word("")
        following = words[index + 1].text if index + 1 < len(words) else ""
        elides = word.text == "LE" and starts_with_vowel(following)
        joined = None if elides else _CONTRACTS.get((before.text, word.text))
        if joined:
            contracted[-1] = Word(joined, before.marks + word.marks)
        else:
            contracted.append(word)
    tokens = []
    for index, (text, marks) in enumerate(contracted):
        following = contracted[index + 1].text if index + 1 < len(contracted) else ""
        if text in _ELIDES and starts_with_vowel(following):
            text = _ELIDES[text]
        elif text == "si" and following in ("il", "ils"):
            text = "s'"
        elif text in ("-il", "-elle") and contracted[index - 1].text[-1] not in "td":
            text = f"-t{text}"
        tokens.append(Word(_ARTICLES.get(text, text), marks))
    return tokens


def english_tokens(words: Sequence[Word]) -> list[Word]:
    """The words with ``an`` before a vowel sound."""
    tokens = []
    for index, word in enumerate(words):
        if word.text == "a" and index + 1 < len(words) and _takes_an(words[index + 1].text.lower()):
            word = Word("an", word.marks)
        tokens.append(word)
    return tokens


def _takes_an(following: str) -> bool:
    vowel = following.startswith(_AN_BEFORE) and not following.startswith(_A_DESPITE)
    return vowel or following.startswith(_AN_DESPITE)


def sentence(phrase: Phrase, end: str) -> SentencePair:
    """The phrase as a pair of sentences that end in ``end`` (``.``, ``!`` or ``?``).

    Both start with a capital; French has a plain space (U+0020) before ``!`` and ``?``.
    """
    source = [*english_tokens(phrase.english), Word(end)]
    target = [*french_tokens(phrase.french), Word(end)]
    places: dict[int, list[int]] = {}
    for index, (_, marks) in enumerate(target):
        for mark in marks:
            places.setdefault(mark, []).append(index)
    links = {(i, j) for i, (_, marks) in enumerate(source) for m in marks for j in places.get(m, ())}
    links.add((len(source) - 1, len(target) - 1))
    return SentencePair(
        _capital(detokenise([text for text, _ in source])),
        _capital(detokenise([text for text, _ in target], french=True)),
        tuple(sorted(links)),
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
