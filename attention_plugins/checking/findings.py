"""Rules, what they find, and waivers of them."""

import functools
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins.contract import ContractError, Spec
from attention_plugins.discovery import last_line, let_go
from attention_plugins.hookspecs import HOOKS


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal numbers of their own generator."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


@torch.no_grad()
def move(module: nn.Module) -> None:
    """Move all weights a little from where they start: a kernel may start as the identity."""
    for number, weight in enumerate(module.parameters()):
        weight.add_(draw(*weight.shape, seed=200 + number).to(weight.dtype) / 10)


def equal(one: Tensor, other: Tensor, tolerance: float = 1e-9) -> bool:
    """Whether two tensors agree up to rounding, relative to the larger one's largest number.

    What is infinite in one is so in the other.
    """
    if one.shape != other.shape or not one.numel():
        return one.shape == other.shape
    if one.dtype != torch.float64:  # what is cast down is the matter of the rule on precision
        tolerance = max(tolerance, 1e-4)
    size = max(1.0, *(float(t.detach().nan_to_num(0, 0, 0).abs().max()) for t in (one, other)))
    return bool(torch.allclose(one, other, rtol=0.0, atol=tolerance * size, equal_nan=True))


ALONE = "mend that; no other rule was tried"  # the advice of rules that decide

Rule = Callable[[Any], object]

# Who hears of what is being tried, so that it can be named if it never ends.
TRYING: ContextVar[Callable[[str], None]] = ContextVar("TRYING")
# The records of the package that is checked, by kind and name: one may name another.
BESIDE: ContextVar[Mapping[tuple[str, str], Spec]] = ContextVar("BESIDE")


class Broken(AssertionError):
    """A rule that does not hold: what is wrong and what to change, in one or two sentences.

    With values for its placeholders the text is a form, as ``words.toml`` has them.
    """

    def __init__(self, text: str, /, **values: object) -> None:
        super().__init__(text.format(**values) if values else text)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one rule found in one record.

    Args:
        rule: the rule's sentence, which is its function's name without ``check_``.
        passed: whether it holds, or was expected not to and does not.
        message: what is wrong and what to change; empty if nothing is.
        waived: why it was expected not to hold; empty if it was not.
    """

    rule: str
    passed: bool
    message: str = ""
    waived: str = ""
    seconds: float = 0.0


class _Entry(NamedTuple):
    check: Rule
    applies: Callable[[Any], bool]
    decides: bool
    unless: tuple[str, ...]


_RULES: dict[str, dict[str, _Entry]] = defaultdict(dict)


def rule(
    kind: str, applies: Callable[[Any], bool] = lambda spec: True, *, decides: bool = False,
    unless: tuple[str, ...] = (),
) -> Callable[[Rule], Rule]:  # fmt: skip
    """Register ``check_<sentence>(spec)`` as a rule of a kind of records.

    The rule draws what it likes: torch's and Python's generators are afterwards as before.

    Args:
        applies: whether a record can be asked for it at all.
        decides: whether there is nothing to say of the others where this one does not hold.
        unless: rules registered before whose fault this one would only name again; where one of
            them fails, this one is not tried.
    """

    def register(check: Rule) -> Rule:
        @functools.wraps(check)
        def apart(spec: Any) -> None:
            drawn = random.getstate()
            try:
                with torch.random.fork_rng(devices=[]), torch.enable_grad():
                    check(spec)
            finally:
                random.setstate(drawn)

        name = check.__name__.removeprefix("check_")
        _RULES[kind][name] = _Entry(apart, applies, decides, unless)
        return apart

    return register


def rules(kind: str, spec: Spec) -> dict[str, Rule]:
    """The rules that a record must keep, by their sentences, in the order in which they run."""
    if kind not in HOOKS:
        raise ContractError(f"need a kind of {', '.join(HOOKS)}; got {kind!r}")
    if not isinstance(spec, HOOKS[kind].record):
        wanted, got = HOOKS[kind].record.__name__, type(spec).__name__
        raise ContractError(f"{kind} are checked from a {wanted}; got {got}")
    entries = sorted(_RULES[kind].items(), key=lambda item: not item[1].decides)
    return {name: entry.check for name, entry in entries if entry.applies(spec)}


def findings(
    kind: str, spec: Spec, expected_failures: Mapping[str, str],
    on_rule: Callable[[str], None] = lambda rule: None,
) -> Iterator[Finding]:  # fmt: skip
    """Every rule's finding as soon as it is there; see ``check``.

    ``on_rule`` hears of each rule before it runs, so that one that never ends can be named.
    Where a rule that decides does not hold, no other is tried: one finding names one cause.
    """
    found, not_kept = rules(kind, spec), set()
    for name in expected_failures.keys() - found.keys():
        message = f"there is no rule {name!r} for {spec.name!r}; take its waiver away"
        yield Finding(rule=name, passed=False, message=message)
    for name, check in found.items():
        if not_kept.intersection(_RULES[kind][name].unless):
            continue
        on_rule(name)
        began = time.perf_counter()
        finding = judge(name, check, spec, expected_failures.get(name, ""))
        yield replace(finding, seconds=time.perf_counter() - began)
        if not finding.passed:
            not_kept.add(name)
            if _RULES[kind][name].decides:
                return


def judge(name: str, check: Rule, spec: Spec, reason: str) -> Finding:
    """What a rule finds; ``reason`` is why it is expected not to hold, if it is."""
    message = broken(check, spec)
    if reason and message:
        return Finding(rule=name, passed=True, waived=reason)
    if reason:
        message = f"it was expected to fail ({reason}) but holds; take its waiver away"
    return Finding(rule=name, passed=not message, message=message)


def broken(check: Rule, spec: Spec) -> str:
    """What is wrong and what to change; empty if the rule holds."""
    try:
        check(spec)
    except Broken as error:
        return str(error)
    except BaseException as error:
        let_go(error)
        return f"it raised {last_line(error)}; mend that line"
    return ""


@contextmanager
def attempt(what: str, advice: str | Callable[[], str]) -> Iterator[None]:
    """Turn whatever the plugin raises inside into :class:`Broken`, with what to change.

    ``advice`` is what to change, or what finds it out once something was raised.
    """
    if hears := TRYING.get(None):
        hears(what)
    try:
        yield
    except Broken:
        raise
    except BaseException as error:
        let_go(error)
        said = str(error) if isinstance(error, ContractError) else f"it raised {last_line(error)}"
        change = advice if isinstance(advice, str) else advice()
        raise Broken(f"{what} {said}; {change}") from error
