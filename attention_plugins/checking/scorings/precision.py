"""A scoring computes where and as precisely as its inputs are."""

from __future__ import annotations

import torch

from attention_plugins.attention import KernelScoring
from attention_plugins.checking.devices import devices_watched, left_behind
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checking.scorings.common import (
    SIZE,
    attended,
    equal,
    inputs,
    make,
    scores,
)
from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.discovery import let_go

# Of the largest score: what rounding of inputs and of sums may cost.
_TOLERANCES = {torch.float32: 1e-3, torch.float64: 1e-9, torch.bfloat16: 0.1}


def _is_kernel(spec: ScoringSpec) -> bool:
    try:
        return isinstance(make(spec), KernelScoring)
    except BaseException as error:  # said by the rules that build it
        let_go(error)
        return False


@rule("scorings", applies=_is_kernel, decides=True)
def check_a_kernel_is_positive(spec: ScoringSpec) -> None:
    """Features of a query times those of a key, of which scores are the logarithm."""
    scoring = make(spec)
    assert isinstance(scoring, KernelScoring)
    queries, keys = inputs(2)
    asked = scoring.query_features(scoring.project_queries(queries))
    kernel = asked @ scoring.key_features(scoring.project_keys(keys)).mT
    if not (kernel > 0).all():
        raise Broken(
            f"query_features times key_features is {kernel.min():.3g} for some query and key; a "
            "kernel is positive, as its logarithm is the score: make both features so, such as "
            "elu(x) + 1 or exp(x)"
        )


@rule("scorings")
def check_precision_is_that_of_the_inputs(spec: ScoringSpec) -> None:
    """float32, float64 and bfloat16 in, the same out, and about the same scores.

    What torch has no bfloat16 kernel for is not held against it.
    """
    exact = None
    for dtype, tolerance in _TOLERANCES.items():
        kind = str(dtype).removeprefix("torch.")
        queries, keys = (part.to(dtype) for part in inputs(2))
        advice = (
            "make new tensors with queries.new_zeros(...) or dtype=queries.dtype, and cast nothing"
        )
        with attempt(f"in {kind}", advice):
            scoring = make(spec, dtype=dtype)
            try:
                found = scores(scoring, queries, keys)
                output, weights = attended(scoring, queries, keys)
            except RuntimeError as error:
                if _lacks_a_kernel(error, dtype):
                    continue  # torch's gap, not the scoring's fault
                raise
        for what, part in (("scores", found), ("weights", weights), ("outputs", output)):
            if part.dtype != dtype:
                got = str(part.dtype).removeprefix("torch.")
                raise Broken(f"queries and keys in {kind} gave {what} in {got}; {advice}")
        try:
            exact = scores(make(spec), queries.double(), keys.double())
        except Exception:  # nosec B112  # said when its turn comes
            continue
        if not equal(found.double(), exact.double(), tolerance):
            raise Broken(
                f"scores in {kind} are far from those in float64; keep intermediate results in "
                "the inputs' precision or a higher one, and avoid differences of large numbers"
            )


def _lacks_a_kernel(error: RuntimeError, dtype: torch.dtype) -> bool:
    """Whether torch cannot compute something in this precision, as ``cdist`` in bfloat16."""
    name = {torch.bfloat16: "BFloat16"}.get(dtype, "")
    return bool(name) and "not implemented for" in str(error) and name in str(error)


@rule("scorings")
def check_it_is_built_without_memory(spec: ScoringSpec) -> None:
    """Checkpoints are compared with a model on the ``meta`` device before a weight is read."""
    advice = "read no value of a tensor while building: no .item(), float(tensor) or .numpy()"
    with attempt('while it was built on the device "meta"', advice), torch.device("meta"):
        hollow = spec.create(Sizes(SIZE, SIZE, SIZE)).state_dict()
    real = make(spec, dtype=torch.float32).state_dict()
    if hollow.keys() != real.keys():
        different = sorted(hollow.keys() ^ real.keys())
        raise Broken(
            f'built on the device "meta" it has other tensors ({", ".join(different)}); let '
            "names and shapes follow from the sizes and parameters alone"
        )


@rule("scorings")
def check_it_stays_on_the_device_of_its_inputs(spec: ScoringSpec) -> None:
    """It makes nothing on another device, reads nothing back, and moves as a whole."""
    scoring = make(spec)
    if left := left_behind(scoring):
        raise Broken(
            f"{left} would stay behind when the module moves to another device; keep tensors of "
            "__init__ as nn.Parameter or with register_buffer"
        )
    queries, keys = inputs(2)
    with devices_watched("scoring"):
        scores(scoring, queries, keys)
