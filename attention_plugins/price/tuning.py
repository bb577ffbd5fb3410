"""One model, swapped or not, before tuning and after."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from attention_plugins.huggingface.folder import positions_of
from attention_plugins.huggingface.translator import Pieces
from attention_plugins.price import texts as reading
from attention_plugins.price.records import Budget, Outcome, Shown, Swap
from attention_plugins.price.texts import Text
from attention_plugins.randomness import seeded
from attention_plugins.swaps.swapping import swap as put

_LARGEST = 1.0  # of a gradient's norm
_SHOWN_TOKENS, _SHOWN_WRITTEN = 16, 48
_DIGITS = 4
# What a scoring may raise costs its own trial.
_OF_A_SCORING = (ValueError, RuntimeError, ArithmeticError, LookupError, TypeError, AttributeError)
Progress = Callable[[float], object]


def tune(model: Any, texts: Sequence[Text], budget: Budget, rate: float, seed: int,
         watch: Progress = lambda share: None) -> None:  # fmt: skip
    """Tune all weights in place, by AdamW without decay, without dropout.

    The rate falls to 0 along a cosine; gradients are clipped to a norm of 1.
    """
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, budget.steps)
    drawn = reading.batches(texts, budget.batch_size, budget.steps, seed)
    for step, batch in enumerate(drawn, 1):
        total, tokens = reading.loss(model, batch)
        optimiser.zero_grad()
        (total / tokens).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), _LARGEST)
        optimiser.step()
        falling.step()
        watch(step / budget.steps)


def trial(
    model: Any, swap: Swap, seed: int, texts: Sequence[Text], budget: Budget, *,
    show: Callable[[Any], Shown] | None = None, watch: Progress = lambda share: None,
) -> Outcome:  # fmt: skip
    """Measure one seed of a swap, or of the original; ``model`` is left as it is.

    Args:
        show: what is kept of a model to be seen, before tuning and at the better rate.
        watch: is told which share is done; it may raise to stop.

    Returns:
        What was measured; a scoring that raises has a ``problem`` instead.
    """
    began = time.perf_counter()
    tuned, held_out = reading.cut(texts, budget.held_out, seed)
    after: list[float] = []
    found: dict[str, Any] = {}
    try:
        for number, rate in enumerate(budget.rates):
            made = _swapped(model, swap, seed)
            if not number:
                found = _untuned(made, model, held_out, budget.batch_size)
                found["shown_before"] = show(made) if show else None
            tune(made, tuned, budget, rate, seed,
                 lambda share, done=number: watch((done + share) / len(budget.rates)))  # fmt: skip
            after.append(reading.nats(made, held_out, budget.batch_size))
            if show and after[-1] == min(filter(math.isfinite, after), default=math.nan):
                found["shown_after"] = show(made)
    except _OF_A_SCORING as error:
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        after, found = [], {"problem": told[:300]}
    seconds = round(time.perf_counter() - began, 2)
    return Outcome(swap=swap, seed=seed, after=tuple(after), seconds=seconds, **found)


def _swapped(model: Any, swap: Swap, seed: int) -> Any:
    made = copy.deepcopy(model).eval()
    if swap.scoring:
        with seeded(seed):
            put(made, swap.scoring, normaliser=swap.normaliser, positions=swap.positions)
    return made.requires_grad_()


def _untuned(made: Any, model: Any, held_out: Sequence[Text], size: int) -> dict[str, Any]:
    before = reading.nats(made, held_out, size)
    if not math.isfinite(before):
        raise ArithmeticError("the loss is not finite")
    weights = [sum(w.numel() for w in one.parameters()) for one in (made, model)]
    return {"before": before, "parameters": weights[0] - weights[1]}


@torch.no_grad()
def shown(model: Any, text: Text, pieces: Pieces) -> Shown:
    """What a model writes after what is given of a text, and where it looks as it reads the text.

    ``pieces`` of its tokenizer name the tokens.
    """
    (made,) = reading.written(model, [text.given], _SHOWN_WRITTEN)
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
