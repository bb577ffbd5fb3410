"""A log of attention in a folder, which the dashboard follows while a training writes it.

A step is one ``step-000000100.safetensors`` and one line of JSON in ``index.jsonl``. What a writer
left half done when it died is skipped by readers and replaced by the next writer.
"""

import json
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional

from attention_plugins.comparison import entropy
from attention_plugins.home import write_whole
from attention_plugins.map_files import facts_of, loaded
from attention_plugins.maps import AttentionMaps
from attention_plugins.watched_map import WatchedMap, labels_of

MOST = 128  # queries and keys of a map that are kept
LIMIT = 64 << 20  # bytes of a folder's steps
MOST_STEPS = 1_000
_LEVELS = 255


def log_attention(
    folder: str | Path, step: int, seen: Any, *, most: int = MOST, limit_bytes: int = LIMIT
) -> None:
    """Add a training's attention at one step to the log in a folder.

    Kept is the first example of the batch, with at most ``most`` of its queries, evenly spaced,
    and as many keys: where there are more, the weights of neighbours are summed. A weight takes a
    byte. Before each row is scaled to the sum that it had, none is off by more than 1/255 of
    its row's largest. The mean entropy of every head, in nats, is of all its queries.

    When the steps take more than ``limit_bytes``, or are more than 1,000, every second one goes,
    but never the first or the last. Steps from this one on, of an earlier training, go too.

    Args:
        folder: made where there is none.
        step: from 0.
        seen: what ``watch`` gives, maps, or whatever ``AttentionMaps.of`` takes.
        most, limit_bytes: see above.

    Raises:
        ValueError: no maps, a step below 0, weights that are refused, or a step that takes more
            than a third of ``limit_bytes``.
        OSError: the folder cannot be written.
    """
    maps = AttentionMaps.of(getattr(seen, "maps", seen))
    if not len(maps):
        raise ValueError(f"nothing to log: {' '.join(getattr(seen, 'unseen', ()))}".strip(": "))
    if step < 0 or most < 2:
        raise ValueError(f"need 0 <= step and 2 <= most, got step={step}, most={most}")
    if any((each.weights < 0).any() for each in maps):
        raise ValueError(
            "a log holds weights from 0 up, and some of these are below; keep them by "
            "AttentionMaps.save"
        )
    payload = _packed([thinned(each, most) for each in maps])
    if len(payload) > limit_bytes / 3:
        raise ValueError(
            f"one step takes {len(payload):,} bytes, more than a third of {limit_bytes=:,}: log "
            "fewer layers or heads, or a smaller most="
        )
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    known = read_index(folder)
    write_whole(step_path(folder, step), payload)
    heads = {log_key(each): _entropies(each.weights[0]) for each in maps}
    line = {"step": step, "bytes": len(payload), "time": round(time.time(), 3), "entropy": heads}
    lines = [each for each in known.lines if each["step"] < step]
    kept = _bounded([*lines, line], limit_bytes)
    if len(kept) == len(known.lines) + 1 and known.whole:
        with (folder / INDEX).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return
    left_out = (known.left_out if lines else 0) + len(lines) + 1 - len(kept)
    first = {"format": FORMAT, "limit_bytes": limit_bytes, "left_out": left_out}
    written = "".join(json.dumps(each) + "\n" for each in (first, *kept))
    write_whole(folder / INDEX, written.encode())
    for number in {each["step"] for each in known.lines} - {each["step"] for each in kept}:
        step_path(folder, number).unlink(missing_ok=True)


def read_step(folder: str | Path, step: int) -> AttentionMaps:
    """The maps of one step of a log, each ``(1, heads, queries, keys)`` with its labels.

    ValueError: the step is not there, or its file is truncated or another one.
    """
    path = step_path(folder, step)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("format") != FORMAT:
            raise ValueError("it is no step of a log")
        return AttentionMaps.of([
            loaded(facts, decoded(tensors[f"{n}"], tensors[f"{n}.scale"])[None])
            for n, facts in enumerate(json.loads(metadata["maps"]))
        ])  # fmt: skip
    except FileNotFoundError:
        raise ValueError(f"step {step:,} is not in this log any more") from None
    except (
        SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OSError, RecursionError,
    ) as error:  # fmt: skip
        raise ValueError(f"step {step:,} is truncated or altered: {error}") from error


