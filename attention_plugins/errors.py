"""What is raised where the contract is broken, and what an error says in a line."""


class ContractError(ValueError):
    """A record, a parameter or a tensor that breaks the contract, in one sentence."""


def in_a_line(error: BaseException) -> str:
    """The first line of what an error says; its type's name where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
