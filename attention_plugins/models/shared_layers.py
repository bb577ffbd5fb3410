"""A Transformer that applies one layer again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attention_plugins.contract import ModelSpec
from attention_plugins.models.stack import Part, Repeated
from attention_plugins.models.transformer import TRANSFORMER, Transformer
from attention_plugins.models.transformer_layers import Hyperparameters


@dataclass(frozen=True, kw_only=True)
class Shared(Hyperparameters):
    """``x <- layer(x)``, as many times as there are layers, with the same weights."""

    def stack(self, make_layer: Callable[[], Part]) -> Repeated[Part]:
        """The layers of the encoder or of the decoder, which are one."""
        return Repeated(make_layer(), self.layers)


class SharedLayers(Transformer):
    """The Transformer with one layer in the encoder and one in the decoder, applied L times.

    Every application attends at a site of its own. All weights are shared, as in ALBERT; the
    Universal Transformer shares them too, but tells a layer how often it was applied, and may
    stop early.
    """

    record = Shared


SHARED_LAYERS = ModelSpec(
    name="shared_layers",
    title="Transformer, shared layers",
    task="translation",
    build=SharedLayers,
    parameters=TRANSFORMER.parameters,
    reference="Dehghani et al. 2019, Universal Transformers; Lan et al. 2020, ALBERT: a lite BERT "
    "for self-supervised learning of language representations, section 3.1",
    description="A Transformer whose layers have the same weights: it looks several times, each "
    "time at what it made of the last look.",
)
