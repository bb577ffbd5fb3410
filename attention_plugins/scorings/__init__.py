"""The built-in scorings, registered by the same hook as anybody's.

A file holds a family: each scoring is a class or a function with its record, and begins where
another ends. None imports a model.
"""

from collections.abc import Iterator

from attention_plugins.contract import ScoringSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.scorings import kernels, memory
from attention_plugins.scorings import position_biases as biases
from attention_plugins.scorings.additive import ADDITIVE, MLP
from attention_plugins.scorings.bilinear import BIAFFINE, BILINEAR, LOW_RANK_BILINEAR
from attention_plugins.scorings.combination import COMBINATION
from attention_plugins.scorings.dot import COSINE, POLYNOMIAL, average_pooling, dot_product
from attention_plugins.scorings.hyperbolic import HYPERBOLIC
from attention_plugins.scorings.linear_attention import COSFORMER, LINEAR_ATTENTION, PERFORMER
from attention_plugins.scorings.local import LOCAL_PREDICTED, LSH, local_monotonic
from attention_plugins.scorings.relative_positions import ROPE, SHAW, TRANSFORMER_XL, XPOS
from attention_plugins.scorings.scaled_dot import scaled_dot_product
from attention_plugins.scorings.synthesizer import SYNTHESIZER_DENSE, SYNTHESIZER_RANDOM
from attention_plugins.scorings.talking_heads import LEARNED_SINKS, TALKING_HEADS


@hookimpl
def attention_scorings() -> Iterator[ScoringSpec]:
    """The scorings, in the order in which pages list them."""
    yield from (
        scaled_dot_product, dot_product, ADDITIVE, MLP, BILINEAR, COSINE, kernels.GAUSSIAN,
        kernels.LAPLACIAN, average_pooling, biases.ALIBI, biases.FIRE, biases.KERPLE_LOG,
        biases.KERPLE_POWER, local_monotonic, LOCAL_PREDICTED, ROPE, XPOS, SHAW, biases.SWIN_V2,
        biases.T5_BIAS, TRANSFORMER_XL, SYNTHESIZER_DENSE, SYNTHESIZER_RANDOM, TALKING_HEADS,
        LEARNED_SINKS, LSH, HYPERBOLIC, kernels.MATERN, kernels.INVERSE_MULTIQUADRIC,
        kernels.RATIONAL_QUADRATIC, POLYNOMIAL, kernels.EPANECHNIKOV, kernels.BOXCAR,
        LOW_RANK_BILINEAR, BIAFFINE, kernels.LEARNED_METRIC, LINEAR_ATTENTION, PERFORMER,
        kernels.MIXTURE, COMBINATION, memory.COVERAGE, memory.LOCATION_SENSITIVE, memory.MONOTONIC,
        memory.FORWARD_ATTENTION, COSFORMER,
    )  # fmt: skip
