"""What is raised where the contract is broken."""


class ContractError(ValueError):
    """A record, a parameter or a tensor that breaks the contract, in one sentence."""
