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
    from attention_plugins.contract import (
        CheckpointSpec,
        ContractError,
        DatasetSpec,
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
    from attention_plugins.models.protocols import Batch
    from attention_plugins.radial import Exponential, RadialScoring, Smooth, Window
    from attention_plugins.record import AttentionMap, Axes
    from attention_plugins.registry import get_normaliser, get_scoring
    from attention_plugins.tap import Intervention, Recorder, Site, Tap
    from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID, UNK_ID

# The module of each public name. It is imported when the name is first asked for, and not with
# this package: pages take what is light from its modules and load no torch.
_MODULES = {
    "KernelScoring": "attention_plugins.attention",
    "Positions": "attention_plugins.attention",
    "Product": "attention_plugins.attention",
    "ProductScoring": "attention_plugins.attention",
    "Scoring": "attention_plugins.attention",
    "as_mask": "attention_plugins.attention",
    "attend": "attention_plugins.attention",
    "masked_softmax": "attention_plugins.attention",
    "CheckpointSpec": "attention_plugins.contract",
    "ContractError": "attention_plugins.contract",
    "DatasetSpec": "attention_plugins.contract",
    "MetricSpec": "attention_plugins.contract",
    "ModelSizes": "attention_plugins.contract",
    "ModelSpec": "attention_plugins.contract",
    "NormaliserSpec": "attention_plugins.contract",
    "Parameter": "attention_plugins.contract",
    "RegressionData": "attention_plugins.contract",
    "ScoringSpec": "attention_plugins.contract",
    "SentencePair": "attention_plugins.contract",
    "Sizes": "attention_plugins.contract",
    "Tokeniser": "attention_plugins.contract",
    "TokeniserSpec": "attention_plugins.contract",
    "TranslationSpec": "attention_plugins.contract",
    "normaliser": "attention_plugins.contract",
    "scoring": "attention_plugins.contract",
    "hookimpl": "attention_plugins.hookspecs",
    "Batch": "attention_plugins.models.protocols",
    "Exponential": "attention_plugins.radial",
    "RadialScoring": "attention_plugins.radial",
    "Smooth": "attention_plugins.radial",
    "Window": "attention_plugins.radial",
    "AttentionMap": "attention_plugins.record",
    "Axes": "attention_plugins.record",
    "get_normaliser": "attention_plugins.registry",
    "get_scoring": "attention_plugins.registry",
    "Intervention": "attention_plugins.tap",
    "Recorder": "attention_plugins.tap",
    "Site": "attention_plugins.tap",
    "Tap": "attention_plugins.tap",
    "BOS_ID": "attention_plugins.text",
    "EOS_ID": "attention_plugins.text",
    "PAD_ID": "attention_plugins.text",
    "UNK_ID": "attention_plugins.text",
}

__all__ = [
    "BOS_ID",
    "EOS_ID",
    "PAD_ID",
    "UNK_ID",
    "AttentionMap",
    "Axes",
    "Batch",
    "CheckpointSpec",
    "ContractError",
    "DatasetSpec",
    "Exponential",
    "Intervention",
    "KernelScoring",
    "MetricSpec",
    "ModelSizes",
    "ModelSpec",
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
    "Tap",
    "Tokeniser",
    "TokeniserSpec",
    "TranslationSpec",
    "Window",
    "as_mask",
    "attend",
    "get_normaliser",
    "get_scoring",
    "hookimpl",
    "masked_softmax",
    "normaliser",
    "scoring",
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
