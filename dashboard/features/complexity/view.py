"""What the page *Complexity* shows, and its link: ``/complexity?longest=2048&kernel=5&seed=1``.

A bare link shows the reference measurement; one with settings measures here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.language import gettext, gettext_noop
from dashboard.links.attending import absent_normaliser, normaliser_fields
from dashboard.links.fields import AUTO, SEED, Choice, Setting, Settings, device
from dashboard.links.link import Link
from dashboard.records.attending import Normalised
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Pairs, Request

TASK = "complexity"
REFERENCE, HERE, BOTH = "reference", "here", "both"  # whose times are shown
SHARED = 300  # seconds that one measurement serves everybody who asks for the same
_SECONDS, _SECONDS_PER_PRODUCT, _ROUNDS = 0.5, 2.3e-9, 7


@dataclass(frozen=True, kw_only=True)
class Complexity(Normalised):
    """What the page shows; ``times`` says whose.

    Settings, self-attention's normaliser, seed and device are those of a measurement here. It
    begins after ``since``, in seconds of the epoch, which no link says.
    """

    settings: Pairs = ()
    seed: int = 0
    device: str = AUTO
    times: str = REFERENCE
    since: int = 0


SETTINGS: Settings[Complexity] = Settings(
    name="settings", parameters=lambda _, catalogue: catalogue.options[TASK]
)
DEVICE = device()


def _usual_times(view: Complexity, catalogue: Catalogue) -> str:
    """The reference's; this machine's where the link says anything of a measurement here."""
    bare = Complexity(
        settings=SETTINGS.default(view, catalogue), times=view.times,
        normaliser_parameters=view.normaliser_parameters,
    )  # fmt: skip
    return REFERENCE if view == bare else HERE


def _title(times: str, _: Catalogue) -> str:
    # Not by `translated`: another page's "Reference" is another word.
    if times == REFERENCE:
        return gettext("Reference")
    return gettext("This machine") if times == HERE else gettext("Both")


TIMES: Choice[Complexity] = Choice(
    name="times", title=gettext_noop("Times"), options=lambda *_: (REFERENCE, HERE, BOTH),
    default=_usual_times, titles=_title,
    help=gettext_noop(
        "The reference measurement was recorded once, up to larger sizes, and ships with the "
        "workbench. It does not say how fast this machine is."
    ),
)  # fmt: skip
LINK = Link(
    default=lambda _: Complexity(),
    fields=(SETTINGS, *normaliser_fields(), Setting(name="seed", parameter=SEED), DEVICE, TIMES),
)


def timing_work(request: Request) -> float:
    """What timing costs, see :mod:`dashboard.records.request`; it stops itself before long."""
    if request.data == REFERENCE:
        return 0.0
    options = dict(request.options)
    n, d = int(options.get("longest", 1024)), int(options.get("widest", 256))
    rounds = min(int(options.get("repeats", _ROUNDS)), _ROUNDS)
    return _SECONDS + _SECONDS_PER_PRODUCT * (n * n * d + n * d * d) * rounds / _ROUNDS


def reference() -> Request:
    """What a worker reads the reference measurement for."""
    return Request.make(TASK, data=REFERENCE)


def measurement(view: Complexity, catalogue: Catalogue) -> Request | None:
    """What a worker must measure; None while the normaliser is not installed."""
    if absent_normaliser(view, catalogue):
        return None
    options = {**dict(view.settings), **view.options()}
    options |= {"since": view.since} if view.since else {}
    return Request.make(TASK, options=options, seed=view.seed, device=view.device)


def requests(view: Complexity, catalogue: Catalogue) -> Iterable[Request]:
    """What the view's times need of workers."""
    if view.times != HERE:
        yield reference()
    if view.times != REFERENCE and (request := measurement(view, catalogue)):
        yield request
