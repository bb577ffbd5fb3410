"""Charts as files: complete Vega-Lite JSON, SVG, PNG, and HTML that needs no network.

A chart is an Altair chart or its specification as a mapping. Pictures are painted by a process of
their own, see :mod:`dashboard.charts.painter`; call from a thread that may wait.
"""

import functools
import io
import json
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt

from dashboard import language
from dashboard.charts.one_file import Edition, written
from dashboard.charts.theme import Scheme, standalone

_PATIENCE = 120.0  # seconds that painting may take, on a machine that is busy
_QUEUE = 60.0  # seconds to wait for painters that others keep busy
_PAINTER = Path(__file__).with_name("painter.py")
_at_once = threading.BoundedSemaphore(2)


class ExportError(ValueError):
    """A chart that cannot be a file by itself, or a painter that failed, in one sentence."""


def painted(orders: Sequence[Mapping[str, Any]], *, patience: float = _PATIENCE) -> list[bytes]:
    """What the painter makes of the orders; two work at once. Raises :class:`ExportError`."""
    if not _at_once.acquire(timeout=_QUEUE):
        raise ExportError("the server paints for others: try again in a minute")
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_PAINTER)], input=json.dumps(orders).encode(),
            capture_output=True, timeout=patience, check=False,
        )  # fmt: skip
    except (subprocess.TimeoutExpired, OSError) as error:
        raise ExportError(f"the chart could not be painted: {error}") from error
    finally:
        _at_once.release()
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or "no reason given"
        raise ExportError(f"the chart could not be painted: {said.splitlines()[-1][:300]}")
    answer = io.BytesIO(done.stdout)
    return [answer.read(struct.unpack("!Q", answer.read(8))[0]) for _ in orders]


AnySpec = alt.TopLevelMixin | Mapping[str, Any]

SCREEN = 2.0  # pixels per px of a chart
PRINT = 300 / 72  # 300 dpi, where 72 px are an inch


def complete(chart: AnySpec, scheme: Scheme = "light") -> dict[str, Any]:
    """The specification for a place without a theme of its own: data inline, colours in it.

    ExportError where it names data or a picture by address.
    """
    spec = chart if isinstance(chart, Mapping) else chart.to_dict(validate=False)
    _see_that_it_holds_its_data(spec)
    return {**spec, "config": {**spec.get("config", {}), **standalone(alt.Chart(), scheme).config}}


def _see_that_it_holds_its_data(spec: Mapping[str, Any]) -> None:
    for held in objects(spec):
        address = held.get("url")
        if isinstance(address, str) and not address.startswith("data:"):
            raise ExportError(f"need a chart that holds its data, got one that names {address!r}")


def vega_lite(chart: AnySpec, scheme: Scheme = "light") -> bytes:
    """:func:`complete` as JSON; equal charts give equal bytes."""
    return json.dumps(complete(chart, scheme), ensure_ascii=False, sort_keys=True).encode()


def svg(chart: AnySpec, scheme: Scheme = "light") -> bytes:
    """A picture that stays sharp at any size; raises :class:`ExportError`."""
    return painted([_order("svg", chart, scheme)])[0]


def png(chart: AnySpec, scheme: Scheme = "light", *, scale: float = SCREEN) -> bytes:
    """A picture of ``scale`` pixels per px, 300 dpi with :data:`PRINT`; raises as :func:`svg`."""
    return painted([_order("png", chart, scheme, scale=scale)])[0]


def pictures(charts: Mapping[str, AnySpec], scheme: Scheme = "light") -> dict[str, bytes]:
    """``<name>.svg`` and ``<name>.png`` of every chart, in one go; raises as :func:`svg`."""
    orders = {}
    for name, chart in charts.items():
        orders[f"{name}.svg"] = _order("svg", chart, scheme)
        orders[f"{name}.png"] = _order("png", chart, scheme, scale=SCREEN)
    return dict(zip(orders, painted(list(orders.values())), strict=True)) if orders else {}


def html(chart: AnySpec, title: str, note: str = "") -> bytes:
    """A page with the chart alone, see :func:`page`; title and note are shown as they stand."""
    block = {"kind": "chart", "name": "chart", "alt": "", "stretch": True}
    spec = chart if isinstance(chart, Mapping) else chart.to_dict(validate=False)
    edition = Edition(title=title, note=note, seen=[block], charts={"chart": spec})
    return page({language.current(): edition})


def page(editions: Mapping[str, Edition]) -> bytes:
    """A page in one language or several as one file, see :mod:`.one_file`; raises as :func:`svg`.

    ``views`` there are the Vega views of its charts by name.
    """
    for edition in editions.values():
        for spec in edition.charts.values():
            _see_that_it_holds_its_data(spec)
    return written(editions, _javascript())


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of file that a chart can be; ``make`` raises :class:`ExportError`."""

    label: str
    suffix: str
    mime: str
    make: Callable[[AnySpec, str], bytes]


# In the order in which a menu lists them.
FORMATS = (
    Format(label="PNG", suffix=".png", mime="image/png", make=lambda chart, _: png(chart)),
    Format(
        label="PNG, 300 dpi", suffix="-300dpi.png", mime="image/png",
        make=lambda chart, _: png(chart, scale=PRINT),
    ),
    Format(label="SVG", suffix=".svg", mime="image/svg+xml", make=lambda chart, _: svg(chart)),
    Format(label="HTML", suffix=".html", mime="text/html", make=html),
    Format(
        label="Vega-Lite", suffix=".vl.json", mime="application/json",
        make=lambda chart, _: vega_lite(chart),
    ),
)  # fmt: skip


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping of a specification, apart from the rows of its data sets."""
    if isinstance(value, Mapping):
        yield value
        for name, held in value.items():
            if name != "datasets":
                yield from objects(held)
    elif isinstance(value, list):
        for held in value:
            yield from objects(held)


def _order(kind: str, chart: AnySpec, scheme: Scheme, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "spec": complete(chart, scheme), **more}


@functools.lru_cache(maxsize=1)
def _javascript() -> str:
    return painted([{"kind": "javascript"}])[0].decode()
