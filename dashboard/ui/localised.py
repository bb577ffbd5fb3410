"""What is installed, with its titles and helps in the visitor's language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock

from dashboard import language
from dashboard.language import translated
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.metric import Metric
from dashboard.records.parameter import Parameter

_KEPT = 4
Said = Callable[[str], str]
_made: dict[tuple[int, str], tuple[Catalogue, Catalogue]] = {}
_lock = Lock()


def localised(catalogue: Catalogue) -> Catalogue:
    """The catalogue with texts in the visitor's language, names and numbers as they are.

    The same catalogue and language give the same object, so that a page sees whether plugins
    were reloaded.
    """
    spoken = language.current()
    if spoken == language.ENGLISH:
        return catalogue
    key = id(catalogue), spoken
    with _lock:
        if key not in _made:
            for old in [*_made][: max(0, len(_made) - _KEPT + 1)]:
                del _made[old]
            _made[key] = (
                catalogue,
                _told(catalogue, catalogue.translations.get(spoken, {})),
            )  # holds the original, and so its id
        return _made[key][1]


def _told(catalogue: Catalogue, theirs: Mapping[str, str]) -> Catalogue:
    def said(text: str) -> str:
        own = translated(text)
        return theirs.get(text, text) if own == text else own

    return replace(
        catalogue,
        scorings=_entries(catalogue.scorings, said),
        normalisers=_entries(catalogue.normalisers, said),
        models=_entries(catalogue.models, said),
        datasets=_entries(catalogue.datasets, said),
        checkpoints={n: _checkpoint(each, said) for n, each in catalogue.checkpoints.items()},
        others={kind: _entries(entries, said) for kind, entries in catalogue.others.items()},
        kinds={kind: said(noun) for kind, noun in catalogue.kinds.items()},
        options={task: _parameters(own, said) for task, own in catalogue.options.items()},
        metrics={
            task: tuple(_metric(one, said) for one in own)
            for task, own in catalogue.metrics.items()
        },
    )


def _entries(entries: Mapping[str, Entry], said: Said) -> dict[str, Entry]:
    return {name: _entry(entry, said) for name, entry in entries.items()}


def _entry(entry: Entry, said: Said) -> Entry:
    return replace(
        entry, title=said(entry.title), description=said(entry.description),
        unit=said(entry.unit), parameters=_parameters(entry.parameters, said),
    )  # fmt: skip


def _checkpoint(checkpoint: Checkpoint, said: Said) -> Checkpoint:
    typed = _entry(checkpoint.typed, said) if checkpoint.typed else None
    return replace(checkpoint, title=said(checkpoint.title), typed=typed)


def _parameters(parameters: tuple[Parameter, ...], said: Said) -> tuple[Parameter, ...]:
    return tuple(parameter_told(one, said) for one in parameters)


def parameter_told(parameter: Parameter, said: Said = translated) -> Parameter:
    """A parameter with its texts in the visitor's language; its choices stay names.

    Args:
        said: translates a text.
    """
    return replace(
        parameter, title=said(parameter.title), unit=said(parameter.unit),
        help=said(parameter.help),
    )  # fmt: skip


def _metric(metric: Metric, said: Said) -> Metric:
    return replace(
        metric, title=said(metric.title), unit=said(metric.unit), help=said(metric.help)
    )  # fmt: skip
