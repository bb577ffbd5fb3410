"""What a plugin yields: frozen, keyword-only records of scorings, normalisers, models and more.

A record describes; it builds nothing until it is asked to. Each one validates itself when it is
made, so that a mistake shows in the plugin's own line, not in a user's chart.
"""

from attention_plugins.contract.checks import TASKS, Task
from attention_plugins.contract.normalisers import NormaliserSpec, normaliser
from attention_plugins.contract.parameters import (
    ContractError,
    Parameter,
    Scalar,
    as_record,
    is_formula,
    settle,
)
from attention_plugins.contract.records import (
    CheckpointSpec,
    DatasetSpec,
    ModelSizes,
    ModelSpec,
    RegressionData,
    SentencePair,
    Spec,
)
from attention_plugins.contract.scorings import (
    MakeNormaliser,
    ScoringFactory,
    ScoringSpec,
    Sizes,
    scoring,
)
from attention_plugins.contract.tokenisers import (
    MetricSpec,
    Tokeniser,
    TokeniserSpec,
    TranslationSpec,
)

CONTRACT_VERSION = (1, 1)

__all__ = [
    "CONTRACT_VERSION",
    "TASKS",
    "CheckpointSpec",
    "ContractError",
    "DatasetSpec",
    "MakeNormaliser",
    "MetricSpec",
    "ModelSizes",
    "ModelSpec",
    "NormaliserSpec",
    "Parameter",
    "RegressionData",
    "Scalar",
    "ScoringFactory",
    "ScoringSpec",
    "SentencePair",
    "Sizes",
    "Spec",
    "Task",
    "Tokeniser",
    "TokeniserSpec",
    "TranslationSpec",
    "as_record",
    "is_formula",
    "normaliser",
    "scoring",
    "settle",
]
