"""Four bare charts that follow a slider: plain Streamlit, and thirty lines between its parts.

What the workbench's own pages are measured against: a curve and a map of weights in each chart,
without points to hover, tables, words, or links. Frames come with the page.
"""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.components.v2 import component

KERNELS = {
    "gaussian": lambda far: np.exp(-(far**2) / 2),
    "laplacian": lambda far: np.exp(-far),
    "rational_quadratic": lambda far: 1 / (1 + far**2 / 2),
    "cauchy": lambda far: 1 / (1 + far**2),
}
WIDE, TALL, QUERIES = 270, 150, 50
WIDTHS = np.geomspace(0.05, 10, 41)

# The slider's input shows each position of a drag; a parameter of each chart listens to the page.
BRIDGE = """
const known = new Map();

function show(held, at) {
  const { widths } = held;
  let high = 1;
  while (high < widths.length - 1 && widths[high] < at) high++;
  const [from, to] = [widths[high - 1], widths[high]];
  const share = Math.min(1, Math.max(0, Math.log(at / from) / Math.log(to / from)));
  const y = held.curves.map((all) => all[high].map(
    (value, q) => all[high - 1][q] * (1 - share) + value * share));
  document.body.value = { at, number: share < 0.5 ? high - 1 : high, y };
  document.body.dispatchEvent(new Event("live"));
}

export default function ({ key, data }) {
  known.get(key)?.disconnect();
  const slider = document.querySelector(".st-key-width");
  const tell = () => show(data, Number(slider.querySelector("input").value));
  const moved = new MutationObserver(tell);
  moved.observe(slider, { subtree: true, attributes: true, attributeFilter: ["value"] });
  known.set(key, moved);
  return () => moved.disconnect();
}
"""


def results(name, width):
    """The curve, and the weights ``(keys, queries)``."""
    x = np.sort(np.random.default_rng(0).uniform(0, 5, 50))
    far = np.abs(np.linspace(0, 5, QUERIES)[:, None] - x) / width
    weights = KERNELS[name](far)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights @ (2 * np.sin(x) + x**0.8), weights.T


def picture(maps):
    """Maps below each other as one PNG in greys, as an address."""
    codes = np.concatenate([np.rint(255 * (1 - each / each.max())) for each in maps])
    cells = np.pad(codes.astype(np.uint8), ((0, 0), (1, 0)))
    head = struct.pack("!IIBBBBB", codes.shape[1], codes.shape[0], 8, 0, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(cells.tobytes())), (b"IEND", b"")
    chunks = [
        struct.pack("!I", len(held)) + kind + held + struct.pack("!I", zlib.crc32(kind + held))
        for kind, held in parts
    ]
    coded = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()
    return f"data:image/png;base64,{coded}"


@st.cache_data
def frames():
    """Of every kernel, the curves of all widths, and their maps in one picture."""
    found = [[results(name, width) for width in WIDTHS] for name in KERNELS]
    curves = [[curve.round(4).tolist() for curve, _ in each] for each in found]
    return curves, [picture([weights for _, weights in each]) for each in found]


def specification(number):
    """A chart: the finger is followed until the server has said the same."""
    moving = "live && live.at != datum.at"
    y = {"field": "now", "type": "quantitative", "scale": {"domain": [-1, 5]}}
    curve = {
        "data": {"name": "curve"},
        "mark": "line",
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": y},
        "transform": [
            {"calculate": f"{moving} ? live.y[{number}][datum.q] : datum.y", "as": "now"}
        ],
    }
    image = {"type": "image", "width": WIDE, "aspect": False, "smooth": False, "clip": True}
    strip = {
        "data": {"name": "strip"},
        "mark": {**image, "height": TALL * len(WIDTHS), "baseline": "top"},
        "encoding": {
            "url": {"field": "url"},
            "x": {"value": WIDE / 2},
            "y": {"value": {"expr": f"live ? -{TALL} * live.number : 0"}},
        },
    }
    shown = {"height": TALL, "opacity": {"expr": f"{moving} ? 0 : 1"}}
    exact = {
        "data": {"name": "map"},
        "mark": {**image, **shown},
        "encoding": {"url": {"field": "url"}, "x": {"value": WIDE / 2}, "y": {"value": TALL / 2}},
    }
    size = {"width": WIDE, "height": TALL}
    return {
        "vconcat": [{**size, **curve}, {**size, "layer": [strip, exact]}],
        "params": [{"name": "live", "bind": {"element": "body", "event": "live"}}],
        "usermeta": {"embedOptions": {"renderer": "canvas"}},
    }


st.set_page_config(layout="wide")
width = st.slider("Width", 0.05, 10.0, 1.0, 0.01, key="width")
curves, strips = frames()
with st.container(horizontal=True):
    for number, name in enumerate(KERNELS):
        curve, weights = results(name, width)
        x = np.linspace(0, 5, QUERIES)
        rows = pd.DataFrame({"q": range(QUERIES), "x": x, "y": curve, "at": width})
        sets = {
            "curve": rows,
            "strip": pd.DataFrame({"url": [strips[number]]}),
            "map": pd.DataFrame({"url": [picture([weights])], "at": width}),
        }
        spec = {**specification(number), "datasets": sets}
        st.vega_lite_chart(spec, key=f"chart-{name}", width="content")
bridge = component("benchmark_bridge", js=BRIDGE, isolate_styles=False)
bridge(key="bridge", data={"widths": WIDTHS.tolist(), "curves": curves})
