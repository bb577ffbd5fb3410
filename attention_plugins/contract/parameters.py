"""Parameters that users set, and what every record is checked for when it is made."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeGuard, TypeVar

from attention_plugins.errors import ContractError
from attention_plugins.marking import gettext_noop

Scalar = bool | int | float | str
Record = TypeVar("Record")
Task = Literal["regression", "translation", "encoding"]
TASKS: tuple[Task, ...] = ("regression", "translation", "encoding")
_WITHOUT_DATA = {"encoding"}  # a user brings the sequence

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_FORMULA = re.compile(r"=[^\x00-\x1f\ud800-\udfff]{1,300}\Z")


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number, switch or choice that a user may set; it draws its widget and travels in links.

    Args:
        name: a Python identifier, the key in links and in ``build``'s mapping.
        title: what the page shows.
        default: its type (bool, int, float or str) is the parameter's type.
        low, high: bounds, both included; needed for int and float.
        step: the widget's step; by default a hundredth of the range (1 for int). Scorings and
            models are not built with an int between two steps, which count from ``low``, unless
            the default is between two itself.
        unit: shown behind the title, such as ``"epochs"``.
        learnable: whether training may change it; then it starts from the value set.
        choices: the values allowed, for str.
        names: ``"scorings"``, ``"normalisers"`` or ``"layers"`` for a str that names one of those
            that are installed; ``build`` gets it by
            :func:`~attention_plugins.registry.get_scoring`,
            :func:`~attention_plugins.registry.get_normaliser` or
            :func:`~attention_plugins.registry.get_layer`.
        help: one sentence for the widget's tooltip.

    Raises:
        ContractError: a bad name, a default outside the bounds, a number without bounds.
    """

    name: str
    title: str
    default: Scalar
    low: float | None = None
    high: float | None = None
    step: float | None = None
    unit: str = ""
    learnable: bool = False
    choices: tuple[str, ...] = ()
    names: Literal["", "scorings", "normalisers", "layers"] = ""
    help: str = ""

    def __post_init__(self) -> None:
        check_name("parameter", self.name)
        check_texts(self, "parameter", ("title", "unit", "help"))
        low, high = self.low, self.high
        if self.numeric and not (_finite(low) and _finite(high) and low < high):
            raise ContractError(
                f"parameter {self.name!r} is a number, so it needs low < high; "
                f"got low={low}, high={high}"
            )
        if self.step is not None and not (_finite(self.step) and self.step > 0):
            raise ContractError(f"parameter {self.name!r}: need 0 < step, got {self.step!r}")
        if not isinstance(self.choices, tuple) or not all(
            isinstance(choice, str) for choice in self.choices
        ):
            raise ContractError(f"parameter {self.name!r}: choices is a tuple of str")
        if self.names not in ("", "scorings", "normalisers", "layers"):
            raise ContractError(
                f"parameter {self.name!r}: need names to be scorings, normalisers or layers, "
                f"got {self.names!r}"
            )
        if self.names and (self.choices or not isinstance(self.default, str)):
            raise ContractError(
                f"parameter {self.name!r} names {self.names}, so its default is the name of one "
                "and its choices are those installed; give it no choices"
            )
        if isinstance(self.default, str) and not self.choices and not self.names:
            raise ContractError(
                f"parameter {self.name!r} is a str, so it needs choices, or names of what it names"
            )
        if self.learnable and not isinstance(self.default, float):
            raise ContractError(f"parameter {self.name!r} is learnable, so it must be a float")
        self.check(self.default)

    @property
    def numeric(self) -> bool:
        """Whether it is an int or a float, with bounds."""
        return isinstance(self.default, int | float) and not isinstance(self.default, bool)

    @property
    def bounds(self) -> tuple[float, float]:
        """Its lowest and its highest value; ContractError if it is no number."""
        if self.low is None or self.high is None:
            raise ContractError(f"parameter {self.name!r} has no bounds")
        return self.low, self.high

    @property
    def stride(self) -> int:
        """How far apart an int's values are from ``low`` on; 1 where its step is no condition."""
        if isinstance(self.default, bool) or not isinstance(self.default, int):
            return 1
        if self.step is None or self.step != int(self.step):
            return 1
        return 1 if (self.default - self.bounds[0]) % self.step else int(self.step)

    def described(self) -> dict[str, Any]:
        """Its fields and its type's name in types that JSON has, with its widget's step."""
        shown = asdict(self)
        if self.numeric and self.step is None:
            low, high = self.bounds
            shown["step"] = 1 if isinstance(self.default, int) else (high - low) / 100
        return {**shown, "type": type(self.default).__name__, "choices": list(self.choices)}

    def check(self, value: object) -> Scalar:
        """``value`` in this parameter's type.

        ContractError if it has another or is out of bounds.
        """
        if isinstance(self.default, bool | str):
            return self._choice(value)
        if isinstance(value, bool) or not _finite(value):
            raise ContractError(gettext_noop(
                "need {name} to be a number, got {value}", name=self.name, value=repr(value)
            ))  # fmt: skip
        low, high = self.bounds
        if not low <= value <= high:
            raise ContractError(gettext_noop(
                "need {low} <= {name} <= {high}, got {value} (field {title})", low=f"{low:.10g}",
                name=self.name, high=f"{high:.10g}", value=f"{value:.10g}", title=repr(self.title),
            ))  # fmt: skip
        if isinstance(self.default, int):
            if value != int(value):
                raise ContractError(f"need {self.name} to be a whole number, got {value:.10g}")
            return int(value)
        return float(value)

    def check_step(self, value: Scalar) -> None:
        """Raise :class:`ContractError` where a value that was checked is between two steps."""
        if self.stride == 1 or not isinstance(value, int):
            return
        low, high = self.bounds
        if beyond := (value - low) % self.stride:
            near = (value - beyond, value - beyond + self.stride)
            raise ContractError(
                f"need {self.name} in steps of {self.stride} from {low:.10g}, got {value}; "
                f"take {' or '.join(f'{each:.10g}' for each in near if each <= high)} "
                f"(field {self.title!r})"
            )

    def _choice(self, value: object) -> Scalar:
        if self.names:
            check_name(self.names.removesuffix("s"), value)
            return str(value)
        allowed = (False, True) if isinstance(self.default, bool) else self.choices
        for choice in allowed:
            if type(value) is type(choice) and value == choice:
                return choice
        raise ContractError(
            f"need {self.name} to be one of {', '.join(map(str, allowed))}, got {value!r}"
        )


