"""What the decorators ask of the functions that they turn into records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence

from torch import Tensor

from attention_plugins.contract.parameters import ContractError, Parameter


def check_arguments(
    kind: str,
    name: str,
    function: Callable[..., Tensor],
    positional: Sequence[str],
    parameters: Iterable[Parameter],
    needs: Iterable[str] = (),
) -> None:
    """See that a function takes what it will be given.

    Args:
        kind: what messages call it, such as ``"scoring"``.
        positional: names of the arguments that are passed by position, for the message.
        parameters, needs: what is passed by name.

    Raises:
        ContractError: it takes other arguments.
    """
    names = [*(parameter.name for parameter in parameters), *needs]
    try:
        inspect.signature(function).bind(*positional, **dict.fromkeys(names))
    except ValueError:
        return  # written in C, without a signature to look at
    except TypeError as error:
        takes = ", ".join((*positional, *names))
        raise ContractError(f"{kind} {name!r}: need a function of ({takes}): {error}") from None
