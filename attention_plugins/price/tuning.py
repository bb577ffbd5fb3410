"""The texts of a trial, and one model on them, swapped or not, before tuning and after.

A decoder reads what is ``given`` and is charged for what is ``counted``; an encoder–decoder reads
``given`` on one side and writes ``counted`` on the other.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attention_plugins.contract import ContractError
from attention_plugins.errors import in_a_line
from attention_plugins.huggingface.folder import positions_of
from attention_plugins.huggingface.translator import Pieces
from attention_plugins.price.records import Budget, Outcome, Shown, Swap
from attention_plugins.randomness import seeded
from attention_plugins.swaps.swapping import swap as put

_IGNORED = -100  # labels of what does not count
_AT_ONCE = 64  # texts that are written at once
_LARGEST = 1.0  # of a gradient's norm
_SHOWN_TOKENS, _SHOWN_WRITTEN = 16, 48
_DIGITS = 4
# What a scoring may raise costs its own trial.
_OF_A_SCORING = (ValueError, RuntimeError, ArithmeticError, LookupError, TypeError, AttributeError)


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
        [_IGNORED] * (len(row) - 1 - len(text.counted)) + [*text.counted]
        for row, text in zip(rows, texts, strict=True)
    ]
    labels = _padded(wanted, _IGNORED, device)
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


def tune(
    model: Any, texts: Sequence[Text], budget: Budget, rate: float, seed: int
) -> Iterator[float]:
    """Tune all weights in place, by AdamW without decay, without dropout; the shares done.

    The rate falls to 0 along a cosine; gradients are clipped to a norm of 1.
    """
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, budget.steps)
    for step, batch in enumerate(batches(texts, budget.batch_size, budget.steps, seed), 1):
        total, tokens = loss(model, batch)
        optimiser.zero_grad()
        (total / tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), _LARGEST)
        optimiser.step()
        falling.step()
        yield step / budget.steps


def trial(
    model: Any, swap: Swap, seed: int, texts: Sequence[Text], budget: Budget, *,
    show: Callable[[Any], Shown] | None = None,
    watch: Callable[[float], object] = lambda share: None,
) -> Outcome:  # fmt: skip
    """Measure one seed of a swap, or of the original; ``model`` is left as it is.

    Args:
        show: what is kept of a model to be seen, before tuning and at the better rate.
        watch: is told which share is done; it may raise to stop.

    Returns:
        What was measured; a scoring that raises has a ``problem`` instead.
    """
    began = time.perf_counter()
    tuned, held_out = cut(texts, budget.held_out, seed)
    after: list[float] = []
    found: dict[str, Any] = {}
    try:
        for number, rate in enumerate(budget.rates):
            made = _swapped(model, swap, seed)
            if not number:
                found = _untuned(made, model, held_out, budget.batch_size)
                found["shown_before"] = show(made) if show else None
            for share in tune(made, tuned, budget, rate, seed):
                watch((number + share) / len(budget.rates))
            after.append(nats(made, held_out, budget.batch_size))
            if show and after[-1] == min(filter(math.isfinite, after), default=math.nan):
                found["shown_after"] = show(made)
    except _OF_A_SCORING as error:
        after, found = [], {"problem": in_a_line(error)[:300]}
    seconds = round(time.perf_counter() - began, 2)
    return Outcome(swap=swap, seed=seed, after=tuple(after), seconds=seconds, **found)


def _swapped(model: Any, swap: Swap, seed: int) -> Any:
    made = copy.deepcopy(model).eval()
    if swap.scoring:
        with seeded(seed):
            put(made, swap.scoring, normaliser=swap.normaliser, positions=swap.positions)
    return made.requires_grad_()


def _untuned(made: Any, model: Any, held_out: Sequence[Text], size: int) -> dict[str, Any]:
    before = nats(made, held_out, size)
    if not math.isfinite(before):
        raise ArithmeticError("the loss is not finite")
    weights = [sum(w.numel() for w in one.parameters()) for one in (made, model)]
    return {"before": before, "parameters": weights[0] - weights[1]}


@torch.no_grad()
def shown(model: Any, text: Text, pieces: Pieces) -> Shown:
    """What a model writes after what is given of a text, and where it looks as it reads the text.

    ``pieces`` of its tokenizer name the tokens.
    """
    (made,) = written(model, [text.given], _SHOWN_WRITTEN)
    seen = copy.deepcopy(model)
    if seen.config._attn_implementation in ("sdpa", "flash_attention_2", "flex_attention"):
        seen.set_attn_implementation("eager")  # the others give no weights
    if model.config.is_encoder_decoder:
        queries, keys = text.counted[:_SHOWN_TOKENS], text.given[:_SHOWN_TOKENS]
        start = torch.tensor([[model.config.decoder_start_token_id, *queries[:-1]]])
        output = seen(input_ids=torch.tensor([keys]), decoder_input_ids=start,
                      output_attentions=True)  # fmt: skip
        maps = output.cross_attentions
    else:
        most = min(_SHOWN_TOKENS, positions_of(model.config.to_dict()))
        queries = keys = (text.given + text.counted)[:most]
        output = seen(input_ids=torch.tensor([keys]), output_attentions=True)
        maps = output.attentions
    layers = [one[0].mean(0).tolist() for one in maps or () if one is not None]
    return Shown(
        text=pieces.text(made.counted), queries=pieces.words(queries), keys=pieces.words(keys),
        maps=[[[round(w, _DIGITS) for w in row] for row in layer] for layer in layers],
    )  # fmt: skip
