# ruff: noqa: I001 (it would give each name a line of its own)
"""Every public name and its module; the package reads this file, as type checkers do."""

from attention_plugins.attention import (
    KernelScoring as KernelScoring,
    Positions as Positions,
    Product as Product,
    ProductScoring as ProductScoring,
    Scoring as Scoring,
    as_mask as as_mask,
    attend as attend,
    masked_softmax as masked_softmax,
)
from attention_plugins.attention_log import log_attention as log_attention, read_step as read_step
from attention_plugins.contract import (
    CheckpointSpec as CheckpointSpec,
    ContractError as ContractError,
    DatasetSpec as DatasetSpec,
    LayerSizes as LayerSizes,
    LayerSpec as LayerSpec,
    MetricSpec as MetricSpec,
    ModelSizes as ModelSizes,
    ModelSpec as ModelSpec,
    NormaliserSpec as NormaliserSpec,
    Parameter as Parameter,
    RegressionData as RegressionData,
    ScoringSpec as ScoringSpec,
    SentencePair as SentencePair,
    Sizes as Sizes,
    Tokeniser as Tokeniser,
    TokeniserSpec as TokeniserSpec,
    TranslationSpec as TranslationSpec,
    normaliser as normaliser,
    scoring as scoring,
)
from attention_plugins.hookspecs import hookimpl as hookimpl
from attention_plugins.layers import AttentionLayer as AttentionLayer, MultiHead as MultiHead
from attention_plugins.log_callbacks import (
    lightning_log as lightning_log,
    trainer_log as trainer_log,
)
from attention_plugins.maps import AttentionMaps as AttentionMaps
from attention_plugins.model_watch import AttentionUnseen as AttentionUnseen, watch as watch
from attention_plugins.models.protocols import Batch as Batch
from attention_plugins.price.measuring import price_of_swap as price_of_swap
from attention_plugins.radial import (
    Exponential as Exponential,
    RadialScoring as RadialScoring,
    Smooth as Smooth,
    Window as Window,
)
from attention_plugins.record import AttentionMap as AttentionMap, Axes as Axes, Site as Site
from attention_plugins.registry import (
    get_layer as get_layer,
    get_normaliser as get_normaliser,
    get_scoring as get_scoring,
)
from attention_plugins.swaps.swapping import Swap as Swap, swap as swap, unswap as unswap
from attention_plugins.tap import Intervention as Intervention, Recorder as Recorder, Tap as Tap
from attention_plugins.text import (
    BOS_ID as BOS_ID,
    EOS_ID as EOS_ID,
    PAD_ID as PAD_ID,
    UNK_ID as UNK_ID,
)
