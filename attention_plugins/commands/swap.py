"""Measure what is missing, and print the table."""

import argparse
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from attention_plugins.commands import common
from attention_plugins.commands.race import run_facts
from attention_plugins.contract import ContractError
from attention_plugins.home import read_bounded
from attention_plugins.price import measuring, store
from attention_plugins.price.records import Budget
from attention_plugins.price.table import Prices, rows
from attention_plugins.registry import installed

_MOST_BYTES = 64 << 20

COMPUTED = {
    f"--{name.replace('_', '-')}": {"default": usual} for name, usual in vars(Budget()).items()
}


def run(given: argparse.Namespace) -> None:
    """Price a swap: what other scorings cost a model, untuned and tuned beside the original."""
    device = common.device(given)
    if given.write < 0:
        raise ContractError(f"need 0 <= write, got {given.write}")
    budget = Budget(
        steps=given.steps, rates=tuple(given.rates), batch_size=given.batch_size,
        held_out=given.held_out, seeds=given.seeds,
    )  # fmt: skip
    asked = [measuring.swap_of(one, given.normaliser, given.positions) for one in given.scorings]
    subject = measuring.opened(*_folder(given.model))
    subject.model.to(device)
    texts, said = _texts(given, subject, budget)
    facts = {**run_facts(), "transformers": version("transformers"), "source": given.source}
    prices = Prices(model=subject.name, texts=said, budget=budget, facts=facts)
    prices = store.begin(given.output, prices) if given.output else prices
    outcomes = [*prices.outcomes]
    total = prices.budget.seeds * (len(set(asked)) + 1)
    try:
        with tqdm(total=total, unit="trial", file=sys.stderr, smoothing=0) as bar:
            for outcome in measuring.trials(subject, asked, texts, prices.budget, outcomes):
                if given.output:
                    store.add(given.output, outcome)
                outcomes.append(outcome)
                bar.update(len(outcomes) - bar.n)
    except KeyboardInterrupt:
        if not given.output:
            raise
        print("stopped; the same command goes on", file=sys.stderr)
    found = replace(prices, outcomes=outcomes)
    facts = {"model": found.model, "texts": found.texts, "facts": dict(found.facts),
             "prices": rows(found)}  # fmt: skip
    common.show(given, facts, [str(found)])


def _folder(name: str) -> tuple[Path, str]:
    """A folder as it is named, or that of a checkpoint."""
    path = Path(name)
    if path.is_dir():
        return path, path.resolve().name
    if len(path.parts) > 1:
        raise ContractError(f"no folder {name}; need one, or the name of a checkpoint")
    return installed().checkpoint(name).path, name


def _texts(given: argparse.Namespace, subject: measuring.Subject, budget: Budget) -> tuple:
    if given.texts is None:
        return subject.own_texts(budget, given.write or measuring.TOKENS), measuring.OWN_TEXTS
    try:
        lines = read_bounded(given.texts, _MOST_BYTES).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(f"{given.texts} cannot be read as text: {error}") from error
    said = measuring.OWN_WORDS if given.write else measuring.GIVEN
    return subject.texts(lines, given.write), said
