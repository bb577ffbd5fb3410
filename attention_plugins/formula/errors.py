"""What is wrong with a formula, and where."""

from __future__ import annotations

from attention_plugins.contract import ContractError


class FormulaError(ContractError):
    """A formula that cannot be read or scored, with its place.

    Attributes:
        sentence: what is wrong and what would be right.
        start, end: the characters it is about, from 0, ``end`` not included.
        suggestion: what may stand there instead; empty if nothing comes to mind.
    """

    def __init__(self, sentence: str, start: int, end: int, suggestion: str = "") -> None:
        self.sentence, self.start, self.end, self.suggestion = sentence, start, end, suggestion
        super().__init__(
            f'formula, character {start + 1}: {sentence}; did you mean "{suggestion}"?'
            if suggestion
            else f"formula, character {start + 1}: {sentence}"
        )
