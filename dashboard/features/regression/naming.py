"""What panels are called: told apart by what differs, and with the values that they learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dashboard.language import gettext, listed, ngettext, together
from dashboard.links.attending import parameters_of
from dashboard.links.fits import MODEL, Fit, fit_parameters, fitting_parameters
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Pairs, Scalar
from dashboard.ui.layout import attending_title, model_title, number_words, setting_words

Facts = Mapping[str, Any]
_OF_NORMALISER = "normaliser "  # as `learned_values` of attention_plugins.fitting begins them


class _Setting(NamedTuple):
    """A setting of a panel in words, and whether a caption may leave it out."""

    words: str
    usual: bool


def panel_titles(
    fits: Mapping[str, Fit], facts: Mapping[str, Facts], catalogue: Catalogue
) -> dict[str, str]:
    """The shortest title of each panel that no other one has, unless panels are equal.

    Args:
        fits: by the panel's letter.
        facts: of the results that there are, by letter.
    """
    titles = {
        letter: _title(fit, facts.get(letter, {}), catalogue) for letter, fit in fits.items()
    }
    for title in dict.fromkeys(titles.values()):
        alike = {letter: fits[letter] for letter, own in titles.items() if own == title}
        held = {letter: _settings(fit, catalogue) for letter, fit in alike.items()}
        names = _telling(held.values())
        for letter, settings in held.items():
            words = [settings[name].words for name in names if name in settings]
            titles[letter] = listed([title, *words])
    return titles


def panel_description(
    letter: str, fits: Mapping[str, Fit], facts: Facts, catalogue: Catalogue
) -> str:
    """A panel in a figure's caption: its scoring, unusual settings, what it learned.

    Args:
        fits: of all panels, by letter; what differs from one with the same scoring is said too.
        facts: of the panel's result.
    """
    fit = fits[letter]
    others = [other for other in fits.values() if other.scoring == fit.scoring]
    held = [_settings(other, catalogue) for other in others]
    settings = _settings(fit, catalogue, started=False)
    words = [
        setting.words
        for name, setting in settings.items()
        if not setting.usual or any(setting != other.get(name, setting) for other in held)
    ]
    if fit.learn:
        values = [*_with_starts(fit, facts, catalogue)]
        words += [gettext("learned {values}", values=listed(values))] * bool(values)
        if count := _weights(facts, values):
            words.append(ngettext("{count:,} learned weight", "{count:,} learned weights", count))
    return listed([attending_title(fit, catalogue), *words])


def learned_sentence(fit: Fit, facts: Facts, catalogue: Catalogue) -> str:
    """What a panel learned, and from where each parameter started; empty if it has nothing."""
    if not fit.learn:
        return ""
    values = [*_with_starts(fit, facts, catalogue)]
    sentences = [gettext("Learned {values}.", values=listed(values))] * bool(values)
    if count := _weights(facts, values):
        sentences.append(
            ngettext("{count:,} weight was learned.", "{count:,} weights were learned.", count)
        )
    return together(sentences)


def learned_values(fit: Fit, facts: Facts, catalogue: Catalogue) -> str:
    """The learned parameters with their values, such as ``σ = 0.31``; empty if there are none."""
    found = _learned(fit, facts, catalogue)
    return listed(setting_words(parameter, value) for parameter, value, _ in found)


def _title(fit: Fit, facts: Facts, catalogue: Catalogue) -> str:
    words = attending_title(fit, catalogue)
    if not fit.learn:
        return words
    if len(facts.get("learned", {})) == 1:
        values = learned_values(fit, facts, catalogue)
        return listed([words, gettext("learned {values}", values=values)])
    return gettext("{name}, learned", name=words)


def _weights(facts: Facts, values: Sequence[str]) -> int:
    """How many weights were learned; 0 where ``values`` say all of them."""
    count = facts.get("parameters", 0)
    return count if count > len(values) else 0


def _telling(held: Iterable[Mapping[str, _Setting]]) -> list[str]:
    """The first settings that tell as many of these apart as all of them do."""
    rows = [*held]
    chosen: list[str] = []
    for name in dict.fromkeys(name for row in rows for name in row):
        before = {tuple(row.get(own) for own in chosen) for row in rows}
        after = {tuple(row.get(own) for own in (*chosen, name)) for row in rows}
        if len(after) > len(before):
            chosen.append(name)
    return chosen


def _settings(fit: Fit, catalogue: Catalogue, *, started: bool = True) -> dict[str, _Setting]:
    """Everything that is set of a panel, by a name of its own.

    Args:
        started: whether the values are among these from which learned parameters start.
    """
    model = _Setting(model_title(fit.model, catalogue), usual=fit.model == MODEL)
    found = {"model ": model}  # no parameter's name holds a space
    own = _of(fit_parameters(catalogue, fit), fit.parameters)
    of_normaliser = _of(parameters_of(catalogue, fit.normaliser), fit.normaliser_parameters)
    for kind, held in (("", own), (_OF_NORMALISER, of_normaliser)):
        for spec, value in held:
            words = setting_words(spec, value)
            if fit.learn and spec.learnable:
                if not started:
                    continue
                words = gettext("from {value}", value=words)
            found[kind + spec.name] = _Setting(words, value == spec.default and not spec.learnable)
    if fit.learn:
        for spec, value in _of(fitting_parameters(catalogue), fit.fitting):
            found[f"fitting {spec.name}"] = _Setting(
                setting_words(spec, value), value == spec.default
            )
    return found


def _of(specs: Iterable[Parameter], values: Pairs) -> Iterator[tuple[Parameter, Scalar]]:
    held = dict(values)
    for spec in specs:
        yield spec, held.get(spec.name, spec.default)


def _learned(
    fit: Fit, facts: Facts, catalogue: Catalogue
) -> Iterator[tuple[Parameter, float, Scalar]]:
    """Yield each learned parameter, its value, and where it started."""
    known: dict[str, tuple[Parameter, Scalar]] = {
        spec.name: (spec, value)
        for spec, value in _of(fit_parameters(catalogue, fit), fit.parameters)
    }
    of_normaliser = parameters_of(catalogue, fit.normaliser)
    known |= {f"{_OF_NORMALISER}{spec.name}": (spec, value)
              for spec, value in _of(of_normaliser, fit.normaliser_parameters)}  # fmt: skip
    for name, value in facts.get("learned", {}).items():
        if name in known:
            spec, start = known[name]
            yield spec, value, start


def _with_starts(fit: Fit, facts: Facts, catalogue: Catalogue) -> Iterator[str]:
    for spec, value, start in _learned(fit, facts, catalogue):
        yield gettext(
            "{value} (from {start})", value=setting_words(spec, value), start=number_words(start)
        )
