"""Attention Workbench's plugin contract: write a scoring once, see it in every model."""

import os
import sys

# A command's threads sleep while they wait: spinning, they would take each other's time on busy
# cores. torch reads this when it is imported. While Python looks for a program to run by -m, that
# is its name; whoever else imports this package keeps the policy of the process.
if sys.argv[:1] == ["-m"]:
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

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
