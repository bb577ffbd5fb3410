"""The process in which strangers' code is checked: ``python -m attention_plugins.checking.child``.

What it finds leaves as lines of JSON on the stream that was its standard output; a plugin's
``print`` goes to standard error instead.
"""

import json
import os
import sys
from dataclasses import asdict
from typing import Any

import torch

from attention_plugins.checking.findings import BESIDE, TRYING, findings
from attention_plugins.checking.package import contents
from attention_plugins.contract import ContractError
from attention_plugins.registry import load

# What no rule needs and what a machine with others on it can spare, in bytes.
_MEMORY = 6 << 30


def main(package: str, first: int) -> None:
    """Check the records of a package from the one numbered ``first`` on."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # as long as the process

    def say(what: str, **facts: Any) -> None:
        print(json.dumps({"say": what, **facts}), file=stream, flush=True)

    torch.set_num_threads(1)  # the rules' tensors are far too small for more
    _limit_memory()
    load(allow=[])  # what is slow to import and nobody's fault, before the clock is set
    say("ready")
    try:
        found = contents(package)
    except ContractError as error:
        say("refused", message=str(error))
        return
    say(
        "found",
        records=[{"kind": offer.kind, "name": offer.spec.name} for offer in found.offers],
        faults=[fault._asdict() for fault in found.faults],
    )
    BESIDE.set({(offer.kind, offer.spec.name): offer.spec for offer in found.offers})
    TRYING.set(lambda what: say("trying", tried=what))
    for number, offer in enumerate(found.offers[first:], start=first):
        say("record", number=number)
        for finding in findings(*offer, on_rule=lambda rule: say("rule", rule=rule)):
            say("finding", **asdict(finding))
    say("done")


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
