"""The built-in scorings, registered by the same hook as anybody's."""

from __future__ import annotations

from collections.abc import Iterator

from attention_plugins.contract import ScoringSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.scorings.additive import ADDITIVE, MLP
from attention_plugins.scorings.alibi import ALIBI
from attention_plugins.scorings.biaffine import BIAFFINE
from attention_plugins.scorings.bilinear import BILINEAR
from attention_plugins.scorings.boxcar import BOXCAR
from attention_plugins.scorings.combination import COMBINATION
from attention_plugins.scorings.cosine import COSINE
from attention_plugins.scorings.coverage import COVERAGE
from attention_plugins.scorings.dot import dot_product
from attention_plugins.scorings.epanechnikov import EPANECHNIKOV
from attention_plugins.scorings.forward_attention import FORWARD_ATTENTION
from attention_plugins.scorings.gaussian import GAUSSIAN
from attention_plugins.scorings.inverse_multiquadric import INVERSE_MULTIQUADRIC
from attention_plugins.scorings.kerple_log import KERPLE_LOG
from attention_plugins.scorings.laplacian import LAPLACIAN
from attention_plugins.scorings.learned_metric import LEARNED_METRIC
from attention_plugins.scorings.linear_attention import LINEAR_ATTENTION
from attention_plugins.scorings.local_monotonic import local_monotonic
from attention_plugins.scorings.local_predicted import LOCAL_PREDICTED
from attention_plugins.scorings.location_sensitive import LOCATION_SENSITIVE
from attention_plugins.scorings.low_rank_bilinear import LOW_RANK_BILINEAR
from attention_plugins.scorings.matern import MATERN
from attention_plugins.scorings.mixture import MIXTURE
from attention_plugins.scorings.monotonic import MONOTONIC
from attention_plugins.scorings.performer import PERFORMER
from attention_plugins.scorings.polynomial import POLYNOMIAL
from attention_plugins.scorings.rational_quadratic import RATIONAL_QUADRATIC
from attention_plugins.scorings.rope import ROPE
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.scorings.shaw import SHAW
from attention_plugins.scorings.swin_v2 import SWIN_V2
from attention_plugins.scorings.t5_bias import T5_BIAS
from attention_plugins.scorings.talking_heads import TALKING_HEADS
from attention_plugins.scorings.transformer_xl import TRANSFORMER_XL
from attention_plugins.scorings.uniform import average_pooling


@hookimpl
def attention_scorings() -> Iterator[ScoringSpec]:
    """The scorings, in the order in which pages list them."""
    yield from (
        scaled_dot_product, dot_product, ADDITIVE, MLP, BILINEAR,
        COSINE, GAUSSIAN, LAPLACIAN, average_pooling,
        ALIBI, KERPLE_LOG, local_monotonic, LOCAL_PREDICTED, ROPE, SHAW, SWIN_V2, T5_BIAS,
        TRANSFORMER_XL, TALKING_HEADS,
        MATERN, INVERSE_MULTIQUADRIC, RATIONAL_QUADRATIC, POLYNOMIAL, EPANECHNIKOV, BOXCAR,
        LOW_RANK_BILINEAR, BIAFFINE, LEARNED_METRIC, LINEAR_ATTENTION, PERFORMER, MIXTURE,
        COMBINATION,
        COVERAGE, LOCATION_SENSITIVE, MONOTONIC, FORWARD_ATTENTION,
    )  # fmt: skip
