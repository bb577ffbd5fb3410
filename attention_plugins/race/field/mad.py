"""The six tasks of MAD, as its authors generate them.

Poli et al. 2024, Mechanistic design and scaling of hybrid architectures, section 3;
``mad/data/instances.py`` of its authors. Recall asks for a value wherever its key came before.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

if TYPE_CHECKING:  # it imports this module
    from attention_plugins.race.field.tasks import FieldTask

IGNORED = -100  # no label is asked for
_MAP_SEED = 12_345  # of what is memorised, the same for all draws
_MOTIF = 3  # tokens of a key or a value of fuzzy recall, at most

Drawn = tuple[Tensor, Tensor]


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
    """All of one to three different tokens of a range, 0 behind them, ``(m, 3)``, with sizes."""
    found = [
        one for size in range(1, _MOTIF + 1) for one in permutations(range(first, last), size)
    ]
    sizes = torch.tensor([len(one) for one in found])
    return torch.tensor([one + (0,) * (_MOTIF - len(one)) for one in found]), sizes


def _picked(sizes: Tensor, count: int, generator: Generator, *, longest: bool = False) -> Tensor:
    """Numbers of motifs: a size first, each alike, or the longest; then one of that size."""
    chosen = torch.randint(1, _MOTIF + 1, (count,), generator=generator)
    chosen = torch.full_like(chosen, _MOTIF) if longest else chosen
    starts = torch.tensor([int((sizes < size).sum()) for size in range(_MOTIF + 2)])
    width = starts[chosen + 1] - starts[chosen]
    return starts[chosen] + (torch.rand(count, generator=generator) * width).long()


def fuzzy(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """Fuzzy recall: keys and values of one to three tokens; keys of tests have three.

    Pairs come until there is no room for another one and the last; a row is filled up in front.
    """
    filler = task.vocabulary - 1
    half = filler // 2
    keys, key_sizes = _motifs(0, half)
    values, value_sizes = _motifs(half, filler)
    longest = not learned
    rows = torch.arange(count)
    of_key = _picked(value_sizes, count * len(keys), generator).view(count, -1)
    probe = _picked(key_sizes, count, generator, longest=longest)
    size = key_sizes[probe] + value_sizes[of_key[rows, probe]]
    due = (torch.rand(count, generator=generator) * (task.length - 2 * size)).long()
    width = task.length + 1 + 2 * _MOTIF
    tokens = torch.zeros(count, width, dtype=torch.long)
    asked = torch.zeros(count, width, dtype=torch.bool)
    ends, shown = torch.zeros(count, dtype=torch.long), torch.zeros(count, len(keys)).bool()

    def write(which: Tensor, key: Tensor, known: Tensor) -> None:
        for motifs, sizes, number, mark in (
            (keys, key_sizes, key, torch.zeros_like(known)),
            (values, value_sizes, of_key[which, key], known),
        ):
            there = torch.arange(_MOTIF) < sizes[number, None]
            at = (which[:, None].expand_as(there)[there],
                  (ends[which, None] + torch.arange(_MOTIF))[there])  # fmt: skip
            tokens[at] = motifs[number][there]
            asked[at] = mark[:, None].expand_as(there)[there]
            ends[which] += sizes[number]
        shown[which, key] = True

    while len(left := (ends < task.length - size - 2 * _MOTIF).nonzero()[:, 0]):
        drawn = _picked(key_sizes, len(left), generator, longest=longest)
        is_due = (ends[left] >= due[left]) & ~shown[left, probe[left]]
        key = torch.where(is_due, probe[left], drawn)
        write(left, key, shown[left, key])
    write(rows, probe, torch.ones(count, dtype=torch.bool))
    places = torch.arange(task.length + 1) - (task.length + 1 - ends[:, None])  # from the end
    inside = places >= 0
    tokens = torch.where(inside, tokens.gather(1, places.clamp_min(0)), filler)
    return _shifted(tokens, asked.gather(1, places.clamp_min(0)) & inside, learned)


def memorisation(task: FieldTask, count: int, generator: Generator, learned: bool) -> Drawn:
    """Keys, each with a blank behind it, where a value is asked for that is always the same."""
    blank = task.vocabulary - 1
    half = blank // 2
    fixed = torch.Generator().manual_seed(_MAP_SEED)
    values = half + torch.randperm(blank - half, generator=fixed)
    keys = torch.randint(half, (count, task.length // 2), generator=generator)
    inputs = torch.stack([keys, torch.full_like(keys, blank)], dim=-1).flatten(1)
    labels = torch.stack([torch.full_like(keys, IGNORED), values[keys]], dim=-1).flatten(1)
    return inputs, labels


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


DRAWS: Mapping[str, Any] = {
    "recall": recall, "fuzzy": fuzzy, "memorisation": memorisation, "copying": copying,
    "compression": compression,
}  # fmt: skip
