"""What the start page shows: a width, its link ``/?width=0.2``, and the fits that it compares.

They are those of the page *Kernel regression*, so that its link shows the same curves.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dashboard.charts.frames import column_of
from dashboard.language import gettext
from dashboard.links import fits
from dashboard.links.fields import Setting
from dashboard.links.link import Link
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults, pairs
from dashboard.records.request import Request, Result
from dashboard.ui.maps import frames

_SAID = beside(__file__, "words.toml")["view"]
MARKED = 2.0  # the x of the line while the pointer is on none: near the top of the wave
_SHARE = 0.9  # of the weight at a query
# Of an error on points left out to that on known points: above it a curve follows the noise.
_NOISY = 2.0
# Of an error to that of average pooling: above it a curve is flat.
_FLAT = 0.4


class Reading(NamedTuple):
    """What is read off one result: how few points carry 90% of the weight on average over the
    queries, the mean squared error against the truth, and ``times``: how much larger the error on
    points left out is than on known ones."""

    count: int
    points: int
    error: float
    times: float


def marked(result: Result) -> int:
    """The query nearest to :data:`MARKED`, counted from 0 by its x."""
    return int(np.argmin(np.abs(np.sort(column_of(result.tables["curve"], "x0")) - MARKED)))


def read(result: Result) -> Reading:
    """See :class:`Reading`; of a result of the task ``regression`` with a map."""
    weights = frames(result)[0].weights[0]
    carried = np.cumsum(-np.sort(-weights, axis=-1), axis=-1)
    counts = 1 + (carried < _SHARE * carried[:, -1:] * (1 - 1e-9)).sum(axis=-1)
    figures = result.facts["metrics"]
    known = figures["training_mse"]
    times = figures["leave_one_out_mse"] / known if known else float("inf")
    return Reading(round(counts.mean()), weights.shape[1], figures["truth_mse"], times)


def weight_sentence(now: Reading, before: Reading, *, title: str) -> str:
    """On how many points the weight of a scoring rests, beside that at the usual width."""
    words = _SAID["wider"] if now.count > before.count else _SAID["narrower"]
    if now.count == before.count:
        words = _SAID["start"]
    return gettext(
        words, count=now.count, points=now.points, title=title, before=before.count,
        start=USUAL_WIDTH,
    )  # fmt: skip


def curve_sentence(now: Reading, baseline: Reading) -> str:
    """Whether the curve follows the noise, is too flat, or comes nearer the truth."""
    words = _SAID["noise"] if now.times > _NOISY else _SAID["follows"]
    if now.error > _FLAT * baseline.error:
        words = _SAID["nearly_flat"]
    return gettext(words, times=now.times, error=now.error, baseline=baseline.error)


MOVED = "gaussian"  # of what the sentence speaks
BASELINE = "uniform"  # has no width
SCORINGS = (MOVED, "laplacian", BASELINE)
USUAL_WIDTH = 0.5
_WIDTH = "width"  # the parameter of both kernels

WIDTH = Parameter(
    name=_WIDTH, title="Width of both kernels", default=USUAL_WIDTH, low=0.05, high=2.0, step=0.05
)


@dataclass(frozen=True, kw_only=True)
class Start:
    """What the page shows: the width of every kernel that has one, in units of x."""

    width: float = USUAL_WIDTH


def requests(view: Start, catalogue: Catalogue) -> dict[str, Request]:
    """What workers must compute, by the names of those scorings that are installed."""
    settings = defaults(fits.data_parameters(catalogue, fits.DATA))
    found: dict[str, Request] = {}
    for name in SCORINGS:
        if name in catalogue.scorings:
            held = dict(fits.default_fit(catalogue, name).parameters)
            if _WIDTH in held:
                held[_WIDTH] = view.width
            fit = fits.Fit(scoring=name, parameters=pairs(held))
            found[name] = fits.fit_request(fit, data=fits.DATA, settings=settings)
    return found


def before(catalogue: Catalogue) -> Request | None:
    """What the sentence compares the present width with: the fit of the bare address."""
    return requests(Start(), catalogue).get(MOVED)


def same_curves(view: Start) -> dict[str, str]:
    """The parameters of the link to *Kernel regression* that shows the same fits."""
    width = WIDTH.write(view.width)
    return {
        "a": SCORINGS[0], f"a.{_WIDTH}": width, "b": SCORINGS[1], f"b.{_WIDTH}": width,
        "c": SCORINGS[2],
    }  # fmt: skip


WIDTH_FIELD: Setting[Start] = Setting(name="width", parameter=WIDTH)
LINK: Link[Start] = Link(default=lambda _: Start(), fields=(WIDTH_FIELD,))
