"""Charts on a page: finished specifications, each made once.

Making a specification takes milliseconds and a lock that all sessions share, so each is made once
and handed to the browser as a plain mapping from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard.charts import weights_legend

_SPECS_KEPT = 500


def legend(vmax: float) -> None:
    """What the colours of all maps mean."""
    show(f"legend {vmax}", lambda: weights_legend(vmax), f"Colours from weight 0 to {vmax:g}")


def show(key: str, make: Callable[[], Any], alt: str, *, stretch: bool = True) -> None:
    """Draw the chart of that key, made now if nobody needed it before.

    Args:
        stretch: whether it is as wide as its column; False for a shape that must stay.
    """
    st.vega_lite_chart(
        specification(key, make), width="stretch" if stretch else "content", alt=alt
    )


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def specification(key: str, _make: Callable[[], Any]) -> dict[str, Any]:
    """The specification of the chart of that key, made now if nobody needed it before."""
    return _make().to_dict(validate=False)
