"""The plain dot product."""

from attention_plugins.attention import ProductScoring
from attention_plugins.contract import ScoringSpec

dot_product = ScoringSpec(
    name="dot",
    title="Dot product",
    formula=r"q^\top k",
    build=lambda sizes, values: ProductScoring(),
    reference="Luong, Pham & Manning 2015, Effective approaches to attention-based neural "
    "machine translation, section 3.1",
    description="Favours long keys that point the way of the query; sharper the larger they are.",
    same_size=True,
)
