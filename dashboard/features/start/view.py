"""What the start page shows: a width, its link, and the three fits that it compares.

``/?width=0.2``. The fits are those of the page *Kernel regression*, so that its link shows the
same curves.
"""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.links import fits
from dashboard.links.fields import Setting
from dashboard.links.fits import DATA, Fit
from dashboard.links.link import Link
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults, pairs
from dashboard.records.request import Request

MOVED = "gaussian"  # of what the sentence speaks
BASELINE = "uniform"  # has no width
SCORINGS = (MOVED, "laplacian", BASELINE)
USUAL_WIDTH = 0.5
_WIDTH = "width"  # the parameter of both kernels

WIDTH = Parameter(
    name=_WIDTH,
    title="Width of both kernels",
    default=USUAL_WIDTH,
    low=0.05,
    high=2.0,
    step=0.05,
)


@dataclass(frozen=True, kw_only=True)
class Start:
    """What the page shows.

    Args:
        width: of every kernel that has one, in units of x.
    """

    width: float = USUAL_WIDTH


def compared(view: Start, catalogue: Catalogue) -> dict[str, Fit]:
    """The fits by the names of their scorings, as far as these are installed."""
    found: dict[str, Fit] = {}
    for name in SCORINGS:
        if name in catalogue.scorings:
            fit = fits.default_fit(catalogue, name)
            held = dict(fit.parameters)
            if _WIDTH in held:
                held[_WIDTH] = view.width
            found[name] = Fit(scoring=name, parameters=pairs(held))
    return found


def requests(view: Start, catalogue: Catalogue) -> dict[str, Request]:
    """What workers must compute, by the name of the scoring."""
    settings = defaults(fits.data_parameters(catalogue, DATA))
    return {
        name: fits.fit_request(fit, data=DATA, settings=settings)
        for name, fit in compared(view, catalogue).items()
    }


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
