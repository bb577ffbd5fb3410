"""A checkpoint's model as it was before its training: what trained figures are held against."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from attention_plugins.checkpoints import Checkpoint
from attention_plugins.contract import ModelSizes


class Untrained(Checkpoint):
    """The same card, with the weights that the training's seed draws instead of learned ones."""

    def build(self, registry: Any) -> nn.Module:
        """The model with fresh weights, in evaluation mode, on the CPU.

        Raises:
            ContractError: a model or scoring that is not installed.
        """
        card = self.card
        sizes = ModelSizes(*map(len, self.vocabularies))
        factory = registry.scoring(card["scoring"]).factory(card["scoring_parameters"])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(card["training"].get("seed", 0))
            model = registry.model(card["model"]).create(factory, sizes, card["model_parameters"])
        return model.eval()
