"""The built-in attention layers, registered by the same hook as anybody's."""

from collections.abc import Iterator

from attention_plugins.contract import LayerSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.layers import rescored
from attention_plugins.layers.base import AttentionLayer, Kept
from attention_plugins.layers.compressed import LATENT, NATIVE_SPARSE
from attention_plugins.layers.mixing import LINFORMER, SINKHORN
from attention_plugins.layers.multi_head import MULTI_HEAD, MultiHead, merge_heads, split_heads
from attention_plugins.layers.recurrent import DELTA_RULE, GATED_LINEAR, RETENTION

__all__ = [
    "MULTI_HEAD", "AttentionLayer", "Kept", "MultiHead", "attention_layers", "merge_heads",
    "split_heads",
]  # fmt: skip


@hookimpl
def attention_layers() -> Iterator[LayerSpec]:
    """The layers, in the order in which pages list them."""
    yield from (
        MULTI_HEAD, rescored.GATED_OUTPUT, LATENT, rescored.DIFFERENTIAL, rescored.FORGETTING,
        rescored.SELECTIVE, rescored.MULTI_TOKEN, NATIVE_SPARSE, LINFORMER, SINKHORN, RETENTION,
        GATED_LINEAR, DELTA_RULE,
    )  # fmt: skip
