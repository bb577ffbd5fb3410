"""How a regression's request attends: its scoring and its normaliser, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from attention_plugins import registry
from attention_plugins.contract import NormaliserSpec, Scalar, ScoringFactory, ScoringSpec
from attention_plugins.fitting import learned_values
from dashboard.features.regression.task_problem import DEFAULT_PROBLEM
from dashboard.language import gettext_noop
from dashboard.records.attending import SOFTMAX, normaliser_of
from dashboard.records.request import Request, is_upload

DEFAULT_MODEL = "nadaraya_watson"
_DEFAULT_SCORING = "gaussian"


class Asked(NamedTuple):
    """The records that a request names, and the values of the normaliser's parameters."""

    scoring: ScoringSpec
    normaliser: NormaliserSpec
    values: Mapping[str, Scalar]

    @property
    def titles(self) -> tuple[str, str]:
        """What both are called; empty for the softmax, which is not named."""
        usual = self.normaliser.name == SOFTMAX
        return self.scoring.title, "" if usual else self.normaliser.title

    def factory(self, parameters: Mapping[str, Scalar]) -> ScoringFactory:
        """What a model is given.

        Args:
            parameters: the scoring's.

        Raises:
            ContractError: the scoring takes no other normaliser.
        """
        return registry.installed().scoring_factory(
            self.scoring.name, parameters, self.normaliser.name, self.values
        )

    def learned(self, model: nn.Module) -> dict[str, float]:
        """The present values of both records' learnable parameters."""
        return learned_values(model, self.scoring.parameters, self.normaliser.parameters)

    def not_finite(self) -> ValueError:
        """What is raised where the numbers are not."""
        if self.normaliser.name == SOFTMAX:
            return ValueError(
                gettext_noop(
                    "scoring {scoring!r} gave NaN or infinite scores on these data; need finite "
                    "scores: scale x or change its parameters, and look for a division by "
                    "0, a root or logarithm of a negative number, or an overflow in its formula",
                    scoring=self.scoring.name,
                )
            )
        return ValueError(
            gettext_noop(
                "scoring {scoring!r} with normaliser {normaliser!r} gave NaN or infinite scores "
                "on these data; need finite scores: scale x or change its parameters, and "
                "look for a division by 0, a root or logarithm of a negative number, or an "
                "overflow in its formula",
                scoring=self.scoring.name, normaliser=self.normaliser.name,
            )
        )  # fmt: skip

    def provenance(self, request: Request) -> dict[str, Any]:
        """Facts on who brought what the result was made with."""
        installed = registry.installed()
        used = [
            ("models", request.model or DEFAULT_MODEL),
            ("scorings", self.scoring.name),
            ("normalisers", self.normaliser.name),
        ]
        if not is_upload(request.data):
            used.append(("datasets", request.data or DEFAULT_PROBLEM))
        plugins = [installed.provider(kind, name) for kind, name in used]
        return {
            "torch": str(torch.__version__),
            "plugins": {plugin.distribution: plugin.version for plugin in plugins},
        }


def read_asked(request: Request) -> Asked:
    """The scoring and the normaliser that a request names.

    Raises:
        ValueError: nothing of that name is installed, or the scoring is of no use here.
    """
    installed = registry.installed()
    scoring = installed.scoring(request.scoring or _DEFAULT_SCORING)
    given = dict(request.parameters)
    parts = [
        installed.scoring(str(given.get(parameter.name, parameter.default)))
        for parameter in scoring.parameters
        if parameter.names == "scorings"
    ]
    for each in (scoring, *parts):
        if "regression" not in each.tasks:
            raise ValueError(
                f"scoring {each.name!r} is for {' and '.join(each.tasks)}; points of a "
                "regression have no order: choose another"
            )
    name, values = normaliser_of(dict(request.options))
    return Asked(scoring, installed.normaliser(name), values)
