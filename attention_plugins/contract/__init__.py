"""What a plugin yields: frozen, keyword-only records of scorings, normalisers, models and more.

A record describes; it builds nothing until it is asked to. Each one validates itself when it is
made, so that a mistake shows in the plugin's own line, not in a user's chart.
"""

from attention_plugins.contract.layers import LayerSpec
from attention_plugins.contract.normalisers import MakeNormaliser, NormaliserSpec, normaliser
from attention_plugins.contract.parameters import (
    TASKS,
    ContractError,
    Parameter,
    Scalar,
    Task,
    as_record,
    is_formula,
    settle,
)
from attention_plugins.contract.records import (
    CheckpointSpec,
    DatasetSpec,
    MetricSpec,
    ModelSizes,
    ModelSpec,
    RegressionData,
    SentencePair,
    Spec,
    Tokeniser,
    TokeniserSpec,
    TranslationSpec,
)
from attention_plugins.contract.scorings import ScoringFactory, ScoringSpec, scoring
from attention_plugins.contract.sizes import LayerSizes, SiteKind, Sizes

CONTRACT_VERSION = (1, 2)

__all__ = [
    "CONTRACT_VERSION", "TASKS", "CheckpointSpec", "ContractError", "DatasetSpec", "LayerSizes",
    "LayerSpec", "MakeNormaliser", "MetricSpec", "ModelSizes", "ModelSpec", "NormaliserSpec",
    "Parameter", "RegressionData", "Scalar", "ScoringFactory", "ScoringSpec", "SentencePair",
    "SiteKind", "Sizes", "Spec", "Task", "Tokeniser", "TokeniserSpec", "TranslationSpec",
    "as_record", "is_formula", "normaliser", "scoring", "settle",
]  # fmt: skip
