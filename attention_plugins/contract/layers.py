"""Attention layers as records: what a Transformer attends with at a site, projections and all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from attention_plugins.contract.parameters import ContractError, Parameter, check_record, settle
from attention_plugins.contract.scorings import ScoringFactory
from attention_plugins.contract.sizes import LayerSizes, SiteKind

_KINDS: tuple[SiteKind, ...] = ("encoder", "decoder", "cross")


@dataclass(frozen=True, kw_only=True)
class LayerSpec:
    """An attention layer, which the built-in Transformers take in place of multi-head attention.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        build: ``(scoring_factory, sizes, parameters)`` to a module such as an
            :class:`~attention_plugins.layers.AttentionLayer`; called once per site.
        formula: LaTeX of the weights or of the output, where there is one.
        parameters: what a user may set; a Transformer takes their defaults.
        reference: paper or section.
        description: one sentence on how it attends.
        kinds: the kinds of sites where it can stand: of ``"encoder"``, ``"decoder"`` and
            ``"cross"``. At the others a Transformer keeps multi-head attention.
        own_scoring: whether it scores in its own way, and asks for no scoring.
    """

    name: str
    title: str
    build: Callable[[ScoringFactory, LayerSizes, Mapping[str, Any]], nn.Module]
    formula: str = ""
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""
    kinds: tuple[SiteKind, ...] = _KINDS
    own_scoring: bool = False

    def __post_init__(self) -> None:
        check_record(self, "layer")
        if not isinstance(self.kinds, tuple) or not self.kinds or not {*self.kinds} <= {*_KINDS}:
            raise ContractError(
                f"layer {self.name!r}: need kinds to be some of {', '.join(_KINDS)}, "
                f"got {self.kinds!r}"
            )
        if not isinstance(self.own_scoring, bool):
            raise ContractError(f"layer {self.name!r}: own_scoring is True or False")

    def create(
        self, factory: ScoringFactory, sizes: LayerSizes,
        values: Mapping[str, object] | None = None,
    ) -> nn.Module:  # fmt: skip
        """A fresh layer for one site.

        ContractError: a bad parameter value, a kind of site where it cannot stand, or what
        ``build`` returned is no module with ``remember`` and ``attend``.
        """
        if sizes.kind and sizes.kind not in self.kinds:
            raise ContractError(
                f"layer {self.name!r} stands at sites of the kind {' or '.join(self.kinds)}, "
                f"not {sizes.kind}"
            )
        made = self.build(factory, sizes, settle(self.parameters, values or {}, on_step=True))
        for method in ("remember", "attend"):
            if not isinstance(made, nn.Module) or not callable(getattr(made, method, None)):
                raise ContractError(
                    f"layer {self.name!r}: build returned {type(made).__name__}; it must return "
                    f"an AttentionLayer, an nn.Module with a method {method}"
                )
        return made
