"""Tokenisers as records: how one side of a corpus is cut into tokens, and put together again."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from attention_plugins.contract.checks import check_record, check_sentences
from attention_plugins.contract.parameters import ContractError, check_name, check_texts

Score = Callable[[Sequence[str], Sequence[Sequence[str]]], float]


@dataclass(frozen=True, kw_only=True)
class MetricSpec:
    """A metric of a whole corpus.

    Args:
        name: lower-case identifier; it stands on checkpoints' cards.
        title: what the page shows.
        score: ``(hypotheses, references) -> float``, where each hypothesis has at least one
            reference; called with at least one sentence.
        higher_is_better: whether it is; else lower is.
        best, worst: the bounds of a score, in its unit; None where there is none.
        unit: shown behind a score, such as ``"%"``.
        reference: paper or page that it comes from.
        description: one sentence on what it counts.
    """

    name: str
    title: str
    score: Score
    higher_is_better: bool = True
    best: float | None = 100.0
    worst: float | None = 0.0
    unit: str = ""
    reference: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_record(self, "metric", "score")
        if not isinstance(self.unit, str):
            raise ContractError(f"metric {self.name!r}: unit is a str, such as '%'")
        if not isinstance(self.higher_is_better, bool):
            raise ContractError(f"metric {self.name!r}: higher_is_better is True or False")
        for bound in (self.best, self.worst):
            if bound is not None and not (isinstance(bound, int | float) and math.isfinite(bound)):
                raise ContractError(
                    f"metric {self.name!r}: best and worst are numbers or None, got {bound!r}"
                )
        if self.best is not None and self.worst is not None:
            upward = self.best > self.worst
            if self.best == self.worst or upward != self.higher_is_better:
                raise ContractError(
                    f"metric {self.name!r}: best is {self.best:g} and worst {self.worst:g}, but "
                    f"higher_is_better is {self.higher_is_better}"
                )


MOST_TEXTS, LONGEST_TEXT = 2000, 2000  # of one record; characters
_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")


@dataclass(frozen=True, kw_only=True)
class TranslationSpec:
    """The texts of a package's records in another language.

    Pages show a title, a description or a help in the visitor's language where one of these
    records has it, and as it stands where none has.

    Args:
        name: lower-case identifier, such as ``"my_kernel_zh"``.
        title: what it is called in lists, such as ``"My kernel, 中文"``.
        language: the language's code in ISO 639, such as ``"zh"``.
        texts: translations by the English text, exactly as the record has it; at most 2,000, of
            at most 2,000 characters each.

    Raises:
        ContractError: a field is not what it should be.
    """

    name: str
    title: str
    language: str
    texts: Mapping[str, str]

    def __post_init__(self) -> None:
        check_name("translation", self.name)
        check_texts(self, "translation", ("title", "language"))
        if not _LANGUAGE.match(self.language):
            raise ContractError(
                f"translation {self.name!r}: need language to be a code of ISO 639 such as 'zh', "
                f"got {self.language!r}"
            )
        if not isinstance(self.texts, Mapping) or len(self.texts) > MOST_TEXTS:
            raise ContractError(
                f"translation {self.name!r}: texts is a mapping of at most {MOST_TEXTS:,} English "
                "texts to their translations"
            )
        for text, said in self.texts.items():
            for one in (text, said):
                if not isinstance(one, str) or not 0 < len(one) <= LONGEST_TEXT:
                    raise ContractError(
                        f"translation {self.name!r}: a text and its translation are str of 1 to "
                        f"{LONGEST_TEXT:,} characters, got {one!r:.60}"
                    )


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
