"""Scorings and normalisers in links: by name, installed here or not, or as a typed formula.

``?normaliser=entmax&normaliser.alpha=1.5``; of a panel ``a.normaliser=entmax``. The softmax, which
is the usual one, is left out. A scoring may make its weights in its own way; it takes no other.

``?scoring==dot(q, k) / sqrt(d)`` and ``?scorings=additive,=max(abs(q - k)),gaussian``. Commas
between names stand outside the brackets of formulas.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.language import gettext, gettext_noop, translated
from dashboard.links.fields import MOST_SCORINGS, NAME, NOBODY, Choice, ForeignSettings, refused
from dashboard.links.link import Field, Query, Reader, View
from dashboard.records.attending import NORMALISER, OF_NORMALISER, SOFTMAX, Attending, Normalised
from dashboard.records.beside import beside
from dashboard.records.catalogue import LONGEST_FORMULA, Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import FORMULA, is_formula
from dashboard.records.text import not_installed, shown

_SAID = beside(__file__, "words.toml")["attending"]
_DIGITS = 8  # hexadecimal, of a formula's short name


def resolved(scoring: str, catalogue: Catalogue) -> tuple[str, str]:
    """A formula of a link, with ``=``, by its one spelling, and a phrase on what is wrong with it.

    The phrase is empty where nothing is wrong, or where no worker has read the formula.
    """
    length = len(scoring) - len(FORMULA)
    if length > LONGEST_FORMULA:
        return scoring, gettext(_SAID["formula_length"], length=length, most=LONGEST_FORMULA)
    known = catalogue.formulas.get(scoring.removeprefix(FORMULA))
    if known is None or not known.problem:
        return known.entry.name if known and known.entry else scoring, ""
    place, sentence = known.problem.start + 1, translated(known.problem.sentence)
    if not known.problem.suggestion:
        return scoring, gettext("character {place}: {sentence}", place=place, sentence=sentence)
    return scoring, gettext(
        "character {place}: {sentence}; did you mean {suggestion}",
        place=place, sentence=sentence, suggestion=shown(known.problem.suggestion),
    )  # fmt: skip


def short_name(scoring: str) -> str:
    """A scoring's name where a formula has no place, as in keys: ``formula_1a2b3c4d``."""
    if not is_formula(scoring):
        return scoring
    return f"formula_{hashlib.sha256(scoring.encode()).hexdigest()[:_DIGITS]}"


def split(given: str) -> list[str]:
    """The names in a list with commas between them; those in brackets are a formula's own."""
    names, depth = [""], 0
    for sign in given:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += sign
    return names


def formulas_among(scorings: Iterable[str]) -> Iterator[str]:
    """The formulas among these scorings, without ``=`` in front."""
    for scoring in scorings:
        if is_formula(scoring):
            yield scoring.removeprefix(FORMULA)


def given(query: Query, key: str) -> str:
    """What a link says under a key; empty where it says nothing."""
    found = query.get(key) or ""
    return found if isinstance(found, str) else found[-1]


@dataclass(frozen=True, kw_only=True)
class ScoringChoice(Choice[View]):
    """One scoring, which may be a formula."""

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        key = self.key or self.name
        asked = reader.given(key) or ""
        if not is_formula(asked):
            return super().read(reader, view, catalogue)
        reader.take(key)
        name, wrong = resolved(asked, catalogue)
        if not wrong:
            return name
        usual = self.usual(view, catalogue)
        reader.problem(
            gettext(_SAID["wrong"], key=key, given=shown(asked), wrong=wrong, usual=usual)
        )
        return usual


