"""Everything that determines a result, frozen and hashable."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

Scalar = bool | int | float | str
Pairs = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a worker needs to make a result, and nothing else.

    Args:
        task: a name from ``dashboard.tasks.TASKS``, such as ``"regression"``.
        model, scoring: names from the catalogue; empty where the task needs none.
        parameters: of the scoring and the model, sorted by name.
        data: a data set's or a checkpoint's name, or ``upload:<sha256>`` of an uploaded file.
        options: what the task itself reads (points, text, beam, learn, ...), sorted by name.
        seed: of every random draw.
        device: ``"auto"``, ``"cpu"``, ``"cuda:0"``, ``"mps"``.
    """

    task: str
    model: str = ""
    scoring: str = ""
    parameters: Pairs = field(default=())
    data: str = ""
    options: Pairs = field(default=())
    seed: int = 0
    device: str = "auto"

    @classmethod
    def make(
        cls,
        task: str,
        *,
        parameters: Mapping[str, Scalar] | None = None,
        options: Mapping[str, Scalar] | None = None,
        **fields: Scalar,
    ) -> Request:
        """A request from mappings; equal mappings give equal requests, whatever their order."""
        return cls(
            task=task,
            parameters=tuple(sorted((parameters or {}).items())),
            options=tuple(sorted((options or {}).items())),
            **fields,
        )

    def to_json(self) -> str:
        """Canonical JSON: equal requests give equal text."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Request:
        """The request that :meth:`to_json` wrote.

        Raises:
            ValueError: not JSON, or other fields than a request's.
        """
        try:
            fields = json.loads(text)
            for name in ("parameters", "options"):
                fields[name] = tuple((str(key), value) for key, value in fields[name])
            return cls(**fields)
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"not a request: {error}") from error

    @property
    def key(self) -> str:
        """A name for caches: 32 hexadecimal digits of the canonical JSON's sha256."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:32]
