"""Paints specifications in a process of its own: ``python -P dashboard/charts/painter.py``.

The converter holds Python's lock while it works, seconds for a large chart: in the page process
it would stop every session, and keep some 300 MB. A script, not a module of the package: it
starts without Altair and pandas.

Reads a JSON list of orders from standard input: ``{"kind": "svg", "spec": …}``, ``{"kind": "png",
"spec": …, "scale": …}``, ``{"kind": "javascript"}``; or, of a drawing that is there, ``{"kind":
"pdf", "svg": …}`` and ``{"kind": "print", "svg": …, "dpi": …}``. Writes for each the number of its
bytes (8, the highest first), then these.
"""

import json
import os
import struct
import sys
from typing import Any

import vl_convert


def paint(order: dict[str, Any]) -> bytes:
    """What one order asks for: a picture, or the scripts that draw a chart in a browser."""
    if order["kind"] == "javascript":
        # The package's stub has forgotten that the snippet has a default.
        return vl_convert.javascript_bundle().encode()  # pyright: ignore[reportCallIssue]
    if order["kind"] == "pdf":
        return vl_convert.svg_to_pdf(order["svg"])
    if order["kind"] == "print":
        return vl_convert.svg_to_png(order["svg"], ppi=order["dpi"])
    spec = json.dumps(order["spec"])
    if order["kind"] == "png":
        return vl_convert.vegalite_to_png(spec, scale=order["scale"], allowed_base_urls=[])
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode()


def main() -> None:
    """Fill the orders one after the other."""
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what the converter says must not get between the pictures
        for order in json.load(sys.stdin):
            picture = paint(order)
            answer.write(struct.pack("!Q", len(picture)) + picture)


if __name__ == "__main__":
    main()
