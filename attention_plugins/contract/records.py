"""Models, data sets and checkpoints as records, and what data sets load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from torch import Tensor, nn

from attention_plugins.contract.checks import Task, check_record, check_sentences
from attention_plugins.contract.parameters import (
    ContractError,
    Parameter,
    check_name,
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
    vocabulary, the id that the same token has in the target's, or that of ``<unk>``. The two
    sides are numbered each for itself. It is empty in the other tasks.
    """

    copies: tuple[int, ...] = ()  # no part of the tuple, which models of 1.0 unpack in two

    def __new__(cls, source: int, target: int, copies: tuple[int, ...] = ()) -> Self:
        """The tuple of the two sizes, and which words are the same on both sides."""
        made = super().__new__(cls, source, target)
        made.copies = copies
        return made


ModelBuild = Callable[[ScoringFactory, ModelSizes, Mapping[str, Any]], nn.Module]


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
    build: ModelBuild
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        check_record(self, "model")

    def create(
        self,
        factory: ScoringFactory,
        sizes: ModelSizes,
        values: Mapping[str, object] | None = None,
    ) -> nn.Module:
        """A fresh model around the scoring that ``factory`` makes.

        Raises:
            ContractError: a bad parameter value, or ``build`` returned no ``nn.Module``.
        """
        parameters = settle(self.parameters, values or {}, on_step=True)
        model = self.build(factory, sizes, parameters)
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

    def __post_init__(self) -> None:
        check_record(self, "data set", "load")
        check_sentences(self, "data set")
        check_sides(self.name, self.sides)
        for kind, name in (("tokeniser", self.tokeniser or "words"), ("metric", self.metric)):
            check_name(kind, name)


def check_sides(name: str, sides: object) -> None:
    """Raise :class:`ContractError` unless ``sides`` says what goes in and what comes out."""
    if (
        not isinstance(sides, tuple)
        or len(sides) != 2
        or not all(isinstance(side, str) and side.strip() for side in sides)
    ):
        raise ContractError(
            f"data set {name!r}: sides says what goes in and what comes out, such as "
            f'("English", "French"); got {sides!r:.60}'
        )


@dataclass(frozen=True, kw_only=True)
class CheckpointSpec:
    """A trained translation model at rest, in a folder.

    The folder holds ``model.safetensors`` and ``card.json``,
    or one of Hugging Face with ``config.json`` in the card's place.

    Args:
        name: lower-case identifier, the key in links, unique among checkpoints.
        path: the folder.
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
