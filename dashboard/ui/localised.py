"""What is installed, with its titles and helps in the visitor's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from threading import Lock

from dashboard import language
from dashboard.language import translated
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.metric import Metric
from dashboard.records.parameter import Parameter

_KEPT = 4
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
            _made[key] = catalogue, _told(catalogue)  # holds the original, and so its id
        return _made[key][1]


def _told(catalogue: Catalogue) -> Catalogue:
    return replace(
        catalogue,
        scorings=_entries(catalogue.scorings),
        normalisers=_entries(catalogue.normalisers),
        models=_entries(catalogue.models),
        datasets=_entries(catalogue.datasets),
        checkpoints={name: _checkpoint(each) for name, each in catalogue.checkpoints.items()},
        others={kind: _entries(entries) for kind, entries in catalogue.others.items()},
        kinds={kind: translated(noun) for kind, noun in catalogue.kinds.items()},
        options={task: _parameters(own) for task, own in catalogue.options.items()},
        metrics={task: tuple(map(_metric, own)) for task, own in catalogue.metrics.items()},
    )


def _entries(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    return {name: _entry(entry) for name, entry in entries.items()}


def _entry(entry: Entry) -> Entry:
    return replace(
        entry, title=translated(entry.title), description=translated(entry.description),
        unit=translated(entry.unit), parameters=_parameters(entry.parameters),
    )  # fmt: skip


def _checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    typed = _entry(checkpoint.typed) if checkpoint.typed else None
    return replace(checkpoint, title=translated(checkpoint.title), typed=typed)


def _parameters(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    return tuple(map(parameter_told, parameters))


def parameter_told(parameter: Parameter) -> Parameter:
    """A parameter with its texts in the visitor's language; its choices stay names."""
    return replace(
        parameter, title=translated(parameter.title), unit=translated(parameter.unit),
        help=translated(parameter.help),
    )  # fmt: skip


def _metric(metric: Metric) -> Metric:
    return replace(
        metric, title=translated(metric.title), unit=translated(metric.unit),
        help=translated(metric.help),
    )  # fmt: skip
