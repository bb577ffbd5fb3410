"""Pages that set trained models side by side: what their views share, and the fields of it.

``b=transformer.scaled_dot`` names the checkpoint of panel b, see
:mod:`dashboard.links.fits`; ``b.map=2.3`` selects head 3 of layer 2 in it, and
``b.map=2.mean`` the mean of that layer's heads.

Panels are called a, b, c and d, and keep their letters, and so their colours, when another one is
removed. With ``panels=ac`` a link says that its panels keep the letters a and c; without it they
have the first letters, in order.

A card that says nothing, from before it could, is asked of the data set that it names.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import AUTO, LETTERS, Choice, Text, refused
from dashboard.links.fits import EXAMPLE, named, resolve, usual_corpus, usual_panels
from dashboard.links.link import Field, Reader
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.interventions import KINDS
from dashboard.records.text import shown

NEUTRAL = (gettext_noop("source"), gettext_noop("target"))
ENGLISH = "English"
SENTENCE = "i'm home ."  # where nothing is known of a corpus


def sides_of(catalogue: Catalogue, checkpoints: Iterable[Checkpoint]) -> tuple[str, str]:
    """What goes into these checkpoints and what comes out; neutral words where they differ."""
    found = set()
    for checkpoint in checkpoints:
        data = catalogue.datasets.get(checkpoint.corpus)
        found.add(checkpoint.sides or (data.sides if data else ()) or NEUTRAL)
    return found.pop() if len(found) == 1 else NEUTRAL


def one_kind(checkpoints: Iterable[Checkpoint]) -> str:
    """``"decoder"`` or ``"encoder"`` where all of these are one; else empty: some translate."""
    kinds = {checkpoint.kind for checkpoint in checkpoints}
    return kinds.pop() if len(kinds) == 1 and kinds <= {*KINDS} else ""


def sides_of_corpus(catalogue: Catalogue, corpus: str) -> tuple[str, str]:
    """What goes in and what comes out of the models that were trained on a corpus."""
    own = [entry for entry in catalogue.checkpoints.values() if entry.corpus == corpus]
    return sides_of(catalogue, own)


def examples_of(catalogue: Catalogue, corpus: str) -> tuple[str, ...]:
    """Sentences to start with, for models that were trained on a corpus."""
    for checkpoint in catalogue.usual(corpus):
        if checkpoint.examples:
            return checkpoint.examples
    data = catalogue.datasets.get(corpus)
    return data.examples if data else ()


def usual_sentence(catalogue: Catalogue, corpus: str) -> str:
    """The sentence of a bare address, for models that were trained on a corpus."""
    return next(iter(examples_of(catalogue, corpus)), SENTENCE)


def following(
    catalogue: Catalogue, before: str, corpus: str, text: str, target: str
) -> tuple[str, str]:
    """Sentence and target once models of another corpus than ``before`` are chosen.

    Both stay where these read and write the same; else the new ones' usual sentence replaces
    them, since no word of theirs would be known.
    """
    if sides_of_corpus(catalogue, before) == sides_of_corpus(catalogue, corpus):
        return text, target
    return usual_sentence(catalogue, corpus), ""


PANELS = "panels"  # in the link: which letters panels have

Panel = TypeVar("Panel")


@dataclass(frozen=True, kw_only=True)
class Lettered(Generic[Panel]):
    """What a page shows in panels; ``letters`` are theirs where these are not the first ones."""

    panels: tuple[Panel, ...]
    letters: str = ""

    @property
    def by_letter(self) -> dict[str, Panel]:
        """The panels by their letters, in order."""
        return dict(zip(self.letters or LETTERS, self.panels, strict=False))

    @property
    def free_letter(self) -> str:
        """The first letter that no panel has; empty where all are taken."""
        return next((letter for letter in LETTERS if letter not in self.by_letter), "")

    def with_panels(self, by_letter: Mapping[str, Panel]) -> Self:
        """The view with these panels in place of its own."""
        letters = "".join(sorted(by_letter))
        panels = tuple(by_letter[letter] for letter in letters)
        return replace(self, panels=panels, letters=_letters_text(letters))


@dataclass(frozen=True, kw_only=True)
class Letters(Field[Any, str]):
    """The letters that panels keep; comes after the panels."""

    name: str = "letters"

    def read(self, reader: Reader, view: Lettered[Any], catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(PANELS)
        if given is None:
            return ""
        named = "".join(letter for letter in LETTERS if reader.given(letter) is not None)
        if given != named:
            wanted = gettext("the letters of the panels in this link")
            refused(reader, PANELS, given, wanted, LETTERS[: len(view.panels)])
            return ""
        return _letters_text(self.kept(named, reader, view, catalogue))

    def kept(self, named: str, reader: Reader, view: Lettered[Any], catalogue: Catalogue) -> str:
        """The letters of the panels that were read, of those that the link names."""
        return named

    def write(self, view: Lettered[Any], catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {PANELS: view.letters} if view.letters else {}


def _letters_text(letters: str) -> str:
    return "" if LETTERS.startswith(letters) else letters


IS_MAP = re.compile(r"[1-9][0-9]?\.(mean|[1-9][0-9]?)\Z")


@dataclass(frozen=True, kw_only=True)
class Checkpoints(Lettered[str]):
    """What a page shows that sets checkpoints side by side.

    A panel is what it calls its checkpoint, see :func:`~dashboard.links.fits.reference`; its map
    is ``layer.head`` or ``layer.mean``, empty for the usual one. ``selected`` leaves out panels at
    the end that show the usual one.
    """

    selected: tuple[str, ...] = ()
    corpus: str = ""
    device: str = AUTO


@dataclass(frozen=True, kw_only=True)
class Reading(Checkpoints):
    """Checkpoints that read one sentence; all are forced to write ``target`` if there is one."""

    kind: str = KINDS[0]
    text: str = SENTENCE
    target: str = ""


Read = TypeVar("Read", bound=Reading)


def usual_reading(page: type[Read], catalogue: Catalogue) -> Read:
    """What a page of that kind shows at its bare address."""
    corpus = usual_corpus(catalogue)
    panels, text = usual_panels(catalogue, corpus), usual_sentence(catalogue, corpus)
    return page(panels=panels, corpus=corpus, text=text)


View = TypeVar("View", bound=Checkpoints)


def checkpoints_of(view: Checkpoints, catalogue: Catalogue) -> dict[str, Checkpoint]:
    """The checkpoints of the panels that have one here, by the panel's letter."""
    return {letter: checkpoint for letter, panel in view.by_letter.items()
            if (checkpoint := resolve(catalogue, view.corpus, panel))}  # fmt: skip


