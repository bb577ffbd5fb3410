"""Two panels whose maps are compared, and what a worker says of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dashboard.charts import MapFrame, map_names, usual_map
from dashboard.charts.frames import any_signed, masked_rows
from dashboard.charts.template import Prepared
from dashboard.features.differences.chart_linked import LinkedShape, Tile, prepare_linked
from dashboard.features.differences.view import TASK, Differences
from dashboard.features.differences.words import folded, labels_of, texts_of
from dashboard.language import gettext
from dashboard.links.fits import translation_request
from dashboard.links.panels import checkpoints_of, selected_maps
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.records.text import one_line
from dashboard.ui import maps
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import checkpoint_title

_SAID = beside(__file__, "words.toml")["pair"]

MEAN = "mean"
_MISFITS = beside(__file__, "words.toml")["misfits"]
_WRITTEN = ("cross", "decoder")  # kinds whose rows are the words being written


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One panel's maps of the kind that is shown, and which of them is ``selected``.

    ``digest`` is of the result that the maps are from, one per layer. ``likely`` has the
    probability of each row's word; it is empty where rows are no written words. ``texts`` are
    those of rows and columns; maps ``of_words`` are folded from those of tokens.
    """

    letter: str
    checkpoint: str
    title: str
    digest: str
    frames: tuple[MapFrame, ...]
    selected: str
    likely: tuple[float, ...]
    texts: tuple[str, str] = ("", "")
    of_words: bool = False

    def by_words(self) -> "Side":
        """The same with rows and columns that are words, whatever the model's tokens are."""
        queries, keys = map(labels_of, self.texts)
        frames = []
        for frame in self.frames:
            weights = folded(frame.weights, self.texts, frame.query_labels, frame.key_labels)
            if frame.kind == "decoder":
                weights[:, np.triu(np.ones(weights.shape[1:], bool), 1)] = np.nan
            frames.append(
                replace(frame, weights=weights.astype(np.float32), query_labels=queries,
                        key_labels=keys)
            )  # fmt: skip
        return replace(self, frames=tuple(frames), likely=(), of_words=True)

    @property
    def key(self) -> str:
        """A name for its maps as they are drawn, whichever is selected."""
        words = " words" if self.of_words else ""
        return f"{self.letter} {self.digest} {self.frames[0].kind} {self.title}{words}"

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of queries and of keys."""
        return self.frames[0].query_labels, self.frames[0].key_labels

    @property
    def weights(self) -> np.ndarray:
        """The selected map, ``(queries, keys)``, as it is drawn: NaN where masked."""
        layer, _, head = self.selected.partition(".")
        (heads,) = [frame.weights for frame in self.frames if frame.layer == int(layer) - 1]
        values = heads.astype(np.float64)
        return masked_rows(values.mean(axis=0) if head == MEAN else values[int(head) - 1])

    @property
    def heads(self) -> int:
        """Of all layers together."""
        return sum(len(frame.weights) for frame in self.frames)

    def tile(self) -> Tile:
        """As the linked chart takes it; a row's note says how likely its word is."""
        notes = [gettext("probability {p:.2f}", p=p) for p in self.likely]
        return Tile(
            letter=self.letter, title=self.title, weights=self.weights, notes=notes,
            subtitle=map_title(self.frames, self.selected),
        )  # fmt: skip


def map_title(frames: Sequence[MapFrame], name: str) -> str:
    """``2.3`` as ``layer 2 · head 3``."""
    layer, _, head = name.partition(".")
    (count,) = {len(frame.weights) for frame in frames if frame.layer == int(layer) - 1}
    if count == 1:
        return gettext("layer {layer} · one head", layer=layer)
    if head == MEAN:
        return gettext("layer {layer} · mean of {count} heads", layer=layer, count=count)
    return gettext("layer {layer} · head {head}", layer=layer, head=head)


