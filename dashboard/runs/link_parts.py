"""What the links of all pages share: reading and writing panels' letters, knobs, a device.

A page's whole state is a link: short, readable, defaults left out. Reading never raises: whatever
a link holds, it gives a view that can be shown, and one sentence for everything that was not
taken as it stood. What is not installed here stays in the view, so that its panel can say so and
the link survives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Reader
from dashboard.runs.request import Pairs, Scalar

LETTERS = "abcd"  # of a page's panels
MOST_PANELS = len(LETTERS)
AUTO = "auto"
NOBODY = "none"  # stands for an empty list, since a parameter that is left out is its default
MOST_SCORINGS = 8  # of a page that lists them
UPLOAD = re.compile(r"upload:[0-9a-f]{64}\Z")
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")  # of a model or a scoring, installed here or not

SEED = Knob(
    name="seed",
    title="Seed",
    default=0,
    low=0,
    high=9999,
    step=1,
    help="Another seed draws other points and other starting weights.",
)

KeyOf = Callable[[str], str]


def pairs(values: Mapping[str, Scalar]) -> Pairs:
    """The mapping as a request holds it: sorted by name."""
    return tuple(sorted(values.items()))


def defaults(knobs: Iterable[Knob]) -> Pairs:
    """Every knob at its default."""
    return pairs({knob.name: knob.default for knob in knobs})


def not_installed(kind: str, name: str) -> str:
    """A sentence on what a panel needs that is not here, and what would bring it."""
    return (
        f"{kind} {shown(name)} is not installed here. A plugin provides it: install the "
        "plugin where this dashboard runs, then press “Reload plugins”."
    )


def read_device(reader: Reader, catalogue: Catalogue) -> str:
    """The parameter ``device``, if it is here."""
    given = reader.take("device")
    if given is None or given == AUTO or given in catalogue.devices:
        return given or AUTO
    offered = ", ".join(catalogue.devices)
    reader.problem(f"device={shown(given)} is not here; {AUTO} is used (offered: {offered})")
    return AUTO


def read_data(reader: Reader, catalogue: Catalogue, task: str, usual: str) -> str:
    """The parameter ``data``: a data set of the task, or an uploaded file."""
    given = reader.take("data")
    offered = catalogue.of_task("datasets", task)
    if given is None or given in offered or UPLOAD.match(given):
        return given or usual
    reader.problem(
        f"data={shown(given)} is not installed here; {usual} is used "
        f"(offered: {', '.join(offered)})"
    )
    return usual


def read_scorings(reader: Reader, usual: Sequence[str], most: int) -> tuple[str, ...]:
    """The parameter ``scorings``: names with commas between them, installed here or not."""
    given = reader.take("scorings")
    if given is None:
        return tuple(usual)
    if given == NOBODY:
        return ()
    names = dict.fromkeys(given.split(","))
    for name in names:
        if not NAME.match(name):
            reader.problem(f"scorings: {shown(name)} is not a scoring's name; it is left out")
    kept = [name for name in names if NAME.match(name)]
    if len(kept) > most:
        reader.problem(f"scorings: {len(kept)} of them; the first {most} are used")
    return tuple(kept[:most]) or tuple(usual)


def read_knobs(reader: Reader, key_of: KeyOf, knobs: Iterable[Knob]) -> Pairs:
    """Every knob's value, mended where need be; ``key_of`` turns its name into the link's key."""
    return pairs({knob.name: reader.knob(knob, key_of(knob.name)) for knob in knobs})


def write_knobs(link: dict[str, str], key_of: KeyOf, knobs: Iterable[Knob], values: Pairs) -> None:
    """Put every value into the link that is not at its knob's default."""
    chosen = dict(values)
    for knob in knobs:
        if chosen.get(knob.name, knob.default) != knob.default:
            link[key_of(knob.name)] = knob.write(chosen[knob.name])


def write_common(link: dict[str, str], knob: Knob, value: int, device: str) -> None:
    """Put one knob's value and the device into the link, unless they are at their defaults."""
    write_knobs(link, str, (knob,), ((knob.name, value),))
    if device != AUTO:
        link["device"] = device
