"""A gross fault for each row of the table of chapter.md, by document and section.

Planted in a copy of the working tree, each must turn its row's test red.
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """Text of a file, which stands there once, and what takes its place.

    ``only`` picks the tests of a module that concern this row alone, as pytest's ``-k`` does.
    """

    path: str
    old: str
    new: str
    only: str = ""


_ATTENTION = "attention_plugins/attention.py"
_MASKING = "attention_plugins/masking.py"
_TASK_STEP = "dashboard/features/anatomy/task_step.py"
_BAHDANAU = "attention_plugins/models/bahdanau.py"
_TRANSFORMER = "attention_plugins/models/transformer.py"
_LAYERS = "attention_plugins/models/transformer_layers.py"
_MULTI_HEAD = "attention_plugins/layers/multi_head.py"
_LOSSES = "attention_plugins/models/losses.py"
_SCALED_DOT = "attention_plugins/scorings/scaled_dot.py"
_POSITIONS = "dashboard/features/positions/task.py"
_VALID = "torch.arange(n_keys, device=mask.device) < lengths[..., None]"

FAULTS = {
    "000 masked softmax": Fault(_MASKING, _VALID, _VALID.replace("<", "<=")),
    "000 weighted means by batched products": Fault(
        _ATTENTION,
        "        return weights @ values\n",
        "        return weights @ values.flip(-2)\n",
    ),
    "000 dot-product attention": Fault(
        _SCALED_DOT, "1.0 / math.sqrt(queries.shape[-1])", "1.0 / queries.shape[-1]"
    ),
    "000 MLP attention": Fault(
        "attention_plugins/scorings/additive.py",
        "linear(torch.sigmoid_(sums), 2.0 * weight, -weight.sum(-1))",
        "linear(sums, 0.5 * weight)",
    ),
    "001 self-attention of padded sentences": Fault(
        "attention_plugins/models/self_attention.py",
        "self.values(sequence), lengths",
        "self.keys(sequence), lengths",
    ),
    "001 scores and weights as files": Fault(
        "dashboard/features/anatomy/step.py",
        "as_csv(values,",
        "as_csv(0 * values,",
    ),
    "002 additive attention in a decoder": Fault(
        _BAHDANAU, "query = layers[-1][:, None]", "query = layers[0][:, None]"
    ),
    "003 cues, queries, keys and values": Fault(
        _TASK_STEP, "pooled(scoring, dropped, values,", "pooled(scoring, dropped, -values,"
    ),
    "003 showing attention": Fault(
        "dashboard/charts/heatmap.py",
        "    values = masked_rows(values)\n",
        "    values = masked_rows(values[:, ::-1])\n",
    ),
    "003 regression: making the data": Fault(
        "attention_plugins/datasets/regression.py",
        "return 2 * torch.sin(x) + x**0.8",
        "return 2 * torch.sin(x) + x**0.7",
    ),
    "003 regression: average pooling": Fault(
        "attention_plugins/scorings/dot.py",
        "torch.zeros_like(keys[..., :1]).mT",
        "keys[..., :1].mT",
    ),
    "003 regression: non-parametric pooling, example 2.3.1": Fault(
        "attention_plugins/scorings/kernels.py",
        "distances * (-0.5 * self.inverse_width.square())",
        "distances * (-1.0 * self.inverse_width.square())",
    ),
    "003 regression: example 2.3.2 with its check": Fault(
        "attention_plugins/models/nadaraya_watson.py",
        "self.scoring, queries, keys, values[:, None], mask)",
        "self.scoring, keys.flip(0), keys, values[:, None], mask)",
    ),
    "003 regression: a learned width": Fault(
        "attention_plugins/fitting.py", "            move(rate)\n", "            move(rate / 2)\n"
    ),
    "003 scoring functions: masked softmax, lengths per row and per query": Fault(
        _MASKING,
        "lengths = mask if mask.dim() == 2 else mask[:, None]",
        "lengths = mask[:, :1] if mask.dim() == 2 else mask[:, None]",
    ),
    "003 scoring functions: additive attention and its broadcast": Fault(
        _TASK_STEP,
        "sums = of_queries.unsqueeze(-2) + of_keys.unsqueeze(-3)",
        "sums = of_queries.unsqueeze(-2) - of_keys.unsqueeze(-3)",
    ),
    "003 scoring functions: scaled dot product": Fault(
        "dashboard/features/anatomy/task.py",
        "queries @ keys.mT / math.sqrt(d)",
        "queries @ keys.mT / d",
    ),
    "003 Bahdanau: model and decoder": Fault(
        _BAHDANAU, "query = layers[-1][:, None]", "query = 0 * layers[-1][:, None]"
    ),
    "003 Bahdanau: the decoder's printed shapes": Fault(
        _BAHDANAU,
        "return torch.lerp(new, hidden, update)",
        "return torch.lerp(hidden, new, update)",
    ),
    "003 Bahdanau: sentences as numbers": Fault(
        "attention_plugins/text.py", r'r"(?<=\S)([,.!?])"', r'r"(?<=\S)([,.!])"'
    ),
    "003 Bahdanau: masked loss": Fault(
        _LOSSES,
        "counts = valid_positions(batch.target_lengths, batch.target.shape[1])",
        "counts = torch.ones_like(batch.target, dtype=torch.bool)",
    ),
    "003 Bahdanau: gradient clipping": Fault(
        "attention_plugins/training.py",
        "        clip_grad_norm_(self.model.parameters(), self._recipe.clip, foreach=True)\n",
        "",
    ),
    "003 Bahdanau: training": Fault(
        _BAHDANAU,
        "self._advance(losses.shifted(batch.target), state, tap)",
        "self._advance(batch.target, state, tap)",
        "bahdanau",
    ),
    "003 Bahdanau: prediction": Fault(
        "attention_plugins/decoding.py",
        "best, tokens = scores.max(dim=-1)",
        "best, tokens = scores.nan_to_num(neginf=0.0).min(dim=-1)",
    ),
    "003 Bahdanau: BLEU": Fault(
        "attention_plugins/scores.py",
        "total = len(predicted) - n + 1",
        "total = len(predicted)",
    ),
    "003 multi-head attention: model": Fault(
        _MULTI_HEAD,
        "return tensor.transpose(-3, -2).flatten(-2)",
        "return tensor.flip(-3).transpose(-3, -2).flatten(-2)",
    ),
    "003 multi-head attention: heads by reshaping": Fault(
        _MULTI_HEAD,
        "tensor.unflatten(-1, (heads, -1)).transpose(-3, -2)",
        "tensor.unflatten(-1, (-1, heads)).movedim(-1, -3)",
    ),
    "003 self-attention": Fault(
        _TASK_STEP,
        'for name, part, layer in zip("qkv", parts, layers, strict=True)\n    }',
        'for name, part, layer in zip("qkv", parts, [*layers[:2], layers[1]], strict=True)\n    }',
    ),
    "003 convolution, recurrence, self-attention": Fault(
        "attention_plugins/complexity.py", '"cnn": kernel * n * d * d', '"cnn": n * d * d'
    ),
    "003 positional encoding": Fault(
        "attention_plugins/models/parts.py",
        "torch.stack([angles.sin(), angles.cos()], dim=-1)",
        "torch.stack([angles.cos(), angles.sin()], dim=-1)",
    ),
    "003 absolute positions, binary counting": Fault(
        _POSITIONS,
        "torch.arange(count)[:, None] >> digits & 1",
        "torch.arange(count)[:, None] & 1",
    ),
    "003 relative positions": Fault(
        "dashboard/features/positions/rotation.py",
        "angle = delta * frequency",
        "angle = -delta * frequency",
    ),
    "003 Transformer: model": Fault(
        _LAYERS,
        "third(second(said, look_across), self.feed_forward)",
        "third(said, self.feed_forward)",
    ),
    "003 Transformer: position-wise network, FFN(4, 4, 8)": Fault(
        _LAYERS, "self.rise(inputs).relu_()", "self.rise(inputs)"
    ),
    "003 Transformer: residuals, layer norm and batch norm": Fault(
        "dashboard/features/norms/task.py",
        "layer_norm(x, x.shape[1:], eps=norm.eps)",
        "layer_norm(x, x.shape, eps=norm.eps)",
    ),
    "003 Transformer: addition and norm, AddNorm([3, 4])": Fault(
        _LAYERS,
        "return total if self.pre_norm else self.norm(total)",
        "return nn.functional.layer_norm(total, total.shape[-2:])",
    ),
    "003 Transformer: encoder block (2, 100, 24)": Fault(
        _LAYERS,
        "return second(first(inputs, look), self.feed_forward)",
        "return first(inputs, look)",
    ),
    "003 Transformer: encoder": Fault(_LAYERS, "total = inputs + dropout(", "total = dropout("),
    "003 Transformer: decoder": Fault(
        _TRANSFORMER,
        "self._embed(self.target_embedding, tokens, so_far)",
        "self._embed(self.target_embedding, tokens, 0)",
    ),
    "003 Transformer: training": Fault(
        _LOSSES, "self.write(shifted(target), ", "self.write(target, ", "transformer"
    ),
    "003 Transformer: the weights' printed shapes": Fault(
        _LAYERS,
        "torch.cat([before, part], dim=-2)",
        "part",
    ),
    "003 Transformer: every layer's and head's weights": Fault(
        "dashboard/charts/frames.py",
        "for number, weights in enumerate(frame.weights[int(frame.is_mean) :], start=1):",
        "for number, weights in enumerate(frame.weights[::-1], start=1):",
    ),
    "004 masked softmax": Fault(
        _MASKING, "lowest = torch.finfo(scores.dtype).min", "lowest = 0.0"
    ),
    "004 additive attention": Fault(_MASKING, _VALID, _VALID.replace("<", "<=")),
    "004 scaled dot-product attention": Fault(
        _MASKING, _VALID, _VALID.replace("lengths[", "(lengths - 1)[")
    ),
}
