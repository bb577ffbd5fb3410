"""The panels that a page shows, noted as they are drawn, so that the page can be kept whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.charts import export
from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.storage import bundle
from dashboard.storage.bundle import Bundle, slug

Chart = export.AnySpec | Callable[[], export.AnySpec]

_SHOWN = "panels shown"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A panel with its result; see :func:`dashboard.ui.export.menu`."""

    request: Request | None
    result: Result
    charts: Mapping[str, Chart]
    key: str
    title: str
    link: str

    @property
    def file(self) -> str:
        """The beginning of every file's name."""
        return slug(f"{self.title} {self.request.key[:8]}" if self.request else self.title)

    def bundle(self, request: Request) -> Bundle:
        """The whole panel, without pictures."""
        return Bundle(
            request=request,
            result=self.result,
            title=self.title,
            link=self.link,
            charts={slug(name): _spec(chart) for name, chart in self.charts.items()},
            versions=bundle.versions(),
        )


def _spec(chart: Chart) -> dict[str, Any]:
    drawn = chart() if callable(chart) else chart
    return dict(drawn) if isinstance(drawn, Mapping) else drawn.to_dict(validate=False)


def forget() -> None:
    """Begin a page: no panel is shown yet."""
    st.session_state[_SHOWN] = {}


def note(key: str, panel: Shown | None) -> None:
    """Note a panel of the page being drawn; None for one that has no result yet."""
    st.session_state.setdefault(_SHOWN, {})[key] = panel


def panels() -> list[Shown | None]:
    """The panels noted since :func:`forget`, in the order in which they were drawn."""
    return list(st.session_state.get(_SHOWN, {}).values())
