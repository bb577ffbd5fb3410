"""Split at spaces, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import TokeniserSpec


class _Spaces:
    def tokenise(self, text: str) -> list[str]:
        return text.split()

    def detokenise(self, tokens: Sequence[str]) -> str:
        return " ".join(tokens)


SPACES = TokeniserSpec(
    name="spaces",
    title="Split at spaces",
    build=lambda learned: _Spaces(),
    examples=("a b a", "un@@ happy People ▁here"),
    reference="Attention Workbench",
    description="What stands between spaces is a token, with its case; for sequences of symbols, "
    "and for text that was cut into tokens already.",
)
