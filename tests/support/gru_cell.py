"""A GRU's step as the one kernel that accelerators have for it; torch has none for the CPU.

As ``aten::_thnn_fused_gru_cell`` and its backward: the formulas of :class:`torch.nn.GRUCell`.
"""

from __future__ import annotations

import torch
from torch import Tensor


def gru_cell(
    from_input: Tensor,
    from_hidden: Tensor,
    hidden: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The next state ``(B, h)``, and what the gradient needs.

    Args:
        from_input, from_hidden: both products ``(B, 3 h)``: reset, update and new gate.
        hidden: the state ``(B, h)``.
        input_bias, hidden_bias: ``(3 h,)``.
    """
    gates = from_input if input_bias is None else from_input + input_bias
    own = from_hidden if hidden_bias is None else from_hidden + hidden_bias
    (r, z, n), (own_r, own_z, own_n) = gates.chunk(3, -1), own.chunk(3, -1)
    reset, update = (r + own_r).sigmoid(), (z + own_z).sigmoid()
    new = (n + reset * own_n).tanh()
    kept = torch.cat([reset, update, new, own_n, hidden], dim=-1)
    return new + update * (hidden - new), kept


def gru_cell_gradient(
    gradient: Tensor, kept: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """Of the two products, of the hidden state and of both biases."""
    reset, update, new, own_n, hidden = kept.chunk(5, -1)
    of_new = gradient * (1 - update) * (1 - new.square())
    of_update = gradient * (hidden - new) * update * (1 - update)
    of_reset = of_new * own_n * reset * (1 - reset)
    from_input = torch.cat([of_reset, of_update, of_new], dim=-1)
    from_hidden = torch.cat([of_reset, of_update, of_new * reset], dim=-1)
    biases = (from_input.sum(0), from_hidden.sum(0)) if has_bias else (None, None)
    return from_input, from_hidden, gradient * update, *biases
