"""Rules of tokenisers. Importing this registers them, in the order in which they run."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch

from attention_plugins.checking.devices import nothing_drawn
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checking.records import require_explained
from attention_plugins.contract import Tokeniser, TokeniserSpec

__all__ = [
    "check_sentences_come_back",
    "check_the_record_explains_itself",
    "check_tokens_are_text",
    "check_what_is_learned_is_reproducible",
]

_SENTENCES = ("the old man walks.", "does the cat walk?", "a b c", "the man is older.")


@rule("tokenisers")
def check_the_record_explains_itself(spec: TokeniserSpec) -> None:
    """A title, and where it comes from."""
    require_explained(spec)


@rule("tokenisers")
def check_tokens_are_text(spec: TokeniserSpec) -> None:
    """A list of str, none of them empty or with a space inside; no token of an empty text."""
    made = _made(spec)
    for text in _sentences(spec):
        tokens = made.tokenise(text)
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise Broken(f"tokenise({text!r}) gave {tokens!r:.60}; return a list of str")
        if not tokens:
            raise Broken(f"tokenise({text!r}) gave no token; drop no sentence")
        for token in tokens:
            if not token or any(letter.isspace() for letter in token):
                raise Broken(
                    f"tokenise({text!r}) gave the token {token!r}; leave empty ones out, and "
                    "write a space as a sign, such as ▁"
                )
    if made.tokenise("") != [] or made.tokenise(" ") != []:
        raise Broken("an empty text gave tokens; return an empty list")
    if made.detokenise([]) != "":
        raise Broken("no tokens gave a text; return an empty str")


@rule("tokenisers")
def check_sentences_come_back(spec: TokeniserSpec) -> None:
    """Detokenised, its examples are as they were, but for case; those of no example are ours."""
    made = _made(spec)
    for text in spec.examples or _SENTENCES:
        found = made.detokenise(made.tokenise(text))
        if not isinstance(found, str):
            raise Broken(f"detokenise returned {type(found).__name__}; return a str")
        if found.lower() != text.lower():
            raise Broken(
                f"{text!r} came back as {found!r}; let detokenise undo tokenise, or give "
                "examples of what it is meant for"
            )


@rule("tokenisers")
def check_what_is_learned_is_reproducible(spec: TokeniserSpec) -> None:
    """Equal sentences give equal text, which builds a tokeniser of equal tokens."""
    texts, learned = _sentences(spec), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        random.seed(seed)
        with nothing_drawn("learn"):
            learned.append(_learned(spec, texts))
    if learned[0] != learned[1]:
        raise Broken(
            "the same sentences gave two different texts; break ties by the tokens themselves"
        )
    if spec.learn and not learned[0]:
        raise Broken("learn gave an empty text; return what build needs, or leave learn away")
    one, another = spec.create(learned[0]), spec.create(learned[1])
    if any(one.tokenise(text) != another.tokenise(text) for text in texts):
        raise Broken("one text built two tokenisers that differ; draw nothing in build")


def _sentences(spec: TokeniserSpec) -> Sequence[str]:
    return (*spec.examples, *_SENTENCES)


def _learned(spec: TokeniserSpec, sentences: Sequence[str]) -> str:
    with attempt("learning from sentences", "let learn take a sequence of str and return a str"):
        return spec.learned_from(sentences)


def _made(spec: TokeniserSpec) -> Tokeniser:
    learned = _learned(spec, spec.examples or _SENTENCES)
    with attempt("while it was built", "let build take the text that learn gave"):
        return spec.create(learned)
