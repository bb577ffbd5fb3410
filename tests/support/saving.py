"""A process that stores runs until it is done or killed; it prints each id that is kept.

``python -m support.saving <JSON of Runs' arguments> <count> <name>``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa

from dashboard.records.request import Request, Result
from dashboard.storage.bundle import Bundle
from dashboard.storage.page_run import PageRun
from dashboard.storage.runs import Runs


def main() -> None:
    places = json.loads(sys.argv[1])
    store = Runs(Path(places.pop("root")), **places)
    for number in range(int(sys.argv[2])):
        held = Bundle(
            request=Request.make("regression", seed=number),
            result=Result(tables={"curve": pa.table({"x0": [0.5] * 7})}),
        )
        page = PageRun(panels=(held,), name=f"{sys.argv[3]} {number}")
        kept = store.keep(page, owner=sys.argv[3])
        print(kept.id, flush=True)


if __name__ == "__main__":
    main()
