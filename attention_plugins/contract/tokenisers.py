"""Tokenisers as records: how one side of a corpus is cut into tokens, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from attention_plugins.contract.checks import check_record, check_sentences
from attention_plugins.contract.parameters import ContractError


class Tokeniser(Protocol):
    """One side's tokeniser; it keeps nothing between calls."""

    def tokenise(self, text: str) -> list[str]:
        """The text's tokens: not empty, without a space inside."""
        ...

    def detokenise(self, tokens: Sequence[str]) -> str:
        """The text that a reader expects of the tokens."""
        ...


@dataclass(frozen=True, kw_only=True)
class TokeniserSpec:
    """A tokeniser, built anew for each side of a corpus.

    Args:
        name: lower-case identifier; it stands in links and on checkpoints' cards.
        title: what the page shows.
        build: ``learned -> Tokeniser``, from the text that ``learn`` gave; empty where there is
            none.
        learn: ``sentences -> learned`` for what is learned from one side's training sentences,
            such as the merges of BPE: plain text, which is stored on the card, so that a
            checkpoint works anywhere. Equal sentences give equal text.
        examples: sentences that come back from it as they were, or but for their case.
        reference: paper or page that it comes from.
        description: one sentence on what a token is.
    """

    name: str
    title: str
    build: Callable[[str], Tokeniser]
    learn: Callable[[Sequence[str]], str] | None = None
    examples: tuple[str, ...] = ()
    reference: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_record(self, "tokeniser")
        check_sentences(self, "tokeniser")
        if self.learn is not None and not callable(self.learn):
            raise ContractError(f"tokeniser {self.name!r}: learn must be callable, or None")

    def learned_from(self, sentences: Sequence[str]) -> str:
        """What it learns from one side's sentences; empty where it learns nothing.

        Raises:
            ContractError: ``learn`` returned something else than text.
        """
        learned = self.learn(sentences) if self.learn else ""
        if not isinstance(learned, str):
            got = type(learned).__name__
            raise ContractError(f"tokeniser {self.name!r}: learn returned {got}; return a str")
        return learned

    def create(self, learned: str = "") -> Tokeniser:
        """The tokeniser of one side.

        Raises:
            ContractError: ``build`` returned something without ``tokenise`` or ``detokenise``.
        """
        made = self.build(learned)
        for method in ("tokenise", "detokenise"):
            if not callable(getattr(made, method, None)):
                raise ContractError(
                    f"tokeniser {self.name!r}: build returned {type(made).__name__}; "
                    f"it needs a method {method}"
                )
        return made
