"""Large maps as palette PNGs, and weights as text: two signs each, which a chart reads back.

As numbers, tens of thousands of weights would take Altair and the browser seconds.
"""

import base64
import functools
import io

import altair as alt
import numpy as np
import pyarrow as pa
from PIL import Image

from dashboard.charts import theme
from dashboard.charts.frames import below_0, rounded
from dashboard.language import gettext

SIGNS = "".join(chr(code) for code in range(35, 127) if chr(code) not in "'\\")
_STEPS = len(SIGNS) ** 2 - 1
_HALF = _STEPS // 2  # the code of 0, where weights are signed
_MASKED_CODE = "!!"


def read(code: str, signed: bool = False, far: bool = False) -> str:
    """The expression of the weight that a code of two ``signs`` means, null where masked.

    Those that are signed or far reach up to what the parameter ``span`` says.
    """
    high, low = f"indexof(signs, ({code})[0])", f"indexof(signs, ({code})[1])"
    number = f"({high} * {len(SIGNS)} + {low})"
    part = f"({number} / {_HALF} - 1) * span" if signed else f"{number} / {_STEPS}"
    part += " * span" * (far and not signed)
    return f"({code}) === '{_MASKED_CODE}' ? null : {part}"


def looked_up(
    cells: alt.Chart, weights: str, signed: bool = False, far: bool = False
) -> alt.Chart:
    """The chart with the column ``value``: the cell's weight in the text of all, an expression."""
    return cells.transform_calculate(
        at="2 * (datum.q * length(keys) + datum.k)",
        code=f"substring({weights}, datum.at, datum.at + 2)",
        value=read("datum.code", signed, far),
    )  # fmt: skip


def span(weights: np.ndarray) -> float:
    """How far from 0 signed weights reach, 1 at least."""
    return max(1.0, float(np.abs(np.nan_to_num(weights)).max(initial=0.0)))


