"""A Gaussian kernel in a learned metric."""

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins import Parameter, Scoring, ScoringSpec, Sizes


class Mahalanobis(Scoring):
    """``-|A (q - k)|^2 / 2`` with a learned matrix ``A (rank, d)``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, int]) -> None:
        super().__init__()
        rank = values["rank"]
        self.metric = nn.Linear(sizes.query, rank, bias=False)
        # Variance 1 / rank: distances start as they are, on average, E |A x|^2 = |x|^2.
        bound = (3 / rank) ** 0.5
        nn.init.uniform_(self.metric.weight, -bound, bound)

    def project_queries(self, queries: Tensor) -> Tensor:
        """``A q``."""
        return self.metric(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``A k``, with the same matrix."""
        return self.metric(keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Half the squared distance of what was mapped, negated."""
        return -0.5 * (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)


MAHALANOBIS = ScoringSpec(
    name="mahalanobis",
    title="Learned metric (Mahalanobis)",
    formula=r"-\frac{1}{2} \lVert A (q-k)\rVert_2^2",
    build=Mahalanobis,
    parameters=(
        Parameter(
            name="rank", title="Rank", default=8, low=1, high=64,
            help="Rows of A: directions in which distance is measured.",
        ),
    ),
    reference="Weinberger & Tesauro 2007, Metric learning for kernel regression",
    description="Learns which directions count when it says how far a key is from the query.",
    same_size=True,
)  # fmt: skip