def selected_maps(view: Checkpoints) -> dict[str, str]:
    """The selected map of every panel, by its letter; empty for the usual one."""
    every = (*view.selected, *("" for _ in view.panels))
    return dict(zip(view.by_letter, every, strict=False))


def with_maps(view: View, selected: Iterable[str]) -> View:
    """The view with these selected maps of its panels, in the one way of writing them."""
    kept = list(selected)[: len(view.panels)]
    while kept and not kept[-1]:
        kept.pop()
    return replace(view, selected=tuple(kept))


def with_map(view: View, letter: str, selected: str) -> View:
    """The view with another selected map of one panel; empty for its usual one."""
    return with_maps(view, (selected_maps(view) | {letter: selected}).values())


def with_panels(view: View, by_letter: Mapping[str, str]) -> View:
    """The view with these panels in place of its own; each keeps the map of its letter."""
    maps, changed = selected_maps(view), view.with_panels(by_letter)
    return with_maps(changed, [maps.get(letter, "") for letter in changed.by_letter])


def without_panel(view: View, letter: str) -> View:
    """The view without one panel; the others keep their letters and maps."""
    panels = view.by_letter
    panels.pop(letter, None)
    return with_panels(view, panels)


def query(view: Reading) -> dict[str, str]:
    """The parameters by which other pages name the same checkpoints, sentence and maps."""
    link = {**view.by_letter, "corpus": view.corpus, "text": view.text, "kind": view.kind}
    if view.letters:
        link[PANELS] = view.letters
    if view.target:
        link["target"] = view.target
    return link | _written(view)


