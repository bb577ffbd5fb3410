"""Luong's local attention: a window over positions, around a centre that the query predicts.

A scoring is told no positions. Those of the keys are their numbers along the axis, which are the
same whether queries come all at once or one by one; those of the queries are not, so the centre
is read from the query itself. It is a position counted from the first key, where the paper's is
a share of the sentence's length: keys also number the padding, and grow while decoding.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins import Parameter, Scoring, ScoringSpec, Sizes


class LocalP(Scoring):
    """``q . W k - (j - p)^2 / (2 s^2)`` with ``p = r sigmoid(v . tanh(W_p q))``, key ``j``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, float]) -> None:
        super().__init__()
        self.reach, self.width = values["reach"], values["width"]
        self.from_query = nn.Linear(sizes.query, sizes.hidden, bias=False)
        self.centre = nn.Linear(sizes.hidden, 1, bias=False)
        self.from_key = nn.Linear(sizes.key, sizes.query, bias=False)

    def project_queries(self, queries: Tensor) -> Tensor:
        """Queries with their centres as one more number, ``(..., n_q, d + 1)``."""
        centres = self.reach * torch.sigmoid(self.centre(torch.tanh(self.from_query(queries))))
        return torch.cat([queries, centres], dim=-1)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``W k``."""
        return self.from_key(keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """What the words say, less what the way to them costs."""
        content, centres = queries[..., :-1], queries[..., -1:]
        positions = torch.arange(keys.shape[-2], device=keys.device, dtype=keys.dtype)
        return content @ keys.mT - 0.5 * ((positions - centres) / self.width).square()


LOCAL_P = ScoringSpec(
    name="local_p",
    title="Local, predicted (Luong)",
    formula=r"q^\top W k_j - \frac{(j - p)^2}{2\sigma^2},\quad p = r\,\mathrm{sigmoid}"
    r"(v^\top \tanh(W_p q))",
    build=LocalP,
    parameters=(
        Parameter(
            name="width", title="Width σ", default=2.0, low=0.5, high=50.0, step=0.5,
            unit="positions", help="How far around the centre the window is open.",
        ),
        Parameter(
            name="reach", title="Reach r", default=20.0, low=1.0, high=200.0, step=1.0,
            unit="positions", help="The last position that can be a centre.",
        ),
    ),
    reference="Luong, Pham & Manning 2015, Effective approaches to attention-based neural "
    "machine translation, section 3.2",
    description="Each query says around which word to look; words far from there cost more.",
)  # fmt: skip