def misfits(sides: Sequence[Side]) -> dict[str, str]:
    """By letter, why a side cannot be laid over the first one; the others can."""
    found: dict[str, str] = {}
    for side in sides[1:]:
        for text, own, first in zip(_MISFITS.values(), side.labels, sides[0].labels, strict=True):
            if own != first:
                found[side.letter] = gettext(
                    text, panel=sides[0].letter, own=len(own), first=len(first)
                )
                break
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two sides whose maps have the same axes; the difference is ``one - other``."""

    one: Side
    other: Side

    @property
    def name(self) -> str:
        """``a − b``."""
        return f"{self.one.letter} − {self.other.letter}"

    def request(self, view: Differences, target: str) -> Request:
        """What a worker must compare, where both models write the words of ``target``."""
        options = {
            "other": self.other.checkpoint, "text": view.text, "target": target, "kind": view.kind,
            "map": self.one.selected, "other_map": self.other.selected,
            **({"words": "yes"} if self.one.of_words else {}),
        }  # fmt: skip
        return Request.make(TASK, data=self.one.checkpoint, options=options, device=view.device)

    def tile(self, result: Result) -> Tile:
        """The difference as the linked chart takes it."""
        queries, keys = self.one.labels
        bits, difference = (
            result.tables[table][column].to_numpy(zero_copy_only=False)
            for table, column in (
                ("divergence", "jensen_shannon_bits"), ("differences", "difference"),
            )
        )  # fmt: skip
        return Tile(
            letter=self.name, title=gettext("difference"), bars=bits,
            weights=difference.reshape(len(queries), len(keys)),
            subtitle=gettext(
                "blue: {one} looks more, orange: {other}",
                one=self.one.letter, other=self.other.letter,
            ),
            notes=[gettext("Jensen–Shannon {bits:.2f} bit", bits=bit) for bit in bits],
        )  # fmt: skip

    def tables(self, result: Result) -> dict[str, pa.Table]:
        """The tables of the comparison, with the letters of the panels in them."""
        renamed = {
            "weight_one": f"weight_{self.one.letter}",
            "weight_other": f"weight_{self.other.letter}",
        }
        cells, divergence = result.tables["differences"], result.tables["divergence"]
        names = [renamed.get(name, name) for name in cells.column_names]
        return {"differences": cells.rename_columns(names), "divergence": divergence}

    def verdict(self, result: Result) -> str:
        """Where the two differ most, and how much on the whole, in a sentence."""
        most, mean = result.facts["most_different"], result.facts["mean_divergence"]
        if most is None:
            signed = any_signed((*self.one.frames, *self.other.frames))
            return gettext(maps.SIGNED) if signed else ""
        queries = self.one.labels[0]
        bits = result.tables["divergence"]["jensen_shannon_bits"][most].as_py()
        return gettext(
            _SAID["differ_most"], one=self.one.letter, other=self.other.letter,
            word=queries[most], bits=bits, count=len(queries), mean=mean,
        )  # fmt: skip


def pair_of(view: Differences, sides: Sequence[Side], waiting: Sequence[str]) -> Pair | None:
    """The pair that the view asks for, or the first two panels; None where it is not there.

    Those of ``waiting`` have maps that are still on their way.
    """
    by_letter = {side.letter: side for side in sides}
    letters = view.pair.split("-") if view.pair else sorted([*by_letter, *waiting])[:2]
    if len(letters) < 2 or not by_letter.keys() >= {*letters}:
        return None
    return Pair(one=by_letter[letters[0]], other=by_letter[letters[1]])


def prepare_sides(
    sides: Sequence[Side], pair: Pair | None, result: Result | None
) -> Prepared[LinkedShape]:
    """The maps of the sides, if any, and the difference of the pair once there is one.

    Raises ValueError for more cells than are drawn.
    """
    tiles, start = [side.tile() for side in sides], 0
    labels = sides[0].labels if sides else ()
    if pair and result:
        tiles.append(pair.tile(result))
        labels, start = pair.one.labels, result.facts["most_different"] or 0
    return prepare_linked(tiles, *labels, start=start)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The target, empty while nobody has said any, and who is asked to write it.

    The target is or will be in the words of the panel ``speaker``, unless the reader gave it.
    ``words`` are the requests to those who were asked to speak, the speaker's last; ``forced`` is
    every panel's request for the target.
    """

    target: str
    speaker: str = ""
    words: tuple[Request, ...] = ()
    forced: Mapping[str, Request] = field(default_factory=dict)


class Compared(NamedTuple):
    """The ``sides`` that can be laid over each other, the pair of them that is compared, if it is
    there; by letter, why others cannot; and the panels whose maps are still on their way."""

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
        letter: translation_request(checkpoint, text=view.text, target=target, device=view.device)
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
        elif event.result and (frames := maps.maps_of(event.result, view.kind)):
            written = view.kind in _WRITTEN
            likely = event.result.tables["tokens"]["probability"].to_pylist() if written else []
            wanted, checkpoint = selected[letter], here[letter]
            side = Side(
                letter=letter, checkpoint=checkpoint.name, digest=event.result.digest,
                title=checkpoint_title(view.by_letter[letter], checkpoint, catalogue),
                frames=tuple(frames),
                selected=wanted if wanted in map_names(frames) else usual_map(frames),
                likely=tuple(likely) if len(likely) == len(frames[0].query_labels) else (),
                texts=texts_of(checkpoint.card.get("kind", ""), view.kind, view.text, what.target),
            )  # fmt: skip
            sides.append(side)
    wrong = misfits(sides)
    if wrong and len({side.texts for side in sides}) == 1:
        sides = [side.by_words() for side in sides]
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
