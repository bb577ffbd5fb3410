"""All records but scorings and normalisers, and what data sets load."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from torch import Tensor, nn

from attention_plugins.contract.parameters import (
    ContractError,
    Parameter,
    Task,
    check_name,
    check_record,
    check_sentences,
    check_texts,
    settle,
)
from attention_plugins.contract.scorings import ScoringFactory


class _Ends(NamedTuple):
    source: int
    target: int


class ModelSizes(_Ends):
    """What a model connects: vocabulary sizes in translation, dimensions in regression.

    In encoding, the sizes of a sequence's items before and after.

    ``copies`` is for a translation model that copies words: for each id of the source's
    vocabulary, the target's id of the same token, or that of ``<unk>``; empty in other tasks.
    """

    copies: tuple[int, ...] = ()  # no part of the tuple, which models of 1.0 unpack in two

    def __new__(cls, source: int, target: int, copies: tuple[int, ...] = ()) -> Self:
        """The tuple of the two sizes, and which words are the same on both sides."""
        made = super().__new__(cls, source, target)
        made.copies = copies
        return made


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model that attends: it is given a scoring factory and calls it once per site.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        task: ``"regression"``, ``"translation"`` or ``"encoding"``; the module then follows
            :class:`~attention_plugins.models.protocols.RegressionModel`,
            :class:`~attention_plugins.models.protocols.TranslationModel` or
            :class:`~attention_plugins.models.protocols.EncodingModel`.
        build: ``(scoring_factory, sizes, parameters) -> nn.Module``.
        parameters: its hyperparameters.
        reference: paper or section.
        description: one sentence on how it attends.
    """

    name: str
    title: str
    task: Task
    build: Callable[[ScoringFactory, ModelSizes, Mapping[str, Any]], nn.Module]
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_record(self, "model")

    def create(
        self, factory: ScoringFactory, sizes: ModelSizes,
        values: Mapping[str, object] | None = None,
    ) -> nn.Module:  # fmt: skip
        """A fresh model around the scoring that ``factory`` makes.

        ContractError: a bad parameter value, or ``build`` returned no ``nn.Module``.
        """
        model = self.build(factory, sizes, settle(self.parameters, values or {}, on_step=True))
        if not isinstance(model, nn.Module):
            raise ContractError(
                f"model {self.name!r}: build returned {type(model).__name__}; "
                "it must return an nn.Module"
            )
        return model


class RegressionData(NamedTuple):
    """A regression problem: keys and values to attend to, queries to answer.

    Shapes: ``x (n, d)``, ``y (n,)``, ``queries (m, d)``, ``truth (m,)`` or None where the
    noise-free function is unknown.
    """

    x: Tensor
    y: Tensor
    queries: Tensor
    truth: Tensor | None = None


class SentencePair(NamedTuple):
    """A sentence, its translation, and which token of one stands for which of the other.

    ``alignment`` holds ``(source index, target index)`` pairs, from 0, over the tokens of
    its data set's tokeniser, or of ``clitics``; empty where no gold alignment is known.
    ``possible`` are links that may but need not be found, besides those sure ones.
    """

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...] = ()
    possible: tuple[tuple[int, int], ...] = ()


Score = Callable[[Sequence[str], Sequence[Sequence[str]]], float]
DatasetLoad = Callable[[Mapping[str, Any], int], "RegressionData | Sequence[SentencePair]"]


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """Data for one task.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        task: ``"regression"`` or ``"translation"``.
        load: ``(parameters, seed) -> RegressionData`` or a sequence of :class:`SentencePair`.
        parameters: what a user may set, such as the number of points.
        reference: where the data come from.
        formula: LaTeX of the noise-free function, where there is one.
        description: one sentence on what is in it.
        aligned: whether its sentence pairs have gold word alignments.
        sides: what goes in and what comes out, such as ``("English", "French")``.
        examples: sources to start with on a page.
        tokeniser: the name of the one that it should be read with, whose tokens the gold
            alignments count; empty for the recipe's, and for alignments over ``clitics``.
        metric: the name of the one that its translations are scored by.
        continues: whether each target continues its source in the same language, so that both
            are one sentence, cut at a space.
    """

    name: str
    title: str
    task: Task
    load: DatasetLoad
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    formula: str = ""
    description: str = ""
    aligned: bool = False
    sides: tuple[str, str] = ("source", "target")
    examples: tuple[str, ...] = ()
    tokeniser: str = ""
    metric: str = "bleu"
    continues: bool = False

    def __post_init__(self) -> None:
        check_record(self, "data set", "load")
        check_sentences(self, "data set")
        if (
            not isinstance(self.sides, tuple)
            or len(self.sides) != 2
            or not all(isinstance(side, str) and side.strip() for side in self.sides)
        ):
            raise ContractError(
                f"data set {self.name!r}: sides says what goes in and what comes out, such as "
                f'("English", "French"); got {self.sides!r:.60}'
            )
        if not isinstance(self.continues, bool):
            raise ContractError(
                f"data set {self.name!r}: continues is True or False, got {self.continues!r:.60}"
            )
        for kind, name in (("tokeniser", self.tokeniser or "words"), ("metric", self.metric)):
            check_name(kind, name)


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
        if self.best is None or self.worst is None:
            return
        if self.best == self.worst or (self.best > self.worst) != self.higher_is_better:
            raise ContractError(
                f"metric {self.name!r}: best is {self.best:g} and worst {self.worst:g}, but "
                f"higher_is_better is {self.higher_is_better}"
            )


MOST_TEXTS, LONGEST_TEXT = 2000, 2000  # of one record; characters
_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")


@dataclass(frozen=True, kw_only=True)
class TranslationSpec:
    """The texts of a package's records in another language, which pages show in the visitor's.

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
        build: ``learned -> Tokeniser``, from the text that ``learn`` gave; empty without one.
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
        """What it learns from one side's sentences, a text; empty where it learns nothing."""
        learned = self.learn(sentences) if self.learn else ""
        if not isinstance(learned, str):
            got = type(learned).__name__
            raise ContractError(f"tokeniser {self.name!r}: learn returned {got}; return a str")
        return learned

    def create(self, learned: str = "") -> Tokeniser:
        """The tokeniser of one side; ContractError if it lacks ``tokenise`` or ``detokenise``."""
        made = self.build(learned)
        for method in ("tokenise", "detokenise"):
            if not callable(getattr(made, method, None)):
                raise ContractError(
                    f"tokeniser {self.name!r}: build returned {type(made).__name__}; "
                    f"it needs a method {method}"
                )
        return made


@dataclass(frozen=True, kw_only=True)
class CheckpointSpec:
    """A trained translation model at rest.

    Args:
        name: lower-case identifier, the key in links, unique among checkpoints.
        path: the folder, with ``model.safetensors`` and ``card.json``, or one of Hugging Face
            with ``config.json`` in the card's place.
    """

    name: str
    path: Path

    def __post_init__(self) -> None:
        check_name("checkpoint", self.name)
        if not isinstance(self.path, Path):
            got = type(self.path).__name__
            raise ContractError(f"checkpoint {self.name!r}: need path to be a Path, got {got}")


class Spec(Protocol):
    """What the records of all hooks have in common."""

    @property
    def name(self) -> str:
        """Its key in links, unique among the records of one hook."""
        ...
