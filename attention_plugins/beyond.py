"""What heads do beyond their weights, while words are forced; nothing stays on the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode

from attention_plugins.contract import ContractError
from attention_plugins.decoding import force, forced_through
from attention_plugins.models.protocols import StepModel
from attention_plugins.tap import Intervention, Recorder, Site, Tap

MEASURES = ("norms", "gradient", "rollout")
_MULTIPLY = (linear, torch.addmm, torch.matmul, Tensor.matmul, Tensor.__matmul__)
_SAME, _ROW_SUM = 1e-4, 1e-3  # of sums in another order; of rows that sum to 1


def measured(
    model: StepModel, source: Tensor, lengths: Tensor, target: Tensor, measure: str, *,
    interventions: Sequence[Intervention] = (),
) -> tuple[Tensor, dict[Site, Tensor]]:  # fmt: skip
    """As :func:`~attention_plugins.decoding.force`, one of :data:`MEASURES` in place of weights.

    ``"norms"``: ``|a_ij| ||v_j W||`` of weight, value with its bias, and the head's rows of the
    output projection, if there are heads. Kobayashi et al. 2020, Attention is not only a weight.

    ``"gradient"``: ``a_ij dL/da_ij`` in nats; ``L`` is the log-probability of the target. The
    product in Chefer et al. 2021, Generic attention-model explainability, and in Barkan et al.
    2021, Grad-SAM, which go on with its positive part. ``"rollout"``: see :func:`rollout`.

    ContractError: another measure, or a model that does not have what this one needs.
    """
    given = model, source, lengths, target
    if measure == "rollout":
        scores, weights = force(*given, interventions=interventions)
        return scores, rollout(weights)
    if measure not in MEASURES:
        raise ContractError(f"need one of {', '.join(MEASURES)}, got {measure!r}")
    kept, goes_back = _Kept(), measure == "gradient"
    with torch.set_grad_enabled(goes_back), nullcontext() if goes_back else kept.products:
        scores = forced_through(*given, Tap(kept, interventions))
        return scores.detach(), _gradients(kept, scores) if goes_back else _norms(kept)


class _Products(TorchFunctionMode):
    """Notes by which matrix ``(heads * d_v, size)`` each noted output is multiplied next."""

    def __init__(self) -> None:
        super().__init__()
        self.matrices: dict[Site, Tensor] = {}
        self.last: tuple[Site, Tensor] | None = None  # (B, heads, n, d_v)

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        factors = args[1:3] if func is torch.addmm else args[:2]
        if self.last and func in _MULTIPLY and len(factors) == 2 and factors[0].dim() > 1:
            site, merged = self.last[0], self.last[1].transpose(-3, -2).flatten(-2)
            read, matrix = factors[0].flatten(0, -2), factors[1]
            if read.dtype == merged.dtype and torch.equal(read, merged.flatten(0, -2)):
                self.matrices[site], self.last = matrix.mT if func is linear else matrix, None
        return func(*args, **(kwargs or {}))


class _Kept(Recorder):
    """Keeps the very weights that met the values, the values, and what came of both."""

    def __init__(self) -> None:
        super().__init__()
        self.products = _Products()
        self.values: dict[Site, Tensor] = {}
        self.outputs: dict[Site, list[Tensor]] = defaultdict(list)
        self.no_sums = set[Site]()  # where the output is no sum of weighted values
        self.live = self._parts

    def add(self, site: Site, weights: Tensor) -> None:
        self.live[site].append(weights)

    def pooled(self, site: Site, values: Tensor, output: Tensor, patched: Tensor) -> None:
        self.values[site] = values
        self.outputs[site].append(output)
        if not torch.allclose(self.live[site][-1] @ values, output, rtol=_SAME, atol=_SAME):
            self.no_sums.add(site)
        if output.dim() > 3:
            if (last := self.products.last) and last[0] == site:  # one query after the other
                patched = torch.cat([last[1], patched], dim=-2)
            self.products.last = site, patched


def _norms(kept: _Kept) -> dict[Site, Tensor]:
    norms = {}
    for site, weights in kept.weights().items():
        values, matrix = kept.values[site], kept.products.matrices.get(site)
        if site in kept.no_sums or (matrix is None and weights.dim() > 3):
            raise ContractError(
                f"{site.kind} layer {site.layer + 1} does more than multiply the sum of weighted "
                "values by one matrix, so they have no norms here; gradient and rollout need none"
            )
        if matrix is not None:
            values = values @ matrix.unflatten(0, (weights.shape[1], -1))
        norms[site] = weights.abs() * values.norm(dim=-1)[..., None, :]
    return norms


def _gradients(kept: _Kept, scores: Tensor) -> dict[Site, Tensor]:
    parts = [(site, part) for site, each in kept.live.items() for part in each]
    asked = [part for _, part in parts]
    follows = scores.requires_grad and all(part.requires_grad for part in asked)
    found = torch.autograd.grad(scores.sum(), asked, allow_unused=True) if follows else ()
    if not any(gradient is not None for gradient in found):
        raise ContractError(
            "the log-probability has no gradient by these weights: they follow from nothing "
            "learned, or each word is masked in a pass of its own; norms and rollout need none"
        )
    made = Recorder()
    for (site, part), gradient in zip(parts, found, strict=True):
        made.add(site, torch.zeros_like(part) if gradient is None else part * gradient)
    return made.weights()


def rollout(weights: Mapping[Site, Tensor]) -> dict[Site, Tensor]:
    """Attention rollout up to each layer, ``(B, 1, n, n)``, of weights in the order of layers.

    The product of ``(A + I) / 2`` over the layers of a stack, ``A`` the mean of the heads: Abnar &
    Zuidema 2020, Quantifying attention flow in Transformers. It is made for self-attention: the
    mean of the heads of a cross-attention is multiplied by the rollout of the whole encoder.

    ContractError: no self-attention, rows that do not sum to 1, rows and columns of other tokens.
    """
    found, stacks = {}, dict[str, Tensor]()
    for site, given in weights.items():
        made = given.mean(dim=1) if given.dim() > 3 else given
        before = stacks.get("encoder" if site.kind == "cross" else site.kind)
        if site.kind == "cross" and before is None:
            continue
        tokens = made.shape[-2] if before is None else before.shape[-2]
        if made.shape[-1] != tokens or ((made.sum(dim=-1) - 1).abs() > _ROW_SUM).any():
            raise ContractError(
                f"{site.kind} layer {site.layer + 1}: rollout needs rows that sum to 1, and keys "
                "that are the tokens of its stack"
            )
        if site.kind != "cross":
            made = (made + torch.eye(tokens).to(made)) / 2
        made = made if before is None else made @ before
        if site.kind != "cross":
            stacks[site.kind] = made
        found[site] = made[:, None]
    if not found:
        raise ContractError("this model has no self-attention, which alone has a rollout")
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Patch(Intervention):
    """Takes the output of a head, or of all, from another pass, row by row; later rows stay.

    ``output (heads, rows, d_v)`` is of :func:`outputs`. Activation patching: Vig et al. 2020,
    Investigating gender bias in language models using causal mediation analysis; Wang et al. 2022,
    Interpretability in the wild.
    """

    output: Tensor

    def __post_init__(self) -> None: ...

    def apply(
        self, weights: Tensor, mask: Tensor | None, first_row: int, ahead: Tensor | None = None
    ) -> Tensor:
        """The weights as they are."""
        return weights

    def patched(self, output: Tensor, first_row: int) -> Tensor:
        """See :meth:`Intervention.patched`."""
        rows = self.output[:, first_row : first_row + output.shape[-2]]
        changed = output.clone()
        heads = slice(self.head, None if self.head is None else self.head + 1)
        target = changed[:, None] if output.dim() == 3 else changed
        target[:, heads, : rows.shape[1]] = rows[heads]
        return changed


def outputs(
    model: StepModel, source: Tensor, lengths: Tensor, target: Tensor
) -> dict[Site, Tensor]:
    """What every head gathers, ``(heads, rows, d_v)``, while one target ``(1, m)`` is forced."""
    kept = _Kept()
    force(model, source, lengths, target, recorder=kept)
    joined = {site: torch.cat(each, dim=-2)[0] for site, each in kept.outputs.items()}
    return {site: one if one.dim() == 3 else one[None] for site, one in joined.items()}
