"""Multi-head attention of which one part is changed: its scores, weights or findings.

Before the softmax earlier words or neighbours change scores; then a second softmax is taken off
the weights, or a gate says how much of what was found passes.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, logsigmoid, pad

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.errors import ContractError
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import MultiHead, split_heads


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


class Differential(Extended):
    """``softmax(a(q, k)) - s softmax(a(q', k'))``, each head's output normalised.

    ``s`` is learned and shared by the heads; both halves of a head share the scoring.

    ContractError: heads of an odd size.
    """

    signed, sums_to_one = True, False

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        size = sizes.hidden // sizes.heads
        half = size // 2
        if size % 2:
            raise ContractError(f"Differential needs heads of an even size, got {size}")
        super().__init__(lambda at: make_scoring(at._replace(query=half, key=half)), sizes, values)
        self.vectors = nn.Parameter(torch.randn(4, half) / 10)  # as in the authors' code
        self.norm = nn.RMSNorm(size, eps=1e-5)

    def _keep(self, keys: Tensor, values: Tensor) -> Kept:
        halves = split_heads(keys, self.heads).chunk(2, dim=-1)
        ready = torch.cat([self.scoring.project_keys(half) for half in halves], dim=-1)
        return {"keys": ready, "values": split_heads(values, self.heads)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """Equations 1 to 3: at first the share is the larger, the deeper the layer."""
        start = 0.8 - 0.6 * math.exp(-0.3 * at.site.layer)
        plus, minus = (self.vectors[::2] * self.vectors[1::2]).sum(dim=-1).exp()
        halves = self.queries(inputs).chunk(2, dim=-1), at.kept["keys"].chunk(2, dim=-1)
        first, second = (
            self.weights(self.scores(at, *half), at.allowed())
            for half in zip(*halves, strict=True)
        )
        return (1 - start) * self.norm(self.pooled(at, first - (plus - minus + start) * second))


DIFFERENTIAL = LayerSpec(build=Differential, **row(__file__, "differential"))


class GatedOutput(Extended):
    """``sigmoid(W x) * head``: a query that looks for nothing need not look at a sink."""

    takes = None

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.gate = nn.Linear(sizes.hidden, sizes.hidden if values["each"] else sizes.heads)

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What multi-head attention gathers, times the gates."""
        gates = split_heads(self.gate(inputs).sigmoid(), self.heads)  # (B, heads, n_q, 1 or d)
        found = MultiHead.gather(
            self, at.tap, at.site, self.queries(inputs), at.kept, at.mask, at.key_positions
        )
        return found * gates


GATED_OUTPUT = LayerSpec(build=GatedOutput, **row(__file__, "gated_output"))
