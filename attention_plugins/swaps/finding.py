"""Where a model attends in a way that can be swapped, and what of it is chosen."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from attention_plugins.contract import ContractError, Sizes
from attention_plugins.huggingface import swapping as library
from attention_plugins.huggingface.families import FAMILIES, Family
from attention_plugins.model_watch import Layers, chooser
from attention_plugins.swaps import multi_head
from attention_plugins.swaps.site import Kind, named_in_code

KINDS = ("self", "cross", "encoder", "decoder")
_OPERATORS = {"scaled_dot_product_attention", "flex_attention", "multi_head_attention_forward"}


@dataclass(frozen=True)
class Found:
    """A module whose scoring can be swapped; ``own`` is ``"dot"`` where it does not scale (T5)."""

    name: str
    module: nn.Module
    sizes: Sizes
    kind: Kind
    own: str = "scaled_dot"


def libraries_in(model: nn.Module) -> list[Any]:
    """The models of transformers in it, without those that are in one of them."""
    found, inner = [], set()
    for module in model.modules():
        if library.is_library(module) and module not in inner:
            found.append(module)
            inner.update(module.modules())
    return found


def found_in(model: nn.Module, example: Mapping[str, Any] | None, layers: Layers) -> list[Found]:
    """What can be swapped, in the order in which it attends; ContractError: what cannot."""
    names = {module: name for name, module in model.named_modules()}
    found: dict[nn.Module, Found] = {}
    for one in libraries_in(model):
        if library.has_sites(one):
            own = FAMILIES.get(one.config.model_type, Family("")).scoring
            for module, (shape, kind) in library.attending(one, example).items():
                value = 0 if shape.value_size == shape.size else shape.value_size
                sizes = Sizes(shape.size, shape.size, shape.size, shape.heads, value)
                found[module] = Found(names[module], module, sizes, kind, own)
    for module, (sizes, kind) in multi_head.sites(model).items():
        found.setdefault(module, Found(names[module], module, sizes, kind))
    _refuse_by_themselves(names, found, layers)
    return [*found.values()]


def _refuse_by_themselves(
    names: Mapping[nn.Module, str], found: Mapping[nn.Module, Any], layers: Layers
) -> None:
    inner = {module for each in found for module in each.modules()}
    for module, name in names.items():
        attends = type(module).__name__.endswith("Attention") or (
            not _OPERATORS.isdisjoint(named_in_code(module))
        )
        if attends and module not in inner and found.keys().isdisjoint(module.modules()):
            if layers is not None and not chooser(layers, names.values())(name, -1):
                continue
            raise ContractError(
                f"{name!r} is a {type(module).__name__}, which attends by itself, and neither "
                "by the attention interface of transformers nor by nn.MultiheadAttention, so a "
                "swap would be ignored there"
            )
    if not found:
        raise ContractError(
            "nothing in this model attends by the attention interface of transformers or by "
            "nn.MultiheadAttention, so no scoring can be swapped"
        )


def chosen_of(
    found: Sequence[Found], layers: Layers, kinds: str | Collection[str] | None
) -> list[Found]:
    """Those that a user asked for; ContractError: none, or kinds that are not known."""
    asked = {kinds} if isinstance(kinds, str) else set(kinds or KINDS)
    if unknown := asked.difference(KINDS):
        raise ContractError(f"kinds are {', '.join(KINDS)}, got {sorted(unknown)[0]!r}")
    asked |= {"encoder", "decoder"} if "self" in asked else set()
    is_chosen = chooser(layers, [each.name for each in found])
    chosen = [each for number, each in enumerate(found) if is_chosen(each.name, number)]
    unsure = [each for each in chosen if not each.kind]
    if unsure and kinds is not None:
        raise ContractError(
            f"whether {unsure[0].name!r} is self- or cross-attention is not known here; choose by "
            "layers="
        )
    chosen = [each for each in chosen if kinds is None or each.kind in asked]
    if not chosen:
        raise ContractError(
            f"layers= and kinds= choose none of {', '.join(each.name for each in found)}"
        )
    return chosen
