"""What the page *Attention maps* shows, its link, and its requests.

``/maps?source=log:run-7&step=1200&site=layers.*.attn&map=2.3&other=log:run-7&other_step=0``. A
source is ``log:`` and the name of a logged training, or ``upload:`` and the sha256 of a file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.links.fields import Choice, Setting, Text
from dashboard.links.link import Field, Link, Reader
from dashboard.links.panels import read_map
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, is_upload
from dashboard.storage.attention_logs import log_index, logs

TASK = "attention_maps"
LOG = "log:"
LATEST = -1  # in place of a step
_SOURCE = re.compile(r"upload:[0-9a-f]{64}\Z|log:\w[\w .,=+-]{0,79}\Z")


@dataclass(frozen=True, kw_only=True)
class MapsView:
    """What the page shows.

    Args:
        source: empty where there is none.
        step: of a log; :data:`LATEST` for whichever is the last.
        example: of an uploaded batch, from 1.
        queries, keys: tokens of an uploaded file, as they are typed.
        site: the modules whose maps are shown, as the task names them; empty for the first.
        map: ``layer.head`` or ``layer.mean``; empty for the usual one.
        other, other_step: what is subtracted; empty for nothing.
    """

    source: str = ""
    step: int = LATEST
    example: int = 1
    queries: str = ""
    keys: str = ""
    site: str = ""
    map: str = ""
    other: str = ""
    other_step: int = LATEST


class MapField(Field[MapsView, str]):
    """The selected map."""

    def read(self, reader: Reader, view: MapsView, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        return read_map(reader, self.name, "")

    def write(self, view: MapsView, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {self.name: view.map} if view.map else {}


def is_log(source: str) -> bool:
    """Whether a source is a logged training."""
    return source.startswith(LOG)


def log_name(source: str) -> str:
    """The name of the log that is a source."""
    return source.removeprefix(LOG)


def steps(source: str) -> list[int]:
    """The steps of a source that is a log, in their order."""
    if not is_log(source):
        return []
    return [line["step"] for line in log_index(log_name(source)).lines]


def data(source: str, step: int) -> str:
    """What a worker reads: an upload, or ``log:name@step@stamp``; empty where there is no step.

    The stamp changes when the step is written again.
    """
    if not is_log(source):
        return source
    lines = {line["step"]: line for line in log_index(log_name(source)).lines}
    if not lines:
        return ""
    wanted = max(lines) if step == LATEST else step
    line = lines.get(wanted, {})
    return f"{source}@{wanted}@{line.get('time')}-{line.get('bytes')}"


def request(view: MapsView) -> Request | None:
    """The maps of the source; None where there is none."""
    found = data(view.source, view.step)
    return Request.make(TASK, data=found, options=_options(view)) if found else None


def difference(view: MapsView) -> Request | None:
    """The source's map less the other's; None where none is subtracted."""
    one, other = data(view.source, view.step), data(view.other, view.other_step)
    if not (one and other):
        return None
    options = {**_options(view), "other": other, "map": view.map}
    return Request.make(TASK, data=one, options=options)


def _options(view: MapsView) -> dict[str, Any]:
    given = {"site": view.site}
    if is_upload(view.source):
        given |= {"example": view.example, "queries": view.queries, "keys": view.keys}
    return given


def sources() -> list[str]:
    """Every log, the one that was written to last first."""
    return [LOG + name for name in logs()]


def _no_source(_view: MapsView, _catalogue: Catalogue) -> str:
    return ""


def _step(name: str) -> Setting[MapsView]:
    step = Parameter(name=name, title="Step", default=LATEST, low=LATEST, high=10**12, step=1)
    return Setting(name=name, parameter=step)


SOURCE: Choice[MapsView] = Choice(
    name="source", title="Log or file", options=lambda _view, _: sources(),
    default=_no_source, unknown=_SOURCE,
)  # fmt: skip
OTHER: Choice[MapsView] = Choice(
    name="other", title="Subtract", options=lambda _view, _: ["", *sources()], default=_no_source,
    unknown=_SOURCE, help="A step, a log or a file whose map is taken from the one that is shown.",
)  # fmt: skip
EXAMPLE: Setting[MapsView] = Setting(
    name="example",
    parameter=Parameter(
        name="example", title="Row of the batch", default=1, low=1, high=100_000,
        step=1, help="Of the batch, from 1, which is the only one of a file without a batch.",
    ),
)  # fmt: skip
QUERIES: Text[MapsView] = Text(
    name="queries", title="Tokens of the queries",
    help="With spaces between them, or a list in JSON; those of the file where there are none.",
    placeholder="as in the file",
)  # fmt: skip
KEYS: Text[MapsView] = Text(
    name="keys", title="Tokens of the keys",
    help="The same as those of the queries where there are none.", placeholder="as in the file",
)  # fmt: skip
SITE: Text[MapsView] = Text(name="site", title="Modules")
LINK = Link(
    default=lambda _: MapsView(),
    fields=(
        SOURCE, _step("step"), EXAMPLE, QUERIES, KEYS, SITE, MapField(name="map"), OTHER,
        _step("other_step"),
    ),
)  # fmt: skip
