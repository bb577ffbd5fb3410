"""Every character is a token."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from attention_plugins.contract import TokeniserSpec

SPACE = "\u2423"  # the open box: a token that a reader can see


class _Characters:
    def tokenise(self, text: str) -> list[str]:
        composed = unicodedata.normalize("NFC", text)
        return list(" ".join(composed.split()).replace(" ", SPACE))

    def detokenise(self, tokens: Sequence[str]) -> str:
        return "".join(tokens).replace(SPACE, " ")


CHARACTERS = TokeniserSpec(
    name="characters",
    title="Characters",
    build=lambda learned: _Characters(),
    examples=("我喝茶。", "Tea, please."),
    reference="Attention Workbench",
    description="Every character is a token, also a space, which is shown as ␣; for languages "
    "that write no spaces, and for spelling.",
)
