"""The built-in models, registered by the same hook as anybody's.

A model is given a scoring factory and attends through a tap; it never knows which scoring it has.
:mod:`~attention_plugins.models.protocols` says what a model of each task must offer. Models
are built of the parts in ``parts``, ``transformer_layers`` and ``losses``.
"""

from collections.abc import Iterator

from attention_plugins.contract import ModelSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.models import nadaraya_watson, transformer
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.conv_seq2seq import CONV_SEQ2SEQ
from attention_plugins.models.decoder import DECODER, PREFIX_LM
from attention_plugins.models.luong import LUONG
from attention_plugins.models.self_attention import SELF_ATTENTION


@hookimpl
def attention_models() -> Iterator[ModelSpec]:
    """The models, in the order in which pages list them."""
    yield from (
        nadaraya_watson.NADARAYA_WATSON, nadaraya_watson.NEAREST_NEIGHBOURS,
        nadaraya_watson.INDUCING_POINTS, BAHDANAU, LUONG, CONV_SEQ2SEQ, transformer.TRANSFORMER,
        transformer.GROUPED_QUERY, transformer.PRE_NORM, transformer.SHARED_LAYERS, PREFIX_LM,
        DECODER, SELF_ATTENTION,
    )  # fmt: skip
