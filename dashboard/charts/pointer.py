"""What the pointer is on, as a selection that all charts call by one name."""

from __future__ import annotations

import altair as alt
from altair.typing import Optional


def hover(*fields: str, nearest: Optional[bool] = alt.Undefined) -> alt.Parameter:
    """The selection ``hover``: rows that have the ``fields`` of the mark under the pointer.

    Args:
        nearest: whether the pointer need not be on a mark.
    """
    return alt.selection_point(
        name="hover", fields=[*fields], on="pointerover", clear="pointerout", empty=False,
        nearest=nearest,
    )  # fmt: skip
