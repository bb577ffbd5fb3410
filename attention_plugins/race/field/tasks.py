"""Tasks in which tokens go in, and labels are asked for at some places.

Their sizes, budgets, floors and published figures stand in ``tasks.toml``.

The six tasks of MAD are drawn as its authors do in ``mad/data/instances.py`` (Poli et al. 2024,
Mechanistic design and scaling of hybrid architectures): recall asks for a value wherever its key
came before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from attention_plugins.beside import beside
from attention_plugins.race.records import Budget

IGNORED = -100  # no label is asked for
_MAP_SEED = 12_345  # of what is memorised, the same for all draws
_MOTIF = 3  # tokens of a key or a value of fuzzy recall, at most


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
            loss fell by 1%.
        macro: whether accuracy is the mean over labels of the share found of each.
        floors: accuracies without learning what the task is about, by names in :data:`FLOORS`.
        ceiling: what nobody can surpass.
        published: rows with ``mechanism``, ``accuracy`` and ``source``, and of what is here its
            ``scoring``; ``form`` says how, by a name in ``words.toml``.
        averaged: over how many settings a published mean goes, this one among them.
        of: the task of which this is another of these settings, with one thing changed.
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
    averaged: int = 1
    of: str = ""

    def drawn(self, count: int, seed: int, *, learned: bool) -> Labelled:
        """So many sequences; those ``learned`` and those tested are draws of their own."""
        generator = torch.Generator().manual_seed(2 * seed + learned)
        inputs, labels = DRAWS[self.draw](self, count, generator, learned)
        asked = labels != IGNORED
        most = int(asked.sum(dim=1).max())
        places = asked.byte().argsort(dim=1, descending=True, stable=True)[:, :most]
        return Labelled(inputs.int(), places, labels.gather(1, places))


Drawn = tuple[Tensor, Tensor]
Draw = Callable[[FieldTask, int, Generator, bool], Drawn]


def mqar(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
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


def _shifted(tokens: Tensor, asked: Tensor, learned: bool) -> Drawn:
    """The next token of ``(n, T + 1)``: while learning everywhere, else where it is asked for."""
    labels = tokens if learned else tokens.masked_fill(~asked, IGNORED)
    return tokens[:, :-1], labels[:, 1:]


def recall(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """In-context recall, and noisy recall: pairs of a key and its value, some pairs of noise.

    The last key is one that came before. One pair, drawn among all, is never noise.
    """
    noise, share = int(task.settings["noise"]), float(task.settings["share"])
    plain, pairs = task.vocabulary - noise, task.length // 2
    half = plain // 2
    values = torch.randint(half, plain, (count, half), generator=generator)
    keys = torch.randint(half, (count, pairs), generator=generator)
    noisy = torch.rand(count, pairs, generator=generator) < share
    noisy.scatter_(1, torch.randint(pairs, (count, 1), generator=generator), value=False)
    noisy[:, -1] = False
    shown = torch.zeros(count, pairs, half, dtype=torch.bool)
    shown.scatter_(2, keys[..., None], ~noisy[..., None])
    shown[:, -1] = False
    before = shown.cumsum(dim=1) > 0  # the last pair shows nothing
    keys[:, -1] = torch.multinomial(before[:, -1].float(), 1, generator=generator)[:, 0]
    known = pad(before, (0, 0, 1, -1)).gather(2, keys[..., None])[..., 0] & ~noisy
    tokens = torch.stack([keys, values.gather(1, keys)], dim=-1)
    if noise:
        other = torch.randint(plain, task.vocabulary, tokens.shape, generator=generator)
        tokens = torch.where(noisy[..., None], other, tokens)
    asked = torch.stack([torch.zeros_like(known), known], dim=-1)
    return _shifted(tokens.flatten(1), asked.flatten(1), learned)


def _motifs(first: int, last: int) -> tuple[Tensor, Tensor]:
    """All of one to three different tokens of a range, -1 behind them, ``(m, 3)``, with sizes."""
    found = [one for n in range(1, _MOTIF + 1) for one in permutations(range(first, last), n)]
    return (
        torch.tensor([one + (-1,) * (_MOTIF - len(one)) for one in found]),
        torch.tensor([len(one) for one in found]),
    )


def _picked(sizes: Tensor, shape: tuple[int, int], generator: Generator, least: int = 1) -> Tensor:
    """Numbers of motifs: first a size, each alike, of at least so many; then one of that size."""
    chosen = torch.randint(least, _MOTIF + 1, shape, generator=generator)
    starts = torch.tensor([int((sizes < size).sum()) for size in range(_MOTIF + 2)])
    width = starts[chosen + 1] - starts[chosen]
    return starts[chosen] + (torch.rand(shape, generator=generator) * width).long()


def fuzzy(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """Fuzzy recall: keys and values of one to three tokens; keys of tests have three.

    Pairs come until there is no room for another one and the last, whose key is due before, from
    a random place on. A row is filled up in front.
    """
    filler, length, most = task.vocabulary - 1, task.length, task.length // 2
    keys, key_sizes = _motifs(0, filler // 2)
    values, value_sizes = _motifs(filler // 2, filler)
    of_key = _picked(value_sizes, (count, len(keys)), generator)
    least, numbers = 1 if learned else _MOTIF, torch.arange(most)
    probe = _picked(key_sizes, (count, 1), generator, least)
    chosen = _picked(key_sizes, (count, most), generator, least)
    sizes = key_sizes + value_sizes[of_key]  # of each key with its value
    last = sizes.gather(1, probe)
    due = (torch.rand(count, 1, generator=generator) * (length - 2 * last)).long()

    def starts() -> Tensor:
        taken = sizes.gather(1, chosen)
        return taken.cumsum(dim=1) - taken

    place = (starts() >= due).byte().argmax(dim=1, keepdim=True)
    shown = ((chosen == probe) & (numbers < place)).any(dim=1, keepdim=True)
    chosen = torch.where(shown, chosen, chosen.scatter(1, place, probe))
    ends = (starts() < length - last - 2 * _MOTIF).sum(dim=1, keepdim=True)
    chosen.scatter_(1, ends, probe)
    known = (chosen[:, :, None] == chosen[:, None]).tril(-1).any(dim=2).scatter_(1, ends, True)
    tokens = torch.cat([keys[chosen], values[of_key.gather(1, chosen)]], dim=2)
    inside = ((tokens >= 0) & (numbers <= ends)[..., None]).flatten(1)
    asked = (known[..., None] & (torch.arange(2 * _MOTIF) >= _MOTIF)).flatten(1)
    at = length - inside.sum(dim=1, keepdim=True) + inside.cumsum(dim=1)
    at = torch.where(inside, at, length + 1)  # what is not inside goes to a column of its own
    filled = torch.full((count, length + 2), filler).scatter_(1, at, tokens.flatten(1))
    marks = torch.zeros(count, length + 2, dtype=torch.bool).scatter_(1, at, asked)
    return _shifted(filled[:, :-1], marks[:, :-1], learned)


def memorisation(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """Keys, each with a blank behind it, where a value is asked for that is always the same."""
    blank = task.vocabulary - 1
    half = blank // 2
    fixed = torch.Generator().manual_seed(_MAP_SEED)
    values = half + torch.randperm(blank - half, generator=fixed)
    keys = torch.randint(half, (count, task.length // 2), generator=generator)
    inputs = torch.stack([keys, torch.full_like(keys, blank)], dim=-1).flatten(1)
    return inputs, torch.stack([torch.full_like(keys, IGNORED), values[keys]], dim=-1).flatten(1)


def copying(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """Selective copying: tokens with blanks between them, to be written behind a sign.

    A blank stands before one of the tokens, each alike: none stands behind the last.
    """
    copies = int(task.settings["copies"])
    sign, blank = task.vocabulary - 1, task.vocabulary - 2
    blanks = task.length - 2 * copies - 1
    tokens = torch.randint(blank, (count, copies), generator=generator)
    slots = torch.randint(copies, (count, blanks), generator=generator)
    ones = torch.ones_like(slots)
    before = torch.zeros(count, copies, dtype=torch.long).scatter_add_(1, slots, ones).cumsum(1)
    inputs = torch.full((count, task.length), blank)
    inputs.scatter_(1, torch.arange(copies) + before, tokens)
    inputs[:, copies + blanks] = sign
    labels = torch.full_like(inputs, IGNORED)
    labels[:, -copies:] = tokens
    return inputs, labels


def compression(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """Random tokens and a last sign, all of them to be told from the sign's vector alone."""
    inputs = torch.randint(task.vocabulary - 1, (count, task.length), generator=generator)
    inputs[:, -1] = task.vocabulary - 1
    return inputs, inputs.clone()


DRAWS: Mapping[str, Draw] = {
    "mqar": mqar, "recall": recall, "fuzzy": fuzzy, "memorisation": memorisation,
    "copying": copying, "compression": compression,
}  # fmt: skip

_TABLES = beside(__file__, "tasks.toml")
FLOORS: Mapping[str, str] = beside(__file__, "words.toml")["floors"]
MODELS: Mapping[str, Mapping[str, Any]] = _TABLES["models"]


def _made(name: str, own: Mapping[str, Any]) -> FieldTask:
    own = {**_TABLES["tasks"].get(own.get("of"), {}), **own}
    given = {**_TABLES["families"][own["family"]], **own}
    if given.get("of"):
        given |= {"published": (), "averaged": 1}
    sizes = {part: given.pop(part) for part in ("examples", "epochs", "batch_size")}
    return FieldTask(name=name, budget=Budget(**sizes, rates=tuple(given.pop("rates"))), **given)


TASKS = {name: _made(name, own) for name, own in _TABLES["tasks"].items()}
