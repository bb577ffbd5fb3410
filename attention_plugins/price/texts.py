"""The texts of a trial: what is given, what counts, and batches of both for the library's models.

A decoder reads ``given`` and is charged for ``counted``; an encoder–decoder reads ``given`` on one
side and writes ``counted`` on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_plugins.contract import ContractError
from attention_plugins.huggingface.folder import positions_of
from attention_plugins.randomness import seeded

IGNORED = -100  # labels of what does not count
_AT_ONCE = 64  # texts that are written at once


class Text(NamedTuple):
    """Token ids of one text; each of ``counted`` has a loss, those ``given`` have none."""

    given: tuple[int, ...]
    counted: tuple[int, ...]


def cut(texts: Sequence[Text], held_out: int, seed: int) -> tuple[list[Text], list[Text]]:
    """What is tuned on, and what is held out, shuffled by the seed; equal texts lie on one side.

    ContractError: fewer different texts than twice what is held out.
    """
    # Answers to one source lie together; a single token given is where a text begins.
    kept = [*{(text.given if len(text.given) > 1 else text): text for text in texts}.values()]
    if len(kept) < 2 * held_out:
        raise ContractError(
            f"need at least {2 * held_out} different texts, of which {held_out} are held out, "
            f"got {len(kept)}"
        )
    order = torch.randperm(len(kept), generator=torch.Generator().manual_seed(seed)).tolist()
    shuffled = [kept[place] for place in order]
    return shuffled[held_out:], shuffled[:held_out]


def batches(texts: Sequence[Text], size: int, steps: int, seed: int) -> Iterator[list[Text]]:
    """So many batches; each text comes once before any comes again."""
    generator = torch.Generator().manual_seed(seed)
    left: list[int] = []
    for _ in range(steps):
        while len(left) < min(size, len(texts)):
            left += torch.randperm(len(texts), generator=generator).tolist()
        chosen, left = left[:size], left[size:]
        yield [texts[place] for place in chosen]


def _padded(rows: Iterable[Sequence[int]], fill: int, device: torch.device) -> Tensor:
    found = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(found, True, fill).to(device)


def loss(model: Any, texts: Sequence[Text]) -> tuple[Tensor, int]:
    """The sum of −log p of all that counts, in nats, and how many tokens that is."""
    config, device = model.config, model.device
    padding, pairs = config.pad_token_id or 0, config.is_encoder_decoder
    starts = [(config.decoder_start_token_id,) if pairs else text.given for text in texts]
    rows = [start + text.counted for start, text in zip(starts, texts, strict=True)]
    shifted = [row[:-1] for row in rows]
    read = [text.given for text in texts] if pairs else shifted
    inputs = {
        "input_ids": _padded(read, padding, device),
        "attention_mask": _padded([[1] * len(row) for row in read], 0, device),
    }
    if pairs:
        inputs["decoder_input_ids"] = _padded(shifted, padding, device)
    wanted = [
        [IGNORED] * (len(row) - 1 - len(text.counted)) + [*text.counted]
        for row, text in zip(rows, texts, strict=True)
    ]
    labels = _padded(wanted, IGNORED, device)
    logits = model(**inputs, use_cache=False).logits
    total = cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    return total, sum(len(text.counted) for text in texts)


@torch.no_grad()
def nats(model: Any, texts: Sequence[Text], size: int) -> float:
    """The mean of −log p of a token that counts."""
    total, tokens = 0.0, 0
    for start in range(0, len(texts), size):
        found, counted = loss(model, texts[start : start + size])
        total, tokens = total + float(found), tokens + counted
    return total / tokens


def ends_of(config: Any) -> list[int]:
    """The tokens that end a text; a model may have none, or several."""
    found = config.eos_token_id
    return found if isinstance(found, list) else [] if found is None else [found]


@torch.no_grad()
def written(
    model: Any, given: Sequence[Sequence[int]], most: int, *, seed: int | None = None
) -> list[Text]:
    """What the model writes after each: drawn from its distribution, or the likeliest tokens.

    Args:
        most: tokens of each; fewer where the model ends by itself, or has no more positions.
        seed: of the draws; None takes the likeliest token each time.
    """
    config = model.config
    drawn: dict[str, Any] = {"do_sample": False}
    if seed is not None:
        drawn = {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0}
    ends, positions = ends_of(config), positions_of(config.to_dict())
    found: dict[int, Text] = {}
    with seeded(seed or 0):
        for length in sorted({len(one) for one in given}):
            places = [place for place, one in enumerate(given) if len(one) == length]
            for start in range(0, len(places), _AT_ONCE):
                part = places[start : start + _AT_ONCE]
                room = positions if config.is_encoder_decoder else positions - length + 1
                ids = torch.tensor([given[place] for place in part], device=model.device)
                made = model.generate(
                    ids, attention_mask=torch.ones_like(ids), num_beams=1, **drawn,
                    max_new_tokens=max(1, min(most, room)), pad_token_id=config.pad_token_id or 0,
                )  # fmt: skip
                made = made[:, 1:] if config.is_encoder_decoder else made[:, length:]
                for place, row in zip(part, made.tolist(), strict=True):
                    end = next((n for n, id in enumerate(row, 1) if id in ends), len(row))
                    found[place] = Text(tuple(given[place]), tuple(row[:end]))
    return [found[place] for place in range(len(given))]
