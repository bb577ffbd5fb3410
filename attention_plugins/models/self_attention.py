"""One layer in which a sequence attends to itself, with padding."""

from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringFactory, Sizes
from attention_plugins.models.protocols import Values
from attention_plugins.tap import Site, Tap

_SITE = Site("encoder", 0)


class SelfAttention(nn.Module):
    """``softmax(mask(a(X W_q, X W_k))) X W_v``: projections without biases, one head.

    With the scoring ``dot`` the scores are not divided by anything.
    """

    def __init__(self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
        super().__init__()
        size, hidden = sizes.source, sizes.target  # d and h
        self.queries = nn.Linear(size, hidden, bias=False)
        self.keys = nn.Linear(size, hidden, bias=False)
        self.values = nn.Linear(size, hidden, bias=False)
        self.scoring = make_scoring(Sizes(
            query=hidden, key=hidden, hidden=hidden, value=hidden, kind=_SITE.kind
        ))  # fmt: skip

    def forward(self, sequence: Tensor, lengths: Tensor, tap: Tap) -> Tensor:
        """What each position of ``sequence (B, n, d)`` gathered, ``(B, n, h)``.

        Padding gets no weight, however long the longest sequence is; positions in the padding
        still look at their sequence. A sequence of length 0 gives zeros. ``lengths``: valid items
        of each sequence, ``(B,)``.
        """
        return tap.attend(
            _SITE, self.scoring, self.queries(sequence), self.keys(sequence),
            self.values(sequence), lengths,
        )  # fmt: skip


SELF_ATTENTION = ModelSpec(build=SelfAttention, **row(__file__, "self_attention"))
