"""Prices of swaps: those that are shipped, and those of a model that is here."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from attention_plugins.contract import ContractError, settle
from attention_plugins.devices import resolve
from attention_plugins.price import measuring, store
from attention_plugins.price.records import Budget, Outcome
from attention_plugins.price.table import ENDS, Prices, problems, rows
from attention_plugins.price.tuning import Text
from attention_plugins.registry import installed
from dashboard.features.swaps.task_offer import OPTIONS
from dashboard.features.swaps.view import MOST, RATES, SHIPPED
from dashboard.jobs.task_tables import MAPS
from dashboard.jobs.task_translator import read_texts
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

_BATCH, _MOST_HELD_OUT = 4, 16
_TEXTS = ("scorings", "normaliser", "text")
_SETTINGS = [each for each in OPTIONS if each.name != "shipped"]
_PRICES = pa.schema([
    ("swap", pa.string()), ("scoring", pa.string()), ("normaliser", pa.string()),
    ("positions", pa.string()), ("rate", pa.float64()),
    *((f"{name}{end}", pa.float64()) for name in ("loss", "cost") for end in ENDS),
    ("p", pa.float64()), ("verdict", pa.string()), ("needed", pa.int32()), ("seeds", pa.int32()),
])  # fmt: skip
_NAMED = [("swap", pa.string()), ("when", pa.string())]


def perform(request: Request, context: Context) -> Result:
    """Read shipped prices, or measure those of a model that is here.

    ``data`` is ``shipped:`` and a name, or a checkpoint's name. Options of the latter:
    ``scorings`` (a line each), ``normaliser``, ``text`` (empty: the model writes its own),
    ``steps`` and ``seeds``.

    Returns:
        Tables ``prices`` (a row for each swap and rate, 0 untuned; ``swap`` is empty for the
        original), ``texts`` (what each writes, ``when`` untuned or tuned) and ``maps`` (the mean
        over heads, by swap and when); facts ``model``, ``texts``, ``budget``, ``facts`` (where
        they come from), ``problems`` (by swap, a sentence), ``seconds``.

    Raises:
        ValueError: no such model or results, or a text, scoring or option that does not fit.
    """
    began = time.perf_counter()
    if request.data.startswith(SHIPPED):
        prices = store.read_shipped(request.data.removeprefix(SHIPPED))
    else:
        prices = _measured(request, context)
    texts, maps = _seen(prices)
    return Result(
        tables={
            "prices": pa.Table.from_pylist(rows(prices), _PRICES),
            "texts": pa.Table.from_pylist(texts, pa.schema([*_NAMED, ("text", pa.string())])),
            "maps": pa.Table.from_pylist(maps, pa.schema([*_NAMED, *MAPS])),
        },
        facts={
            "model": prices.model, "texts": prices.texts, "facts": dict(prices.facts),
            "budget": {**asdict(prices.budget), "rates": [*prices.budget.rates]},
            "problems": {swap.key: said for swap, said in problems(prices).items()},
            "seconds": time.perf_counter() - began,
        },
    )  # fmt: skip


def _measured(request: Request, context: Context) -> Prices:
    texts, others = read_texts(request, _TEXTS)
    settings = settle(_SETTINGS, others)
    names = [name for name in texts["scorings"].split("\n") if name]
    if not 1 <= len(names) <= MOST:
        raise ContractError(f"need 1 to {MOST} scorings, got {len(names)}")
    swaps = [measuring.swap_of(name, texts["normaliser"]) for name in names]
    context.report(0.02, gettext_noop("loading the model"))
    subject = measuring.opened(installed().checkpoint(request.data).path, request.data)
    subject.model.to(resolve(request.device))
    context.report(0.05, gettext_noop("preparing the texts"))
    most = Budget(steps=int(settings["steps"]), seeds=int(settings["seeds"]), rates=RATES,
                  batch_size=_BATCH, held_out=_MOST_HELD_OUT)  # fmt: skip
    found, budget, said = _prepared(subject, texts["text"], most)
    outcomes = list[Outcome]()

    def report(share: float) -> None:
        note = gettext_noop("tuning, {done} of {total} done", done=len(outcomes),
                            total=budget.seeds * (1 + len(set(swaps))))  # fmt: skip
        context.report(0.1 + 0.9 * share, note)

    for outcome in measuring.trials(subject, swaps, found, budget, share=report):
        outcomes.append(outcome)  # one at a time, since the report counts them
    return Prices(model=request.data, texts=said, budget=budget, outcomes=outcomes)


def _prepared(subject: measuring.Subject, text: str, budget: Budget
              ) -> tuple[Sequence[Text], Budget, str]:  # fmt: skip
    """A visitor's text in pieces, or the model's own; the budget that they allow."""
    if not text.strip():
        return subject.own_texts(budget, measuring.TOKENS), budget, measuring.OWN_TEXTS
    if subject.pairs:
        pieces, said = subject.texts(text.splitlines(), measuring.TOKENS), measuring.OWN_WORDS
    else:
        pieces, said = subject.pieces(text), measuring.GIVEN
    held_out = min(budget.held_out, max(1, len(set(pieces)) // 4))
    return pieces, replace(budget, held_out=held_out), said


def _seen(prices: Prices) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What each model writes, and the maps of its layers."""
    texts, maps = [], []
    for one in prices.outcomes:
        for when, found in (("untuned", one.shown_before), ("tuned", one.shown_after)):
            if not found:
                continue
            named = {"swap": one.swap.key, "when": when}
            texts.append({**named, "text": found.text})
            causal = found.queries == found.keys
            maps += [
                {**named, "kind": "decoder" if causal else "cross", "layer": layer, "heads": 1,
                 "queries": [*found.queries], "keys": [*found.keys], "causal": causal,
                 "weights": [w for row in weights for w in row]}
                for layer, weights in enumerate(found.maps)
            ]  # fmt: skip
    return texts, maps
