"""Named ways to train: every hyperparameter of a training under one word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attention_plugins.contract import Scalar
from attention_plugins.recipe import Recipe


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A recipe and the model parameters that go with it.

    Args:
        recipe: how to train.
        model_parameters: by model name; a model without an entry uses its defaults.
        pairs: only the first so many of a corpus; 0 for all.
        held_out: source sentences kept away from training, to score the model on.
    """

    recipe: Recipe
    model_parameters: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    pairs: int = 0
    held_out: int


_QUICK = {"hidden": 64, "heads": 4, "layers": 2, "ffn": 128, "tied": True}

PRESETS: dict[str, Preset] = {
    # A minute or two on one core: the loss falls before one's eyes, and words come right.
    "quick": Preset(
        recipe=Recipe(
            tokeniser="clitics", max_tokens=24, epochs=10, batch_size=32, learning_rate=5e-3,
            schedule="cosine", warmup=50,
        ),
        model_parameters={
            "bahdanau": {
                "embed": 64, "hidden": 64, "layers": 1, "bidirectional": True,
                "deep_readout": True,
            },
            "luong": {"embed": 64, "hidden": 64},
            "conv_seq2seq": {"embed": 64, "hidden": 64},
            "pre_norm": _QUICK,
            **{
                name: {**_QUICK, "pre_norm": True}
                for name in ("transformer", "grouped_query", "shared_layers", "prefix_lm")
            },
        },
        pairs=6000,
        held_out=200,
    ),
    # d2l.ai, section 10.4: small enough to watch, trained on the first 600 pairs.
    "d2l": Preset(recipe=Recipe(), pairs=600, held_out=0),
    # The shipped checkpoints: all of Tatoeba, under an hour on one core.
    "shipped": Preset(
        recipe=Recipe(
            tokeniser="clitics", min_frequency=3, max_tokens=32, epochs=12, batch_size=128,
            learning_rate=3e-3, schedule="cosine", warmup=500, weight_decay=0.01,
            label_smoothing=0.1,
        ),
        model_parameters={
            "bahdanau": {
                "embed": 192, "hidden": 256, "layers": 1, "dropout": 0.2,
                "bidirectional": True, "deep_readout": True,
            },
            "transformer": {
                "hidden": 224, "heads": 8, "layers": 2, "ffn": 640, "dropout": 0.1,
                "pre_norm": True, "tied": True,
            },
        },
        held_out=2000,
    ),
}  # fmt: skip