def parameters_of(tables: Mapping[str, Mapping[str, Any]]) -> tuple[Parameter, ...]:
    """The parameters by their names, as a file of TOML has them."""
    return tuple(
        Parameter(name=name, **{**facts, "choices": tuple(facts.get("choices", ()))})
        for name, facts in tables.items()
    )


def settle(
    parameters: Sequence[Parameter], values: Mapping[str, object], *, on_step: bool = False
) -> dict[str, Scalar]:
    """Every parameter with its checked value; the default where ``values`` has none.

    Args:
        on_step: refuse an int between two steps too.

    Raises:
        ContractError: a value that its parameter does not take, or a name that none has.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in known:
            offered = ", ".join(known) or gettext_noop("it takes none")
            raise ContractError(f"no parameter {name!r}; offered: {offered}")
    settled = {name: p.check(values.get(name, p.default)) for name, p in known.items()}
    if on_step:
        for parameter in parameters:
            parameter.check_step(settled[parameter.name])
    return settled


def as_record(record: Callable[..., Record], values: Mapping[str, Scalar]) -> Record:
    """Settled values as a record that has a field of the right type for each parameter."""
    return record(**values)


def check_name(kind: str, name: Any) -> None:
    """Raise :class:`ContractError` unless ``name`` is a name for a ``kind`` of thing.

    A scoring may have the name of a formula; see :func:`is_formula`.
    """
    if kind == "scoring" and is_formula(name):
        return
    if not isinstance(name, str) or not _NAME.match(name):
        raise ContractError(
            f"a {kind}'s name is 1 to 40 of a-z, 0-9 and _, starting with a letter; got {name!r}"
        )


def is_formula(name: object) -> bool:
    """Whether this names a scoring by its formula: ``=``, and at most 300 characters behind it.

    Whether these are a formula, :mod:`attention_plugins.formula` says.
    """
    return isinstance(name, str) and bool(_FORMULA.match(name))


def check_texts(record: Any, kind: str, fields: Sequence[str]) -> None:
    """Raise :class:`ContractError` unless the fields hold text, and the title some."""
    # Pages get all records in one JSON: what does not fit there would cost them all.
    for field in fields:
        if not isinstance(getattr(record, field, ""), str):
            got = type(getattr(record, field)).__name__
            raise ContractError(f"{kind} {record.name!r}: need {field} to be a str, got {got}")
    if not record.title:
        raise ContractError(f"{kind} {record.name!r} needs a title")


def check_record(record: Any, kind: str, make: str = "build") -> None:
    """Raise :class:`ContractError` unless all fields are what their names say.

    Args:
        kind: what messages call the record.
        make: the field that holds the callable.
    """
    check_name(kind, record.name)
    check_texts(record, kind, ("title", "formula", "reference", "description"))
    if not callable(getattr(record, make)):
        raise ContractError(f"{kind} {record.name!r}: {make} must be callable")
    if not isinstance(getattr(record, "same_size", False), bool):
        raise ContractError(f"{kind} {record.name!r}: same_size is True or False")
    parameters = getattr(record, "parameters", ())
    if not isinstance(parameters, tuple) or not all(
        isinstance(parameter, Parameter) for parameter in parameters
    ):
        raise ContractError(f"{kind} {record.name!r}: parameters is a tuple of Parameter")
    meant = getattr(record, "tasks", TASKS)
    if not isinstance(meant, tuple) or not meant or not set(meant) <= set(TASKS):
        raise ContractError(
            f"{kind} {record.name!r}: need tasks to be some of {', '.join(TASKS)}, got {meant!r}"
        )
    tasks = [task for task in TASKS if kind == "model" or task not in _WITHOUT_DATA]
    if getattr(record, "task", tasks[0]) not in tasks:
        raise ContractError(
            f"{kind} {record.name!r}: need task to be one of {', '.join(tasks)}, "
            f"got {record.task!r}"
        )
    names = [parameter.name for parameter in parameters]
    if len(set(names)) != len(names):
        raise ContractError(f"{kind} {record.name!r} has two parameters of one name: {names}")


def check_sentences(record: Any, kind: str) -> None:
    """Raise :class:`ContractError` unless ``examples`` is a tuple of sentences."""
    given = record.examples
    if not isinstance(given, tuple) or not all(
        isinstance(sentence, str) and sentence.strip() for sentence in given
    ):
        raise ContractError(
            f"{kind} {record.name!r}: examples is a tuple of sentences, got {given!r:.60}"
        )


def _finite(value: object) -> TypeGuard[int | float]:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # an int beyond every float
        return False
