"""Multi-head attention whose scores earlier words, or neighbours, change before the softmax."""

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, logsigmoid, pad

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import split_heads


class Forgetting(Extended):
    """``a(q_i, k_j) + sum_(j < l <= i) log f_l``, with a gate ``f`` of each word and head."""

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.forget = nn.Linear(sizes.hidden, sizes.heads)

    def more(self, inputs: Tensor) -> Kept:
        """``forget (B, heads, n, 1)``: the logarithm of each word's gate."""
        return {"forget": split_heads(logsigmoid(self.forget(inputs)), self.heads)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What multi-head attention gathers with the lowered scores."""
        rows, _ = at.places()
        passed = at.kept["forget"].cumsum(dim=-2)
        scores = self.scores(at, self.queries(inputs)) + passed[..., rows, :] - passed.mT
        return self.pooled(at, self.weights(scores, at.before()))


FORGETTING = LayerSpec(build=Forgetting, **row(__file__, "forgetting"))


class Selective(Extended):
    """``a(q_i, k_j) - sum_(l < i) relu(a(q_l, k_j))`` with head 0's scores in the sum.

    No word deselects itself, or the first one.
    """

    def more(self, inputs: Tensor) -> Kept:
        """``asked (B, heads, n, d)``: the queries, whose scores lower those of later ones."""
        return {"asked": self.queries(inputs)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What multi-head attention gathers with what is left of the scores."""
        rows, columns = at.places()
        scores = self.scores(at, at.kept["asked"], before=len(columns) - len(rows))
        chosen = scores[..., :1, :, :].relu().tril(-1) * (columns > 0)
        left = scores - (chosen.cumsum(dim=-2) - chosen)  # of the words before took off
        return self.pooled(at, self.weights(left[..., rows, :], at.before()))


SELECTIVE = LayerSpec(build=Selective, **row(__file__, "selective"))


class MultiToken(Extended):
    """``mix(softmax(kernel * scores))``: a convolution over queries and keys, then over heads.

    All heads are one group. Without the paper's normalisation of the heads.
    """

    signed, sums_to_one = True, False

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        reach, width = int(values["reach"]), int(values["width"])
        self.kernel = nn.Parameter(torch.zeros(self.heads, reach, width))
        self.mix = nn.Parameter(torch.eye(self.heads))
        nn.init.ones_(self.kernel.data[:, 0, width // 2])  # each score as it is

    def more(self, inputs: Tensor) -> Kept:
        """``asked (B, heads, n, d)``: the queries."""
        return {"asked": self.queries(inputs)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """Equations 4 to 6; a score that a query may not see counts as 0."""
        earlier, n_queries = self.kernel.shape[1] - 1, inputs.shape[1]
        asked = pad(at.kept["asked"], (0, 0, earlier, 0))[..., -n_queries - earlier :, :]
        scores = self.scores(at, asked, before=earlier).unfold(-2, n_queries, 1).mT
        parts = [
            scores[..., earlier - back, :, :].masked_fill(~at.before(back), 0.0)
            for back in range(earlier + 1)
        ]
        rows = torch.stack(parts, dim=-2).transpose(1, 2).flatten(2, 3)  # (B, n_q, ..., n_k)
        mixed = conv1d(
            rows.flatten(0, 1), self.kernel, padding=self.kernel.shape[2] // 2, groups=self.heads
        )
        weights = self.weights(mixed.unflatten(0, rows.shape[:2]).transpose(1, 2), at.before())
        return self.pooled(at, torch.einsum("gh,bhqk->bgqk", self.mix, weights))


MULTI_TOKEN = LayerSpec(build=MultiToken, **row(__file__, "multi_token"))