@dataclass(frozen=True, kw_only=True)
class Names(Field[View, tuple[str, ...]]):
    """Up to ``most`` scorings with commas between them, installed here or not; also formulas."""

    default: Callable[[Catalogue], tuple[str, ...]]
    most: int = MOST_SCORINGS

    def read(self, reader: Reader, view: View, catalogue: Catalogue) -> tuple[str, ...]:
        """See :meth:`Field.read`."""
        given = reader.take(self.name)
        usual = self.default(catalogue)
        if given is None or given == NOBODY:
            return usual if given is None else ()
        found = (self._name(reader, each, catalogue) for each in dict.fromkeys(split(given)))
        names = [*dict.fromkeys(name for name in found if name)]
        if len(names) > self.most:
            how = {"count": len(names), "most": self.most}
            reader.problem(gettext(_SAID["too_many"], key=self.name, **how))
        return tuple(names[: self.most]) or usual

    def write(self, view: View, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        names = self.of(view)
        return {} if names == self.default(catalogue) else {self.name: ",".join(names) or NOBODY}

    def _name(self, reader: Reader, given: str, catalogue: Catalogue) -> str:
        """One of the names; empty where it is left out."""
        if is_formula(given):
            name, wrong = resolved(given, catalogue)
            if not wrong:
                return name
            problem = gettext(_SAID["left_out"], key=self.name, given=shown(given), wrong=wrong)
        elif NAME.match(given):
            return given
        else:
            problem = gettext(_SAID["no_name"], key=self.name, given=shown(given))
        reader.problem(problem)
        return ""


TITLE = gettext_noop("Normaliser")
HELP = gettext_noop("What makes weights of scores.")


@dataclass(frozen=True, kw_only=True)
class NormaliserName(Choice[Any]):
    """The name of a normaliser, installed here or not; the softmax where there is no choice."""

    def read(self, reader: Reader, view: Normalised, catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        chosen = super().read(reader, view, catalogue)
        if chosen != SOFTMAX and isinstance(view, Attending) and brings_own(view, catalogue):
            wanted = gettext(_SAID["no_normaliser"], scoring=shown(view.scoring))
            refused(reader, self.key or self.name, chosen, wanted, gettext("none"))
            reader.below(f"{self.key or self.name}.")
            return SOFTMAX
        return chosen


def normaliser_fields(prefix: str = "") -> tuple[Field[Any, Any], Field[Any, Any]]:
    """The fields ``normaliser`` and ``normaliser_parameters`` of a view; they follow its scoring.

    ``prefix`` begins their keys in the link, such as ``a.`` of a panel.
    """
    name = NormaliserName(
        name="normaliser", key=prefix + NORMALISER, title=TITLE, help=HELP,
        options=lambda _, catalogue: normalisers(catalogue), default=lambda *_: SOFTMAX,
        unknown=NAME,
    )  # fmt: skip
    parameters: ForeignSettings[Any] = ForeignSettings(
        name="normaliser_parameters",
        parameters=lambda view, catalogue: parameters_of(catalogue, view.normaliser),
        owner=lambda view: f"normaliser-{view.normaliser}",
        key_of=lambda name: f"{prefix}{OF_NORMALISER}{name}",
        installed=lambda view, catalogue: not absent_normaliser(view, catalogue),
    )
    return name, parameters


def normalisers(catalogue: Catalogue) -> tuple[str, ...]:
    """The names of all normalisers, the usual one first."""
    return tuple(dict.fromkeys((SOFTMAX, *catalogue.normalisers)))


def parameters_of(catalogue: Catalogue, normaliser: str) -> tuple[Parameter, ...]:
    """The parameters of a normaliser; none of one that is not installed."""
    entry = catalogue.normalisers.get(normaliser)
    return entry.parameters if entry else ()


def brings_own(view: Attending, catalogue: Catalogue) -> bool:
    """Whether the scoring makes its weights in its own way."""
    entry = catalogue.scorings.get(view.scoring)
    return bool(entry and entry.own_normaliser)


def learns(view: Attending, catalogue: Catalogue) -> bool:
    """Whether there is anything to learn in the scoring or in the normaliser."""
    scoring = catalogue.scorings.get(view.scoring)
    normaliser = catalogue.normalisers.get(view.normaliser)
    return bool((scoring and scoring.learns) or (normaliser and normaliser.learns))


def absent_normaliser(view: Normalised, catalogue: Catalogue) -> str:
    """That the normaliser is not installed here, in a sentence; empty if it is."""
    if view.normaliser in normalisers(catalogue):
        return ""
    return not_installed(TITLE, view.normaliser)
