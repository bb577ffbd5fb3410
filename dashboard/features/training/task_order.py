"""What a training's request means, and the sentence pairs that it names."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch

from attention_plugins.contract import ContractError, Parameter, Scalar, SentencePair, settle
from attention_plugins.datasets.parallel import read_pairs
from attention_plugins.experiment import Experiment
from attention_plugins.recipe import Recipe, parameters
from attention_plugins.registry import Registry
from dashboard.features.training.task_offer import CORPUS, MODEL, QUICK, RECIPE, values_of
from dashboard.language import gettext_noop
from dashboard.records.attending import SOFTMAX, normaliser_of, without_normaliser
from dashboard.records.request import UPLOAD, Request, is_upload
from dashboard.records.training import OF_SERVER
from dashboard.storage.blobs import Blobs

_MEGABYTE = 2**20
_RESET, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class PeakMemory:
    """Counts from its creation on.

    A worker does one job after another, and the peak that ``getrusage`` tells is that of its whole
    life; Linux can begin a new one (proc(5), ``clear_refs``), and so can a GPU's allocator.
    ``before``: megabytes, the peak of what was done of the job elsewhere.
    """

    def __init__(self, device: torch.device, before: float = 0.0) -> None:
        self.device, self.before = device, before
        self._fresh = False
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            with suppress(OSError):
                _RESET.write_text("5")
                self._fresh = True

    @property
    def meaning(self) -> str:
        """What is counted."""
        if self.device.type == "cuda":
            return gettext_noop("tensors on the GPU")
        if self._fresh:
            return gettext_noop("worker process")
        return gettext_noop("worker process since its start")

    def megabytes(self) -> float | None:
        """The peak so far; None where the system does not tell it."""
        if self.device.type == "cuda":
            return max(self.before, torch.cuda.max_memory_allocated(self.device) / _MEGABYTE)
        found = self._process()
        return None if found is None else max(self.before, found)

    @staticmethod
    def _process() -> float | None:
        with suppress(OSError, ValueError, StopIteration):
            lines = _STATUS.read_text().splitlines()
            return int(next(x for x in lines if x.startswith("VmHWM:")).split()[1]) / 1024
        try:
            import resource
        except ImportError:  # Windows
            return None
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (_MEGABYTE if sys.platform == "darwin" else 1024)


_PROBED = "English"  # the side that the usual probe is of
_TOKENISER = f"{RECIPE}tokeniser"
_LONGEST_PROBE = 1000
_SEED = Parameter(name="seed", title="Seed", default=0, low=0, high=2**32 - 1)


@dataclass(frozen=True)
class Order:
    """What to train, on how many pairs (0 for all), and the sentence to try after each epoch."""

    experiment: Experiment
    pairs: int
    probe: str


def read(request: Request, registry: Registry) -> Order:
    """The order that a request stands for; what it leaves out is as in the preset ``quick``."""
    model, scoring = registry.model(request.model), registry.scoring(request.scoring)
    if model.task != "translation":
        raise ContractError(f"model {model.name!r} is for {model.task}; need one for translation")
    settle(scoring.parameters, dict(request.parameters))
    normaliser, own = normaliser_of(dict(request.options))
    settle(registry.normaliser(normaliser).parameters, own)
    given = without_normaliser({n: value for n, value in request.options if n not in OF_SERVER})
    uploaded = is_upload(request.data)
    data = None if uploaded else registry.datasets.get(request.data)
    known = values_of(QUICK, model.name, model.parameters)
    if data and data.tokeniser:
        known[_TOKENISER] = data.tokeniser
    if data and data.examples and data.sides[0] != _PROBED:
        known["probe"] = data.examples[0]
    if unknown := given.keys() - known.keys():
        offered = ", ".join(known)
        raise ContractError(f"no option {min(unknown)!r}; offered: {offered}")
    values = known | given
    recipe: dict[str, Any] = settle(parameters(registry.tokenisers), _below(RECIPE, values))
    corpus: dict[str, Any] = settle(CORPUS, {one.name: values[one.name] for one in CORPUS})
    return Order(
        Experiment(
            model=model.name, scoring=scoring.name,
            model_parameters=settle(model.parameters, _below(MODEL, values)),
            scoring_parameters=dict(request.parameters),
            normaliser="" if normaliser == SOFTMAX else normaliser, normaliser_parameters=own,
            recipe=Recipe(**recipe, seed=int(_SEED.check(request.seed))),
            corpus=f"upload-{request.data.removeprefix(UPLOAD)[:8]}" if uploaded else request.data,
            dataset=data.name if data else "", held_out=corpus["held_out"],
        ),
        corpus["pairs"], _probe(values["probe"]),
    )  # fmt: skip


def load(request: Request, order: Order, registry: Registry) -> Sequence[SentencePair]:
    """The sentence pairs that the request names; ValueError where they cannot be read."""
    if is_upload(request.data):
        pairs = read_pairs(Blobs().path(request.data.removeprefix(UPLOAD)).read_bytes())
    else:
        spec = registry.dataset(request.data)
        if spec.task != "translation":
            raise ContractError(
                f"data set {spec.name!r} is for {spec.task}; need one for translation"
            )
        # One that can be asked for so many pairs is: it may hold more than it gives.
        sizes = [p for p in spec.parameters if p.name == "pairs" and order.pairs]
        asked = settle(spec.parameters, {p.name: max(order.pairs, int(p.low or 0)) for p in sizes})
        # What a data set of this task loads is pairs by its contract.
        pairs = cast("Sequence[SentencePair]", spec.load(asked, 0))
    return pairs[: order.pairs] if order.pairs else pairs


def _below(prefix: str, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}


def _probe(given: object) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST_PROBE:
        raise ContractError(
            f"need probe to be a sentence of at most {_LONGEST_PROBE:,} characters, "
            f"got {str(given)[:40]!r}"
        )
    return given.strip()
