"""A formula as a scoring like any other: its record, and the module that computes it."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring, together
from attention_plugins.contract import TASKS, ContractError, Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.formula.evaluation import Given, evaluate, held_by, lowered, pairs_of
from attention_plugins.formula.kinds import resolve
from attention_plugins.formula.lexer import LONGEST, FormulaError
from attention_plugins.formula.names import NAMES
from attention_plugins.formula.parser import parse
from attention_plugins.formula.tree import (
    Call,
    Node,
    axes,
    is_vector,
    latex,
    names_in,
    parts,
    spelled,
)
from attention_plugins.radial import elements_of_squares

AT_ONCE = 1 << 22  # numbers of a vector of pairs that are made at a time
_HELD = 4  # such vectors in memory at once; where a formula needs more, they are shorter
MOST_KEPT = 1 << 29  # numbers that one call may leave for the backward pass: 2 GiB in float32
MOST_WORK = 1 << 35  # numbers that one call may make: about a minute on one core
LOW, HIGH = 0.01, 10.0  # of a parameter
_LONGEST_TITLE = 60
_WITHOUT = {"regression": ("i", "j"), "translation": ("n",)}  # names that make no sense there


@dataclass(frozen=True)
class Formula:
    """A formula that was read: its tree, and the one that is computed.

    Attributes:
        tree: of operations, as the formula says them.
        plan: the same scores with matrix products where possible.
        parameters: the names of what is learned.
        numbers, vectors: operations of the plan for each query and key.
        held: how many of these vectors are in memory at once.
    """

    tree: Node
    plan: Node
    parameters: tuple[str, ...]
    numbers: int
    vectors: int
    held: int

    @property
    def text(self) -> str:
        """Its one spelling."""
        return spelled(self.tree)

    def names(self, *names: str) -> bool:
        """Whether one of these names stands in it."""
        return not names_in(self.tree).keys().isdisjoint(names)


@functools.lru_cache(maxsize=256)
def read(text: str) -> Formula:
    """Read a formula, with or without ``=``; FormulaError says where it is wrong, and how."""
    tree = resolve(parse(text))
    spelling = spelled(tree)
    if len(spelling) > LONGEST:
        raise FormulaError(
            f"written out it has over {LONGEST} characters; shorten it", 0, len(text)
        )
    try:  # the one spelling, which is the formula's name, must be read again
        parse(spelling)
    except FormulaError as error:
        raise FormulaError(
            "written out its brackets are too many within each other; write it with fewer steps",
            0, len(text),
        ) from error  # fmt: skip
    plan = lowered(tree)
    found = tuple(name for name in names_in(tree) if name not in NAMES)
    return Formula(tree, plan, found, *pairs_of(plan), held_by(plan))


def spec_of(text: str, *, name: str = "") -> ScoringSpec:
    """A formula as a scoring's record.

    Args:
        text: the formula, with or without ``=`` in front.
        name: of the record; by default ``=`` and the formula's one spelling.

    Raises:
        FormulaError: see :func:`read`.
    """
    formula = read(text)
    short = formula.text
    if len(short) > _LONGEST_TITLE:
        short = f"{short[: _LONGEST_TITLE - 1]}…"
    return ScoringSpec(
        name=name or f"={formula.text}",
        title=short,
        formula=latex(formula.tree),
        build=functools.partial(FormulaScoring, formula),
        parameters=tuple(
            Parameter(
                name=name, title=name, default=1.0, low=LOW, high=HIGH, step=0.01, learnable=True,
                help=f"The formula's {name}, which training may change.",
            )
            for name in formula.parameters
        ),
        reference="Typed as a formula",
        same_size=any(map(_meet, parts(formula.tree))),
        # Points have no order, and padding changes how many keys there are.
        tasks=tuple(task for task in TASKS if not formula.names(*_WITHOUT.get(task, ()))),
    )  # fmt: skip


class FormulaScoring(Scoring):
    """What a formula says of projected queries and keys, which are those that came.

    Its operations make ``numbers_per_pair`` numbers of a query and a key.
    """

    def __init__(self, formula: Formula, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.formula, self.heads = formula, sizes.heads
        self.numbers_per_pair = formula.numbers + formula.vectors * sizes.key
        if formula.names("i", "j"):
            self.needs = ("positions",)
        if not formula.vectors:
            called = {part.function for part in parts(formula.plan) if isinstance(part, Call)}
            self.elements_per_pair = elements_of_squares(sizes.key) if "squares" in called else 1
        # With a prefix, because a module has attributes of its own.
        for name in formula.parameters:
            value = torch.tensor(float(values[name]))
            self.register_parameter(f"learned_{name}", nn.Parameter(value))

    @property
    def learned(self) -> dict[str, nn.Parameter]:
        """The parameters by name, each of one element."""
        return {name: getattr(self, f"learned_{name}") for name in self.formula.parameters}

    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        """Scores ``(..., n_q, n_k)``, in blocks of queries where each pair makes a vector.

        ContractError: it would take more work or memory than a formula may.
        """
        wide = torch.promote_types(queries.dtype, torch.float32)
        parameters = {name: value.to(wide) for name, value in self.learned.items()}
        q, k = queries.to(wide), keys.to(wide)
        given = Given(q, k, parameters, needs.get("positions"), self.heads)
        block = self._block(queries, keys)
        plan, count = self.formula.plan, queries.shape[-2]
        if block >= count:
            return evaluate(plan, given).to(queries.dtype)
        blocks = [slice(start, start + block) for start in range(0, count, block)]
        scores = [evaluate(plan, given.of_queries(part)) for part in blocks]
        return torch.cat(scores, dim=-2).to(queries.dtype)

    def _block(self, queries: Tensor, keys: Tensor) -> int:
        leading = math.prod(together(queries.shape[:-2], keys.shape[:-2]))
        (count, size), n_keys = queries.shape[-2:], keys.shape[-2]
        pairs, formula = leading * count * n_keys, self.formula
        made = pairs * (formula.numbers + formula.vectors * size)
        learns = torch.is_grad_enabled() and (
            queries.requires_grad or keys.requires_grad or bool(formula.parameters)
        )
        limit = MOST_KEPT if learns else MOST_WORK
        if made > limit:
            raise ContractError(
                f"the formula {formula.text} makes {made:,} numbers of {pairs:,} pairs of query "
                f"and key, and may make {limit:,} while it learns; take fewer points or shorter "
                "sentences, or write it with q.k or |q - k|^2, which make none of each feature"
                if learns
                else f"the formula {formula.text} makes {made:,} numbers of {pairs:,} pairs of "
                f"query and key, and may make {limit:,}; take fewer points or shorter "
                "sentences, or write it with q.k or |q - k|^2, which make none of each feature"
            )
        if not formula.vectors:
            return count
        at_once = AT_ONCE * _HELD // max(_HELD, formula.held)
        return max(1, at_once // max(1, leading * n_keys * size))


def _meet(node: Node) -> bool:
    """Whether a vector of the query meets one of the key, number by number."""
    if not isinstance(node, Call):
        return False
    found = [axes(argument) for argument in node.arguments if is_vector(argument)]
    return len(found) > 1 and frozenset().union(*found) == {"q", "k"}
