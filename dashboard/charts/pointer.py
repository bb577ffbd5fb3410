"""What the pointer is on, as a selection that all charts call by one name."""

from __future__ import annotations

import altair as alt
from altair.typing import Optional


def hover(*fields: str, nearest: Optional[bool] = alt.Undefined) -> alt.Parameter:
    """The selection ``hover``: rows that have the ``fields`` of the mark under the pointer.

    A finger leaves as it is lifted; the click of a tap comes after that, so its mark stays.

    Args:
        nearest: whether the pointer need not be on a mark.
    """
    return alt.selection_point(
        name="hover", fields=[*fields], on="pointerover, click", clear="pointerout", empty=False,
        toggle=False, nearest=nearest,
    )  # fmt: skip
