"""The plain dot product."""

from attention_plugins.attention import ProductScoring
from attention_plugins.beside import row
from attention_plugins.contract import ScoringSpec

dot_product = ScoringSpec(build=lambda sizes, values: ProductScoring(), **row(__file__, "dot"))
