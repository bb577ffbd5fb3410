"""Changes to a model's heads as text: ``off:cross.2.3 uniform:encoder.1.all pin:cross.2.1:3>0``.

Layers and heads are counted from 1, as on the maps; the words of a pin from 0, as in alignments:
row 3 of that map, the fourth word, looks at key 0, the first one, alone. ``patch:encoder.1.2``
takes that head's output from another sentence.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from dashboard.records.text import shown

Action = Literal["off", "uniform", "pin", "patch"]
ACTIONS: tuple[Action, ...] = get_args(Action)  # in the order in which a page applies them
State = Literal["on", "off", "uniform"]  # of a head, pins and patches aside
SWITCHED = ("off", "uniform")
KINDS = ("cross", "encoder", "decoder")
ALL = "all"
ON: Literal["on"] = "on"
MOST_CHANGES = 200

_HEAD = re.compile(rf"({'|'.join(KINDS)})\.([1-9][0-9]?)\.({ALL}|[1-9][0-9]?)\Z")
_PIN = re.compile(r"(.*):([0-9]{1,3})>([0-9]{1,3})\Z")
_EXAMPLES = {"off": "cross.2.3", "uniform": "encoder.1.all", "pin": "cross.2.1:3>0"}

Place = tuple[str, int, int]  # kind, layer and head, as a reader counts


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change to a head, or to all heads of a layer where ``head`` is None.

    ``row`` and ``key`` are a pin's; the other actions change whole maps.
    """

    action: Action
    kind: str
    layer: int
    head: int | None = None
    row: int | None = None
    key: int | None = None

    @property
    def where(self) -> str:
        """What a link says of it, such as ``cross.2.3`` or ``cross.2.1:3>0``."""
        head = f"{self.kind}.{self.layer}.{self.head or ALL}"
        return head if self.row is None else f"{head}:{self.row}>{self.key}"

    def __str__(self) -> str:
        return f"{self.action}:{self.where}"


def read_change(action: str, where: str) -> Change:
    """The change that ``where`` says, such as ``cross.2.3`` for ``"off"``.

    ValueError: an unknown action, kind of attention, or another form.
    """
    if action not in ACTIONS:
        raise ValueError(f"need one of {', '.join(ACTIONS)} before a colon, got {shown(action)}")
    pin = _PIN.match(where) if action == "pin" else None
    head = _HEAD.match(pin[1] if pin else where)
    if head is None or (pin is None) == (action == "pin"):
        example = _EXAMPLES.get(action, _EXAMPLES["off"])
        raise ValueError(
            f"need {action} of a head such as {example} (kinds: {', '.join(KINDS)}), "
            f"got {shown(where)}"
        )
    row, key = (int(pin[2]), int(pin[3])) if pin else (None, None)
    number = None if head[3] == ALL else int(head[3])
    return Change(
        action=action, kind=head[1], layer=int(head[2]), head=number, row=row, key=key
    )  # fmt: skip


def read_changes(text: str) -> tuple[Change, ...]:
    """The changes that a text lists; ValueError as :func:`read_change`, or of too many."""
    parts = text.split()
    if len(parts) > MOST_CHANGES:
        raise ValueError(f"need at most {MOST_CHANGES} changes, got {len(parts):,}")
    return tuple(read_change(*part.partition(":")[::2]) for part in parts)


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Each change once: off, uniform, pins, patches; by kind, layer and head."""

    def place(change: Change) -> tuple[int, ...]:
        action, kind = ACTIONS.index(change.action), KINDS.index(change.kind)
        return action, kind, change.layer, change.head or 0, change.row or 0, change.key or 0

    return tuple(sorted(dict.fromkeys(changes), key=place))


def state_of(changes: Iterable[Change], place: Place) -> State:
    """What the last switch of this head says."""
    state: State = ON
    for change in changes:
        meant = (change.kind, change.layer, change.head or place[2])
        if change.action not in ("pin", "patch") and meant == place:
            state = change.action
    return state


def of_states(states: Mapping[Place, State]) -> tuple[Change, ...]:
    """The changes that bring about the state of every head; of a layer alike, one change."""
    layers: dict[tuple[str, int], dict[int, State]] = {}
    for (kind, layer, head), state in states.items():
        layers.setdefault((kind, layer), {})[head] = state
    found: list[Change] = []
    for (kind, layer), heads in layers.items():
        chosen: dict[int | None, State] = {**heads}
        if len(heads) > 1 and len({*heads.values()}) == 1:
            chosen = {None: next(iter(heads.values()))}
        found += [Change(action=state, kind=kind, layer=layer, head=head)
                  for head, state in chosen.items() if state != ON]  # fmt: skip
    return in_order(found)


def write_changes(changes: Iterable[Change]) -> str:
    """One line, the changes in their order."""
    return " ".join(map(str, changes))
