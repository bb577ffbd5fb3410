"""What the decorators ask of functions, and the modules that they make of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from attention_plugins.attention import NEEDS
from attention_plugins.contract.parameters import ContractError, Parameter, Scalar


class FunctionModule(nn.Module):
    """A plain function as a module; its learnable parameters become weights of one element.

    Attributes:
        function: what was decorated.
        fixed: the values of its other parameters, by name.
    """

    def __init__(
        self,
        function: Callable[..., Tensor],
        parameters: Sequence[Parameter],
        values: Mapping[str, Scalar],
    ) -> None:
        super().__init__()
        self.function = function
        self.fixed = {p.name: values[p.name] for p in parameters if not p.learnable}
        self._learnable = [p.name for p in parameters if p.learnable]
        # With a prefix, because a parameter may have the name of a module's method, such as half.
        for name in self._learnable:
            self.register_parameter(f"learned_{name}", nn.Parameter(torch.tensor(values[name])))

    @property
    def learned(self) -> dict[str, nn.Parameter]:
        """The learnable parameters by name, each of one element."""
        return {name: getattr(self, f"learned_{name}") for name in self._learnable}


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
        taken = inspect.signature(function).parameters if callable(function) else ()
        unasked = [need for need in NEEDS if need in taken]
        if kind == "scoring" and unasked and unasked[0] not in names:
            raise ContractError(
                f"scoring {name!r}: its function takes {unasked[0]}, but it does not ask for "
                f'them; write needs=("{unasked[0]}",) in @scoring'
            ) from None
        raise ContractError(f"{kind} {name!r}: need a function of ({takes}): {error}") from None