@dataclass(frozen=True, kw_only=True)
class PanelsField(Field[View, tuple[str, ...]]):
    """A checkpoint for each letter that the link names; ``default`` are those of a corpus.

    ``named`` is what a panel calls the checkpoint of a link, empty where that can be no name, as
    the ``example`` is one.
    """

    default: Callable[[Catalogue, str], tuple[str, ...]] = usual_panels
    named: Callable[[Catalogue, str, str], str] = named
    example: str = EXAMPLE

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> tuple[str, ...]:
        """See :meth:`Field.read`."""
        for letter in LETTERS:
            given = reader.take(letter)
            if given is not None and not self.named(catalogue, view.corpus, given):
                _ignored(reader, letter, given, gettext(self.example))
        return tuple(self.by_letter(reader, view, catalogue).values())

    def by_letter(self, reader: Reader, view: View, catalogue: Catalogue) -> dict[str, str]:
        """The panels in the order in which they stand, by their letters in the link."""
        given = {letter: self.named(catalogue, view.corpus, reader.given(letter) or "")
                 for letter in LETTERS if reader.given(letter) is not None}  # fmt: skip
        if not any(given.values()):
            given |= dict(zip(LETTERS, self.default(catalogue, view.corpus), strict=False))
        return {letter: panel for letter, panel in given.items() if panel}

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        if not view.letters and self.of(view) == self.default(catalogue, view.corpus):
            return {}
        return view.by_letter


@dataclass(frozen=True, kw_only=True)
class CheckpointLetters(Letters):
    """The letters that panels keep which name a checkpoint; comes after the panels."""

    panels: PanelsField[Any]

    def kept(self, named: str, reader: Reader, view: Lettered[Any], catalogue: Catalogue) -> str:
        """See :meth:`Letters.kept`."""
        return "".join(self.panels.by_letter(reader, view, catalogue))


@dataclass(frozen=True, kw_only=True)
class SelectedField(Field[View, tuple[str, ...]]):
    """The selected map of each panel; comes after the panels."""

    panels: PanelsField[View]

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> tuple[str, ...]:
        """See :meth:`Field.read`."""
        letters = self.panels.by_letter(reader, view, catalogue)
        usual = self.everywhere(reader)
        return with_maps(
            view, [read_map(reader, f"{letter}.map", usual) for letter in letters]
        ).selected

    def everywhere(self, reader: Reader) -> str:
        """The map of panels for which the link names none; empty for their usual one."""
        return ""

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return _written(view)


def corpus(
    default: Callable[[Catalogue], str] = usual_corpus, *, title: str = gettext_noop("Trained on")
) -> Choice[Any]:
    """The field ``corpus``: what the checkpoints were trained on; comes before the panels."""
    return Choice(
        name="corpus", title=title, options=lambda _, catalogue: catalogue.corpora(),
        default=lambda _, catalogue: default(catalogue),
    )  # fmt: skip


def text(placeholder: str) -> Text[Any]:
    """The field ``text``: the sentence that all models read."""
    return Text(
        name="text", title="Source", placeholder=placeholder,
        default=lambda view, catalogue: usual_sentence(catalogue, view.corpus),
    )  # fmt: skip


def kind(kinds: tuple[str, ...] = KINDS) -> Choice[Any]:
    """The field ``kind``: of the attention that is shown."""
    return Choice(name="kind", title="Kind of attention", options=lambda _view, _catalogue: kinds)


def read_map(reader: Reader, key: str, usual: str = "") -> str:
    """The selected map that a parameter of the link names; ``usual`` where it names none."""
    given = reader.take(key)
    if given is None or IS_MAP.match(given):
        return given or usual
    _ignored(reader, key, given, gettext("a layer and a head such as 2.3 or 2.mean"))
    return usual


def _ignored(reader: Reader, key: str, given: str, wanted: str) -> None:
    said = {"key": key, "given": shown(given), "wanted": wanted}
    reader.problem(gettext("{key}={given}: need {wanted}; ignored", **said))


def _written(view: Checkpoints) -> dict[str, str]:
    return {f"{letter}.map": name for letter, name in selected_maps(view).items() if name}
