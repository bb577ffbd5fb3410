"""Attention Workbench's plugin contract: write a scoring once, see it in every model."""

import importlib
import os
import sys
from typing import TYPE_CHECKING

# A command's threads sleep while they wait: spinning, they would take each other's time on busy
# cores. torch reads this when it is imported. While Python looks for a program to run by -m, that
# is its name; whoever else imports this package keeps the policy of the process.
if sys.argv[:1] == ["-m"]:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

if TYPE_CHECKING:
    from attention_plugins.attention import (
        KernelScoring,
        Positions,
        Product,
        ProductScoring,
        Scoring,
        as_mask,
        attend,
        masked_softmax,
    )
    from attention_plugins.attention_log import log_attention, read_step
    from attention_plugins.contract import (
        CheckpointSpec,
        ContractError,
        DatasetSpec,
        LayerSizes,
        LayerSpec,
        MetricSpec,
        ModelSizes,
        ModelSpec,
        NormaliserSpec,
        Parameter,
        RegressionData,
        ScoringSpec,
        SentencePair,
        Sizes,
        Tokeniser,
        TokeniserSpec,
        TranslationSpec,
        normaliser,
        scoring,
    )
    from attention_plugins.hookspecs import hookimpl
    from attention_plugins.layers import AttentionLayer, MultiHead
    from attention_plugins.log_callbacks import lightning_log, trainer_log
    from attention_plugins.maps import AttentionMaps
    from attention_plugins.model_watch import AttentionUnseen, watch
    from attention_plugins.models.protocols import Batch
    from attention_plugins.price.measuring import price_of_swap
    from attention_plugins.radial import Exponential, RadialScoring, Smooth, Window
    from attention_plugins.record import AttentionMap, Axes, Site
    from attention_plugins.registry import get_layer, get_normaliser, get_scoring
    from attention_plugins.swaps.swapping import Swap, swap, unswap
    from attention_plugins.tap import Intervention, Recorder, Tap
    from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID, UNK_ID

# The module of each public name. It is imported when the name is first asked for, and not with
# this package: pages take what is light from its modules and load no torch.
_MODULES = {
    name: f"attention_plugins.{module}"
    for module, names in {
        "attention": "KernelScoring Positions Product ProductScoring Scoring as_mask attend "
        "masked_softmax",
        "attention_log": "log_attention read_step",
        "contract": "CheckpointSpec ContractError DatasetSpec LayerSizes LayerSpec MetricSpec "
        "ModelSizes ModelSpec NormaliserSpec Parameter RegressionData ScoringSpec SentencePair "
        "Sizes Tokeniser TokeniserSpec TranslationSpec normaliser scoring",
        "hookspecs": "hookimpl",
        "layers": "AttentionLayer MultiHead",
        "log_callbacks": "lightning_log trainer_log",
        "maps": "AttentionMaps",
        "model_watch": "AttentionUnseen watch",
        "models.protocols": "Batch",
        "price.measuring": "price_of_swap",
        "radial": "Exponential RadialScoring Smooth Window",
        "record": "AttentionMap Axes Site",
        "registry": "get_layer get_normaliser get_scoring",
        "swaps.swapping": "Swap swap unswap",
        "tap": "Intervention Recorder Tap",
        "text": "BOS_ID EOS_ID PAD_ID UNK_ID",
    }.items()
    for name in names.split()
}

__all__ = [
    "BOS_ID",
    "EOS_ID",
    "PAD_ID",
    "UNK_ID",
    "AttentionLayer",
    "AttentionMap",
    "AttentionMaps",
    "AttentionUnseen",
    "Axes",
    "Batch",
    "CheckpointSpec",
    "ContractError",
    "DatasetSpec",
    "Exponential",
    "Intervention",
    "KernelScoring",
    "LayerSizes",
    "LayerSpec",
    "MetricSpec",
    "ModelSizes",
    "ModelSpec",
    "MultiHead",
    "NormaliserSpec",
    "Parameter",
    "Positions",
    "Product",
    "ProductScoring",
    "RadialScoring",
    "Recorder",
    "RegressionData",
    "Scoring",
    "ScoringSpec",
    "SentencePair",
    "Site",
    "Sizes",
    "Smooth",
    "Swap",
    "Tap",
    "Tokeniser",
    "TokeniserSpec",
    "TranslationSpec",
    "Window",
    "as_mask",
    "attend",
    "get_layer",
    "get_normaliser",
    "get_scoring",
    "hookimpl",
    "lightning_log",
    "log_attention",
    "masked_softmax",
    "normaliser",
    "price_of_swap",
    "read_step",
    "scoring",
    "swap",
    "trainer_log",
    "unswap",
    "watch",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    # Plugins may also reach a module as an attribute: when all was loaded here, that worked.
    if name in {module.split(".")[1] for module in _MODULES.values()}:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
