"""Tasks in which tokens go in, and labels are asked for at some places.

Their sizes, budgets, floors and published figures stand in ``tasks.toml``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from attention_plugins.beside import beside
from attention_plugins.race.field import mad
from attention_plugins.race.records import Budget

IGNORED = mad.IGNORED


class Labelled(NamedTuple):
    """Sequences ``inputs (n, T)``, and what is asked for at ``places (n, k)`` of them.

    ``labels (n, k)`` are ids, and :data:`IGNORED` where a row has fewer than ``k``.
    """

    inputs: Tensor
    places: Tensor
    labels: Tensor

    def to(self, device: torch.device | str) -> "Labelled":
        """The same on a device."""
        return Labelled(*(part.to(device) for part in self))

    def rows(self, chosen: Tensor | slice) -> "Labelled":
        """Some of the sequences."""
        return Labelled(*(part[chosen] for part in self))


@dataclass(frozen=True, kw_only=True)
class FieldTask:
    """A task as its authors have it.

    Args:
        draw: the name of its generator in :data:`DRAWS`; ``settings`` are its arguments.
        family: of the models that learn it, the first part of their names in :data:`MODELS`.
        reported: test sequences. Rates are chosen by them, as the authors choose.
        solved: the accuracy above which a training stops; None: never.
        flat: a training stops where for so many epochs neither the accuracy rose by 0.01 nor the
            loss fell by 1 %.
        macro: whether accuracy is the mean over labels of the share found of each.
        floors: accuracies without learning what the task is about, by names in :data:`FLOORS`.
        ceiling: what nobody can surpass.
        published: rows with ``mechanism``, ``accuracy`` and ``source``, and of what is here its
            ``scoring``; ``form`` says how, by a name in ``words.toml``.
    """

    name: str
    title: str
    draw: str
    vocabulary: int
    length: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    family: str
    budget: Budget
    reported: int
    decay: float
    last_rate: float = 0.0
    solved: float | None = None
    flat: int
    macro: bool = False
    floors: Mapping[str, float]
    ceiling: float = 1.0
    published: Sequence[Mapping[str, Any]] = ()

    def drawn(self, count: int, seed: int, *, learned: bool) -> Labelled:
        """So many sequences; those ``learned`` and those tested are draws of their own."""
        generator = torch.Generator().manual_seed(2 * seed + learned)
        inputs, labels = DRAWS[self.draw](self, count, generator, learned)
        asked = labels != IGNORED
        most = int(asked.sum(dim=1).max())
        places = asked.byte().argsort(dim=1, descending=True, stable=True)[:, :most]
        return Labelled(inputs.int(), places, labels.gather(1, places))


Draw = Callable[[FieldTask, int, Generator, bool], mad.Drawn]


def mqar(task: FieldTask, count: int, generator: Generator, learned: bool) -> mad.Drawn:
    """Multi-query associative recall: inputs and labels ``(count, T)``.

    Pairs of a key and a value come first; later each key comes once more, and its value is asked
    for there. The gaps, in steps of two tokens, follow a power law.

    Arora et al. 2024, Zoology: measuring and improving recall in efficient language models, as its
    authors' ``multiquery_ar`` draws it.
    """
    pairs, half = int(task.settings["pairs"]), task.vocabulary // 2
    context = 2 * pairs
    keys = _distinct(count, pairs, (1, half), generator)
    values = _distinct(count, pairs, (half, task.vocabulary), generator)
    gaps = torch.arange(1, (task.length - context) // 2 + 1, dtype=torch.float64)
    odds = (gaps ** (task.settings["power"] - 1.0)).expand(count, -1)
    places = context + 2 * torch.multinomial(odds, pairs, generator=generator)
    inputs = torch.zeros(count, task.length, dtype=torch.long)
    inputs[:, 0:context:2], inputs[:, 1:context:2] = keys, values
    inputs.scatter_(1, places, keys)
    if task.settings["random_non_queries"]:
        noise = torch.randint(task.vocabulary, inputs.shape, generator=generator)
        inputs = torch.where(inputs == 0, noise, inputs)
    return inputs, torch.full_like(inputs, IGNORED).scatter_(1, places, values)


def _distinct(rows: int, count: int, ends: tuple[int, int], generator: Generator) -> Tensor:
    """``(rows, count)`` ids, no two of a row alike, every order of them equally likely."""
    drawn = torch.randint(*ends, (rows, count), generator=generator)
    while len(again := _with_twins(drawn)):
        drawn[again] = torch.randint(*ends, (len(again), count), generator=generator)
    return drawn


def _with_twins(drawn: Tensor) -> Tensor:
    ordered = drawn.sort(dim=1).values
    return (ordered[:, 1:] == ordered[:, :-1]).any(dim=1).nonzero()[:, 0]


DRAWS: Mapping[str, Draw] = {"mqar": mqar, **mad.DRAWS}


_TABLES = beside(__file__, "tasks.toml")
FLOORS: Mapping[str, str] = beside(__file__, "words.toml")["floors"]
MODELS: Mapping[str, Mapping[str, Any]] = _TABLES["models"]


def _made(name: str, own: Mapping[str, Any]) -> FieldTask:
    given = {**_TABLES["families"][own["family"]], **own}
    sizes = {part: given.pop(part) for part in ("examples", "epochs", "batch_size")}
    return FieldTask(name=name, budget=Budget(**sizes, rates=tuple(given.pop("rates"))), **given)


TASKS = {name: _made(name, own) for name, own in _TABLES["tasks"].items()}
