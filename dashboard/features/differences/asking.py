"""What workers are asked for: the target's words, every panel's maps, and then the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from dashboard.features.differences.pair import Pair, Side, misfits, pair_of, side_of
from dashboard.features.differences.view import Differences
from dashboard.links.fits import translation_request
from dashboard.links.panels import checkpoints_of, selected_maps
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.records.text import one_line
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import checkpoint_title


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The target, and who is asked to write it.

    Args:
        target: the words; empty while nobody has said any.
        speaker: the panel whose own words the target is, or will be; empty where the reader
            gave the target.
        words: the requests for the words of panels that were asked to speak, the speaker's last.
        forced: every panel's request for the target, by its letter.
    """

    target: str
    speaker: str = ""
    words: tuple[Request, ...] = ()
    forced: Mapping[str, Request] = field(default_factory=dict)


class Compared(NamedTuple):
    """What the panels' maps allow.

    Args:
        sides: those that can be laid over each other.
        misfits: by letter, why others cannot.
        pair: the two of which the difference is shown; None where they are not there.
        waiting: the panels whose maps are still on their way.
    """

    sides: list[Side]
    misfits: Mapping[str, str]
    pair: Pair | None
    waiting: list[str]


def asked(view: Differences, catalogue: Catalogue, jobs: Jobs) -> Asked:
    """What the panels are asked, as far as it is known.

    Where the reader gave no target the first panel speaks; if it fails, the next one.
    """
    here = checkpoints_of(view, catalogue) if view.text else {}
    target, speaker = view.target, ""
    words: list[Request] = []
    for letter, checkpoint in here.items() if not target else ():
        speaker = letter
        words.append(translation_request(checkpoint, text=view.text, device=view.device))
        event = jobs.final(words[-1])
        if event is None or event.result:
            target = one_line(event.result.facts["translation"]) if event and event.result else ""
            break
    forced = {
        letter: translation_request(
            checkpoint, text=view.text, target=target, device=view.device
        )
        for letter, checkpoint in here.items()
        if target
    }  # fmt: skip
    return Asked(target=target, speaker=speaker, words=tuple(words), forced=forced)


def compared(view: Differences, catalogue: Catalogue, what: Asked, jobs: Jobs) -> Compared:
    """What the panels' maps allow, as far as they are there."""
    here, selected = checkpoints_of(view, catalogue), selected_maps(view)
    sides: list[Side] = []
    waiting: list[str] = []
    for letter, request in what.forced.items():
        event = jobs.final(request)
        if event is None:
            waiting.append(letter)
        elif event.result:
            checkpoint = here[letter]
            side = side_of(
                letter, checkpoint.name,
                checkpoint_title(view.by_letter[letter], checkpoint, catalogue),
                event.result, view.kind, selected[letter],
            )  # fmt: skip
            sides += [side] if side else []
    wrong = misfits(sides)
    fitting = [side for side in sides if side.letter not in wrong]
    return Compared(fitting, wrong, pair_of(view, fitting, waiting), waiting)


def follow_ups(view: Differences, catalogue: Catalogue, jobs: Jobs) -> Iterator[Request]:
    """Every request of the page: each needs what those before it have found."""
    what = asked(view, catalogue, jobs)
    yield from what.words
    yield from what.forced.values()
    if pair := compared(view, catalogue, what, jobs).pair:
        yield pair.request(view, what.target)