def written(weights: np.ndarray, span: float | None = None, signed: bool = True) -> str:
    """Weights from 0 to 1 or to ``span``, or from minus ``span``, to an 8,100th of that.

    NaN is masked.
    """
    held = np.nan_to_num(weights)
    parts = np.clip(held / (span or 1), 0, 1) * _STEPS
    parts = (held / span + 1) * _HALF if span is not None and signed else parts
    steps = np.rint(parts).astype(int).ravel()
    signs = np.frombuffer(SIGNS.encode("ascii"), dtype=np.uint8)
    pairs = np.stack([signs[steps // len(signs)], signs[steps % len(signs)]], axis=1)
    pairs[np.isnan(weights).ravel()] = ord(_MASKED_CODE[0])
    return pairs.tobytes().decode("ascii")


def at(chart: alt.Chart, x: str, y: str, x2: str = "", y2: str = "") -> alt.Chart:
    """The chart with its marks at a place, or from there to another: expressions of px."""
    chart = chart.encode(x=alt.XValue(alt.ExprRef(x)), y=alt.YValue(alt.ExprRef(y)))
    if not x2:
        return chart
    return chart.encode(x2=alt.X2Value(alt.ExprRef(x2)), y2=alt.Y2Value(alt.ExprRef(y2)))


def rect_table(values: np.ndarray, links: np.ndarray | None = None) -> pa.Table:
    """A row ``q``, ``k``, ``value`` per cell; ``head``, from 1, of several; ``gold`` if known."""
    head, query, key = (axis.ravel() for axis in np.indices(values.shape))
    columns = {"head": head + 1} if len(values) > 1 else {}
    columns |= {"q": query, "k": key}
    columns["value"] = pa.array(rounded(values.ravel()), from_pandas=True)  # null where masked
    if links is not None:
        columns["gold"] = pa.array(np.broadcast_to(links, values.shape).ravel(), pa.string())
    return pa.table(columns)


def picture_table(
    values: np.ndarray, vmax: float, log: bool = False, signed: bool = False
) -> tuple[pa.Table, str]:
    """Weights ``(heads, queries, keys)``: ``head`` and its picture for each scheme; a note."""
    rows, note = [], ""
    for head, weights in enumerate(values, start=1):
        urls, note = pictures(weights, vmax, log, signed)
        rows.append({"head": head, **urls})
    return pa.Table.from_pylist(rows), note


MAX_SIDE = 500  # pixels; a panel shows no more
PICK = f"{theme.ON_LIGHT} ? datum.light : datum.dark"
_MASKED = 255  # this palette entry is for cells without a weight; weights use those below


def pictures(
    weights: np.ndarray, vmax: float, log: bool = False, signed: bool = False
) -> tuple[dict[theme.Scheme, str], str]:
    """Weights ``(rows, columns)`` as the data URI of a PNG for each scheme, NaN as masked.

    Weights from 0 to ``vmax`` take 255 steps of the scheme's sequential ramp, as
    :func:`~dashboard.charts.theme.sequential` does; ``signed`` ones, from ``-vmax``, those of the
    diverging ramp. The other text is the note of :func:`summarised`.
    """
    small, note = summarised(weights)
    parts = np.nan_to_num(small) / vmax
    if signed:
        parts = (parts + 1) / 2
    elif log:
        parts = 1 - np.log(np.maximum(parts, theme.LEAST / vmax)) / np.log(theme.LEAST / vmax)
    steps = np.clip(parts, 0, 1) * (_MASKED - 1)
    codes = np.where(np.isnan(small), _MASKED, np.rint(steps)).astype(np.uint8)
    image, urls = Image.fromarray(codes), {}
    for scheme in theme.SEQUENTIAL:
        image.putpalette(_palette(scheme, signed), "RGBA")
        image.save(file := io.BytesIO(), "PNG")
        urls[scheme] = data_address(file.getvalue())
    return urls, note


def data_address(png: bytes) -> str:
    """The address of a picture that the browser decodes, and this process never does."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


@functools.cache
def _palette(scheme: theme.Scheme, signed: bool) -> bytes:
    ramp = np.array(
        [_rgb(colour) for colour in (theme.DIVERGING if signed else theme.SEQUENTIAL)[scheme]]
    )
    at = np.linspace(0, len(ramp) - 1, _MASKED)
    colours = np.stack([np.interp(at, range(len(ramp)), channel) for channel in ramp.T], axis=1)
    # Masked cells are half seen through, as they are where cells are drawn one by one.
    opacity = [255] * _MASKED + [255 * theme.MASKED_OPACITY]
    entries = np.column_stack([np.vstack([colours, _rgb(theme.QUIET)]), opacity])
    return np.rint(entries).astype(np.uint8).tobytes()


def _rgb(colour: str) -> list[int]:
    return [*bytes.fromhex(colour.removeprefix("#"))]


def summarised(weights: np.ndarray) -> tuple[np.ndarray, str]:
    """Weights with at most :data:`MAX_SIDE` rows and columns, and a note of what was done, if any.

    A pixel is the largest of the block of weights under it, or of signed ones the farthest from 0,
    so that no peak is lost; a block is masked only if all of it is.
    """
    rows, columns = (int(np.ceil(size / MAX_SIDE)) for size in weights.shape)
    if rows == columns == 1:
        return weights, ""
    note = gettext(
        "each pixel is the largest of {rows} × {columns} weights", rows=rows, columns=columns
    )
    if below_0(weights):
        note = gettext(
            "each pixel is the weight farthest from 0 of {rows} × {columns}",
            rows=rows, columns=columns,
        )  # fmt: skip
    return largest_of_blocks(weights, rows, columns), note


def largest_of_blocks(values: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The value farthest from 0 of each block of so many rows and columns, the last smaller.

    NaN where all of a block is.
    """
    ends = []
    for extreme in (np.fmax, np.fmin):
        down = extreme.reduceat(values, np.arange(0, values.shape[0], rows), axis=0)
        ends.append(extreme.reduceat(down, np.arange(0, values.shape[1], columns), axis=1))
    high, low = ends
    return np.where(-low > high, low, high)
