"""Maps whose weights are all equal: that they are, and why where that is certain."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attention_plugins import RegressionData
from attention_plugins.regression import Prediction, predict
from dashboard.language import gettext_noop

_SAME = 1e-6  # of the largest weight
_NEAR, _FAR = 0.5, 2.0  # what points are multiplied by, one by one, to see whether it matters


def equal_weights(prediction: Prediction) -> float | None:
    """The weight that every query gives to every point; None where weights differ."""
    on_points = [weights for site, weights in prediction.weights.items()
                 if prediction.axes[site].queries == ("queries",)]  # fmt: skip
    if len(on_points) != 1:
        return None
    low, high = on_points[0].aminmax()
    return float(high) if _are_equal(low, high) else None


def remarks(weight: float | None, model: nn.Module, data: RegressionData) -> list[str]:
    """What to say of a map whose weights are equal; nothing of others.

    Args:
        weight: from :func:`equal_weights`.
        data: what the model predicted from.
    """
    if weight is None:
        return []
    said = [gettext_noop("All weights are equal: each is {weight}.", weight=f"{weight:.3g}")]
    if _sees_the_sign_alone(model, data):
        said.append(
            gettext_noop(
                "With one input this scoring sees only the sign of x, which is the same "
                "everywhere here."
            )
        )
    return said


def _sees_the_sign_alone(model: nn.Module, data: RegressionData) -> bool:
    """Whether weights stay equal at any distance from 0, and no longer beyond it."""
    if data.x.shape[1] != 1:
        return False
    size = torch.linspace(_NEAR, _FAR, len(data.x)).to(data.x)[:, None]
    half = torch.ones_like(size)
    half[::2] = -1
    moved, mirrored = (predict(model, data._replace(x=data.x * by), keep_weights=True)
                       for by in (size, half))  # fmt: skip
    return equal_weights(moved) is not None and equal_weights(mirrored) is None


def _are_equal(low: Tensor, high: Tensor) -> bool:
    return bool(high > 0) and bool(high - low <= _SAME * high)
