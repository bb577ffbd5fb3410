"""Charts on a page: specifications made once, tables changed under them.

Making a specification takes tens of milliseconds and a lock that all sessions share, so each is
made once and handed to the browser as a plain mapping from then on. Where two results differ in
their tables alone, the browser keeps the chart that it has and changes its data.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike
from streamlit.dataframe_util import convert_anything_to_arrow_bytes

from dashboard import language
from dashboard.charts import weights_legend
from dashboard.charts.legend import WEIGHT, draw_scale, prepare_scale
from dashboard.charts.summary import Summary
from dashboard.charts.template import Draw, Prepared, built, template
from dashboard.charts.theme import LEAST
from dashboard.charts.values import draw_values, prepare_values
from dashboard.language import gettext, gettext_noop, translated
from dashboard.ui import shown
from dashboard.ui.figure_parts import LEGEND
from dashboard.ui.speaking import spoken_now

_SPECS_KEPT = 1_000
_known: OrderedDict[tuple[str, ...], Any] = OrderedDict()
_lock = threading.Lock()
T = TypeVar("T")
Follows = tuple[str, Mapping[str, float]]  # the name of frames, and where their sliders stand
NOTHING: Follows = "", {}


class Drawn(NamedTuple):
    """A chart as it is sent, and the same in words and numbers."""

    spec: dict[str, Any]
    summary: Summary | None


def legend(
    vmax: float, *, log: bool = False, signed: bool = False, quantity: str = "",
    follows: Follows = NOTHING,
) -> None:  # fmt: skip
    """What the colours mean, of a ``quantity`` if not of weights; see :func:`show_filled`."""
    title, start = quantity or WEIGHT, -vmax if signed else LEAST if log else 0
    told = gettext_noop("Colours of {quantity} from {start:g} to {end:g}")
    if log and not signed:
        told = gettext_noop("Colours by the logarithm of {quantity}, from {start:g} to {end:g}")
    alt = gettext(told, quantity=translated(title), start=start, end=vmax)
    key = f"legend {vmax} {log}{' signed' * signed}{quantity}"
    if follows[1]:
        prepare = partial(prepare_scale, vmax, signed)
        stays = {"name": LEGEND, "title": gettext("Colours of weights")}
        show_filled(key, draw_scale, prepare, alt, follows=follows, **stays)
        return
    looks = {"log": log and not signed, "difference": signed, "title": title}
    show(key, lambda: weights_legend(vmax, **looks), alt)


def show(
    key: str, make: Callable[[], Any], alt: str, *, stretch: bool = True,
    summary: Summary | None = None,
) -> None:  # fmt: skip
    """Draw the chart of that key, made now if nobody needed it before.

    A key that begins with ``legend`` is of a legend, which figures have anyway. A shape that must
    stay does not ``stretch`` with its column.
    """
    kept = shown.Kept(name=LEGEND if key.startswith("legend") else "")
    spec = _specification(key, language.current(), make)
    shown.chart(spec, alt, stretch=stretch, summary=summary, kept=kept)


def show_filled(
    key: str, draw: Draw, prepare: Callable[[], Prepared], alt: str, **more: Any
) -> None:  # fmt: skip
    """Draw a chart that is a template, see :mod:`dashboard.charts.template`.

    Args:
        key: of the tables, which ``prepare`` makes if nobody needed them before.
        more: ``stretch`` as of :func:`show`; ``marks``, what its marks mean, in a sentence;
            ``name``, by which it is kept; ``follows``, the name of its frames and where the
            sliders stand that it follows, see :mod:`dashboard.ui.live`.
    """
    own = {one: more.pop(one) for one in ("marks", "name") if one in more}
    chart, sliders = more.pop("follows", ("", {}))
    if not sliders:
        drawn, kept = filled(key, draw, prepare), shown.Kept(**own)
    else:
        key = f"{key} follows {chart} {sliders}"
        drawn = filled(key, draw, lambda: prepare().following(chart, sliders))
        # What is kept or exported follows nothing.
        kept = shown.Kept(spoken_now(lambda: _filled(draw, prepare()).spec), follows=True, **own)
    shown.chart(drawn.spec, alt, summary=drawn.summary, kept=kept, **more)


def show_values(key: str, values: ArrayLike, alt: str, **looks: Any) -> None:
    """Draw numbers as coloured cells, see :func:`~dashboard.charts.values.prepare_values`."""
    show_filled(key, draw_values, lambda: prepare_values(values, **looks), alt)


def show_prepared(draw: Draw, prepared: Prepared, alt: str, follows: Follows = NOTHING) -> None:
    """Draw a template with tables that are not drawn again; it ``follows`` as others do."""
    bare, kept = spoken_now(lambda one=prepared: _filled(draw, one).spec), shown.Kept()
    if follows[1]:
        prepared, kept = prepared.following(*follows), shown.Kept(bare, follows=True)
    shown.chart(_filled(draw, prepared).spec, alt, summary=prepared.summary, kept=kept)


def _specification(key: str, spoken: str, make: Callable[[], Any]) -> dict[str, Any]:
    return _remembered(("whole", key, spoken), lambda: packed(built(make)))


def _remembered(key: tuple[str, ...], make: Callable[[], T]) -> T:
    """What was made under that key before; ``st.cache_resource`` takes 0.2 ms to find it."""
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    made = make()
    with _lock:
        _known[key] = made
        if len(_known) > _SPECS_KEPT:
            _known.popitem(last=False)
    return made


def packed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The specification with its data sets as they are sent, so that no run packs them again."""
    if "datasets" not in spec:
        return dict(spec)
    sets = spec["datasets"].items()
    return {**spec, "datasets": {n: convert_anything_to_arrow_bytes(rows) for n, rows in sets}}


def unpacked(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The specification with its data sets as rows, as a file holds them; NaN becomes null."""
    if "datasets" not in spec:
        return dict(spec)
    return {**spec, "datasets": {name: _rows(data) for name, data in spec["datasets"].items()}}


def _rows(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data, preserve_index=False)
    elif not isinstance(data, pa.Table):
        data = pa.ipc.open_stream(data).read_all()
    return [{name: _finite(value) for name, value in row.items()} for row in data.to_pylist()]


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def filled(key: str, draw: Draw, prepare: Callable[[], Prepared]) -> Drawn:
    """The specification of a template with the tables of that key, as they are sent."""
    return _remembered(("filled", key, language.current()), lambda: _filled(draw, prepare()))


def _filled(draw: Draw, prepared: Prepared) -> Drawn:
    tables = {name: convert_anything_to_arrow_bytes(one) for name, one in prepared.sent.items()}
    return Drawn({**template(draw, prepared), "datasets": tables}, prepared.summary)
