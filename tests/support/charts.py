"""Charts as a browser would paint them: where each mark lies, and the pixels."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
import pytest
import vl_convert
from altair.utils.schemapi import debug_mode
from PIL import Image

from dashboard.charts.theme import BACKGROUND, SEQUENTIAL, Scheme


class Scene:
    """A chart as painted on a page that gives it a background and a ramp, as Streamlit does.

    Args:
        spec: the chart as a mapping.
        width, height: px, of everything.
    """

    def __init__(
        self,
        chart: alt.TopLevelMixin | dict[str, Any],
        scheme: Scheme,
        width: int | None,
        hovered: dict[str, Any] | None,
    ) -> None:
        # A mapping is painted as it is: Altair would make an object of every row of its data.
        self.spec = {**chart} if isinstance(chart, dict) else chart.to_dict()
        ramp = list(SEQUENTIAL[scheme])
        self.spec["config"] = self.spec["config"] | {
            "background": BACKGROUND[scheme],
            "range": {"heatmap": ramp},
        }
        if width is not None:
            self.spec["width"] = width
        if hovered is not None:
            (param,) = (p for p in self.spec["params"] if p["name"] == "hover")
            param["value"] = [hovered]
        graph = vl_convert.vegalite_to_scenegraph(json.dumps(self.spec))
        self.width, self.height = graph["width"], graph["height"]
        self._origin = graph["origin"]
        self._root = graph["scenegraph"]

    def items(self, name: str = "", role: str = "") -> list[dict[str, Any]]:
        """Marks of that name or role, with ``left`` and ``top`` in px from the chart's corner."""
        return [
            item
            for mark, item in _walk(self._root, *self._origin)
            if (name and mark.get("name") == name) or (role and mark.get("role") == role)
        ]

    def pixels(self) -> np.ndarray:
        """RGB, ``(height, width, 3)``, a pixel per px."""
        png = vl_convert.vegalite_to_png(json.dumps(self.spec))
        return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def _walk(mark: dict, left: float, top: float) -> Iterator[tuple[dict, dict]]:
    for item in mark.get("items") or []:
        x, y = left + item.get("x", 0), top + item.get("y", 0)
        yield mark, {**item, "left": x, "top": y}
        for inner in item.get("items") or []:
            yield from _walk(inner, x, y)


@pytest.fixture(autouse=True, scope="session")
def charts_are_validated_whole():
    """Altair compares a chart with Vega-Lite's schema when it is written, not also at each part.

    Pages draw theirs so too; see :mod:`dashboard.charts.template`.
    """
    with debug_mode(False):
        yield


@pytest.fixture(scope="session")
def painted():
    """``painted(chart, scheme="light", width=None, hovered=None)``: the chart's :class:`Scene`.

    ``width`` is the host's, ``hovered`` what its pointer is on.
    """

    def paint(
        chart: alt.TopLevelMixin | dict[str, Any],
        scheme: Scheme = "light",
        width: int | None = None,
        hovered: dict[str, Any] | None = None,
    ) -> Scene:
        return Scene(chart, scheme, width, hovered)

    return paint


@pytest.fixture(scope="session")
def survives():
    """``survives(make)``: makes a chart twice, sends it through JSON, gives it as a mapping."""

    def check(make) -> dict[str, Any]:
        made = make()
        text = made.to_json(validate=False)
        again = make().to_json(validate=False)
        assert again == text, "equal arguments must give equal specifications"
        spec = json.loads(text)
        # To the schema a row is any object: one of each table is as good as all.
        data = {name: rows[:1] for name, rows in spec.get("datasets", {}).items()}
        short = spec | {"datasets": data} if data else spec
        type(made).validate(short)
        assert "NaN" not in text
        # Names that Altair counts up would differ from one process to the next.
        assert '"view_' not in text
        assert '"param_' not in text
        return spec

    return check


@pytest.fixture(scope="session")
def rows():
    """``rows(spec, column, ...)``: the data set of a specification that has these columns."""

    def find(spec: dict[str, Any], *columns: str) -> list[dict[str, Any]]:
        (found,) = (d for d in spec["datasets"].values() if d and set(columns) <= set(d[0]))
        return found

    return find


def kernel_tables(
    n: int = 11, m: int = 13, width: float = 0.4
) -> tuple[pa.Table, pa.Table, np.ndarray]:
    """Curve, points and weights of a Gaussian kernel at uneven, unsorted inputs."""
    rng = np.random.default_rng(2)
    x, queries = rng.permutation(np.sort(rng.random(n)) * 5), rng.permutation(np.arange(m) * 5 / m)
    y = np.sin(x) + rng.normal(0, 0.2, n)
    weights = np.exp(-(((queries[:, None] - x) / width) ** 2) / 2)
    weights /= weights.sum(1, keepdims=True)
    curve = pa.table({"x0": queries, "prediction": weights @ y, "truth": np.sin(queries)})
    return curve, pa.table({"x0": x, "y": y}), weights
