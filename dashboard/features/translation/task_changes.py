"""From changes as a request names them to interventions of one model on one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import ContractError
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Intervention
from dashboard.records.interventions import Change


def interventions(changes: Sequence[Change], maps: Sequence[AttentionMap]) -> list[Intervention]:
    """The changes as a tap takes them.

    Args:
        maps: of every site, as they are without any change.

    Raises:
        ContractError: a site, head, row or key that the model or the sentence does not have.
    """
    known = {(found.site.kind, found.site.layer + 1): found for found in maps}
    made = []
    for change in changes:
        found = known.get((change.kind, change.layer))
        if found is None:
            offered = ", ".join(f"{kind}.{layer}" for kind, layer in known)
            raise ContractError(f"{change}: this model has no {change.kind}.{change.layer}; "
                                f"offered: {offered}")  # fmt: skip
        _check(change, found)
        made.append(
            Intervention(
                site=found.site,
                action=change.action,
                head=None if change.head is None else change.head - 1,
                row=change.row,
                key=change.key,
            )
        )
    return made


def _check(change: Change, found: AttentionMap) -> None:
    heads, rows, keys = found.weights.shape
    if change.head is not None and change.head > heads:
        raise ContractError(f"{change}: need 1 <= head <= {heads}, got {change.head}")
    if change.row is None or change.key is None:
        return
    if change.row >= rows:
        raise ContractError(f"{change}: need 0 <= row < {rows}, got {change.row}")
    seen = min(keys, change.row + 1) if change.kind == "decoder" else keys
    if change.key >= seen:
        if change.kind == "decoder":
            raise ContractError(
                f"{change}: need 0 <= key < {seen}, got {change.key} "
                "(a word sees those before it alone)"
            )
        raise ContractError(f"{change}: need 0 <= key < {seen}, got {change.key}")