def coded(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Weights ``(..., keys)`` as a byte each, and the scale of each row.

    A byte is 255 times the square root of a weight's share of its row's largest, so that the many
    small weights of a row do not become 0.
    """
    largest = weights.amax(dim=-1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)
    codes = (weights / largest).sqrt().mul(_LEVELS).round()
    return codes.to(torch.uint8), weights.sum(dim=-1) / codes.square().sum(dim=-1).clamp_min(1)


def decoded(codes: Tensor, scale: Tensor) -> Tensor:
    """The weights of which :func:`coded` made these, in single precision."""
    return codes.float().square() * scale[..., None]


def spread(size: int, most: int = MOST) -> list[int]:
    """At most so many of the numbers below ``size``, evenly spaced, the first and the last too."""
    return torch.linspace(0, size - 1, min(size, most)).round().long().tolist()


def thinned(one: WatchedMap, most: int) -> WatchedMap:
    """The first example of a map, with at most so many queries and keys, and labels."""
    weights = one.weights[:1].float()
    size, rows = math.ceil(weights.shape[3] / most), spread(weights.shape[2], most)
    queries, keys = labels_of(one)
    weights = weights[:, :, rows]
    if size > 1:
        weights = functional.pad(weights, (0, -weights.shape[3] % size))
        weights = weights.unflatten(-1, (-1, size)).sum(dim=-1)
        parts = [keys[n : n + size] for n in range(0, len(keys), size)]
        keys = tuple(part[0] if len(part) == 1 else f"{part[0]}…{part[-1]}" for part in parts)
    return replace(
        one, weights=weights, rows=tuple(n if one.rows is None else one.rows[n] for n in rows),
        queries=(tuple(queries[n] for n in rows),), keys=(keys,),
    )  # fmt: skip


def _packed(maps: Sequence[WatchedMap]) -> bytes:
    tensors = {}
    for n, each in enumerate(maps):
        tensors[f"{n}"], tensors[f"{n}.scale"] = coded(each.weights[0])
    return save(tensors, {"format": FORMAT, "maps": json.dumps(facts_of(maps))})


def log_key(one: WatchedMap) -> str:
    """By what the index names a map: its module, and which call of it unless that is the first."""
    return f"{one.name}, call {one.call}" if one.call else one.name


def _entropies(weights: Tensor) -> list[float]:
    """Of each head the mean over the queries with weight, in nats; 0 where none has any."""
    some = weights.sum(dim=-1) > 0
    nats = torch.where(some, entropy(weights.float()), 0).sum(-1) / some.sum(-1).clamp_min(1)
    return [round(value, 4) for value in nats.tolist()]


def _bounded(lines: list[dict[str, Any]], limit_bytes: int) -> list[dict[str, Any]]:
    while len(lines) > 2 and (
        len(lines) > MOST_STEPS or sum(each["bytes"] for each in lines) > limit_bytes
    ):
        lines = [*lines[:-1:2], lines[-1]]
    return lines


INDEX = "index.jsonl"
FORMAT = "attention-log-1"


@dataclass(frozen=True)
class LogIndex:
    """What ``index.jsonl`` says.

    Attributes:
        lines: of the steps that are there, in their order, each with ``step``, ``bytes``, ``time``
            (seconds since 1970) and ``entropy``, by module the nats of each head.
        left_out: how many steps went, so that the others fit.
        whole: whether every line can be read.
    """

    lines: tuple[dict[str, Any], ...] = ()
    left_out: int = 0
    whole: bool = False


def read_index(folder: str | Path) -> LogIndex:
    """The steps of a log, without those that cannot be read; none where there is no log."""
    text = b""
    with suppress(OSError):
        text = (Path(folder) / INDEX).read_bytes()
    lines, left_out, broken = {}, 0, not text.endswith(b"\n")
    for one in text.splitlines():
        try:
            held = json.loads(one)
            if "format" in held:
                left_out = int(held["left_out"])
            elif step_path(folder, held["step"]).is_file():
                lines[held["step"]] = held
        except (ValueError, KeyError, TypeError, RecursionError):
            broken = True
    return LogIndex(tuple(lines[step] for step in sorted(lines)), left_out, not broken)


def step_path(folder: str | Path, step: int) -> Path:
    """Where the maps of a step lie; ValueError: no number."""
    return Path(folder) / f"step-{step:09d}.safetensors"
