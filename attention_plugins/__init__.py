"""Attention Workbench's plugin contract: write a scoring once, see it in every model."""

from attention_plugins.attention import KernelScoring, Positions, Scoring, attend, masked_softmax
from attention_plugins.axes import Axes
from attention_plugins.contract import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    ModelSizes,
    ModelSpec,
    NormaliserSpec,
    Parameter,
    RegressionData,
    ScoringSpec,
    SentencePair,
    Sizes,
    normaliser,
    scoring,
)
from attention_plugins.hookspecs import hookimpl
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Intervention, Recorder, Site, Tap

__all__ = [
    "AttentionMap",
    "Axes",
    "CheckpointSpec",
    "ContractError",
    "DatasetSpec",
    "Intervention",
    "KernelScoring",
    "ModelSizes",
    "ModelSpec",
    "NormaliserSpec",
    "Parameter",
    "Positions",
    "Recorder",
    "RegressionData",
    "Scoring",
    "ScoringSpec",
    "SentencePair",
    "Site",
    "Sizes",
    "Tap",
    "attend",
    "hookimpl",
    "masked_softmax",
    "normaliser",
    "scoring",
]
