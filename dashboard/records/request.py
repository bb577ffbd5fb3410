"""A request: everything that determines a result, frozen and hashable; and what it costs.

Work is counted in seconds that the same computation takes on one core of the machine under *How
fast* in architecture.md. It decides what a link may start by itself, the same on every server; how
long it takes on this server is measured.
"""

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow as pa

from dashboard.language import gettext, ngettext
from dashboard.language.message import packed, unpacked


@dataclass(frozen=True, kw_only=True)
class Result:
    """Tables by name, and facts that fit in JSON (metrics, provenance, texts).

    A table named ``maps`` holds one row per attention site: ``kind`` (string), ``layer`` (int32),
    ``heads`` (int32), ``queries`` and ``keys`` (lists of labels), ``causal`` (bool: the keys after
    a query's own position are masked), ``weights`` (float32s, heads x queries x keys in C order).
    """

    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def digest(self) -> str:
        """A name for what was computed: 32 hexadecimal digits that differ if anything does.

        What is drawn from a result is kept under this name, never under the request's: after a
        plugin or a checkpoint was replaced, an equal request gives another result.
        """
        return hashlib.sha256(self.to_bytes()).hexdigest()[:32]

    def to_bytes(self) -> bytes:
        """One Arrow IPC stream: a row per table, the facts in the schema's metadata.

        ValueError, TypeError: facts that are not JSON, such as NaN.
        """
        names = sorted(self.tables)
        payloads = [to_ipc(self.tables[name]) for name in names]
        schema = pa.schema([("name", pa.string()), ("table", pa.large_binary())])
        envelope = pa.table([names, payloads], schema=schema)
        facts = json.dumps(packed(self.facts), ensure_ascii=False, allow_nan=False)
        return to_ipc(envelope.replace_schema_metadata({"facts": facts}))

    @classmethod
    def from_bytes(cls, payload: bytes) -> "Result":
        """What :meth:`to_bytes` wrote; ValueError of another stream."""
        try:
            envelope = _from_ipc(payload)
            tables = {
                name.as_py(): _from_ipc(table.as_buffer())
                for name, table in zip(envelope["name"], envelope["table"], strict=True)
            }
            facts = json.loads(envelope.schema.metadata[b"facts"], object_hook=unpacked)
            made = cls(tables=tables, facts=facts)
            # As it would be, without being written once more.
            vars(made)["digest"] = hashlib.sha256(payload).hexdigest()[:32]
            return made
        except (pa.ArrowException, OSError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a result: {error}") from error


def to_ipc(table: pa.Table) -> bytes:
    """The table as an uncompressed Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _from_ipc(payload: bytes | pa.Buffer) -> pa.Table:
    with pa.ipc.open_stream(payload) as reader:
        return reader.read_all()


_ROUND = (1, 2, 3, 5, 10, 15, 20, 30, 45)


def about(seconds: float) -> str:
    """Words for a rough duration, such as ``about 10 s`` or ``about 2 minutes``."""
    if seconds < 55:
        nearest = min(_ROUND, key=lambda each: abs(each - seconds))
        return gettext("about {seconds} s", seconds=nearest)
    minutes = round(seconds / 60)
    if minutes < 90:
        return ngettext("about {count:,} minute", "about {count:,} minutes", minutes)
    return gettext("about {hours:,} hours", hours=round(minutes / 60))


UPLOAD = "upload:"  # in ``data``, before the sha256 of an uploaded file
FORMULA = "="  # in ``scoring``, before a formula that was typed
COLUMNS = "columns"  # in ``options``, with an uploaded table

Scalar = bool | int | float | str
Pairs = tuple[tuple[str, Scalar], ...]


def is_upload(data: str) -> bool:
    """Whether ``data`` names an uploaded file rather than a data set."""
    return data.startswith(UPLOAD)


def is_formula(scoring: str) -> bool:
    """Whether ``scoring`` is a formula rather than the name of an installed one."""
    return scoring.startswith(FORMULA)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a worker needs to compute a result, and nothing else.

    Args:
        task: a name from ``dashboard.jobs.tasks.TASKS``, such as ``"regression"``.
        model: a name from the catalogue; empty where the task needs none.
        scoring: as ``model``, or ``=`` and a formula.
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
        cls, task: str, *, model: str = "", scoring: str = "",
        parameters: Mapping[str, Scalar] | None = None, data: str = "",
        options: Mapping[str, Scalar] | None = None, seed: int = 0, device: str = "auto",
    ) -> "Request":  # fmt: skip
        """A request from mappings; equal mappings in any order give equal requests."""
        return cls(
            task=task, model=model, scoring=scoring,
            parameters=tuple(sorted((parameters or {}).items())), data=data,
            options=tuple(sorted((options or {}).items())), seed=seed, device=device,
        )  # fmt: skip

    def to_json(self) -> str:
        """Canonical JSON: equal requests give equal text."""
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        return json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """The request that :meth:`to_json` wrote; ValueError of anything else."""
        try:
            held = json.loads(text)
        except ValueError as error:
            raise ValueError(f"not a request: {error}") from error
        return cls.from_fields(held)

    @classmethod
    def from_fields(cls, held: Any) -> "Request":
        """A request from parsed JSON of unknown origin; ValueError of other fields or types."""
        names = {each.name for each in fields(cls)}
        if not isinstance(held, dict) or held.keys() != names:
            raise ValueError("not a request: need exactly a request's fields")
        pairs = {name: held[name] for name in ("parameters", "options")}
        for name, value in pairs.items():
            if not (isinstance(value, list) and all(_is_pair(pair) for pair in value)):
                raise ValueError(f"not a request: need {name} of a name and a plain value each")
        texts = names - {"seed", *pairs}
        if type(held["seed"]) is not int or not all(isinstance(held[n], str) for n in texts):
            raise ValueError("not a request: need texts, and a seed that is a whole number")
        return cls(**{**held, **{name: tuple(map(tuple, value)) for name, value in pairs.items()}})

    @functools.cached_property
    def key(self) -> str:
        """A key for caches: 32 hexadecimal digits of the canonical JSON's sha256."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:32]


def _is_pair(pair: Any) -> bool:
    match pair:
        case [str(), bool() | int() | float() | str()] if isinstance(pair, list):
            return True
    return False


_COLUMNS = re.compile(r"(-?[1-9]\d{0,3}(?:,-?[1-9]\d{0,3})*):([1-9]\d{0,3})\Z", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table that are used, by their numbers from 1; parts of dates below 0."""

    inputs: tuple[int, ...]
    target: int

    @classmethod
    def read(cls, text: str) -> "Columns | None":
        """From ``2,4:5``, columns 2 and 4 as inputs of 5; None where it says no such thing."""
        found = _COLUMNS.match(text)
        if not found:
            return None
        inputs, target = tuple(map(int, found[1].split(","))), int(found[2])
        each_once = len({*inputs, target, -target}) == len(inputs) + 2
        return cls(inputs=inputs, target=target) if each_once else None

    def write(self) -> str:
        """The text that :meth:`read` turns into these."""
        return f"{','.join(map(str, self.inputs))}:{self.target}"

    @property
    def all(self) -> tuple[int, ...]:
        """The inputs, then the target."""
        return (*self.inputs, self.target)
