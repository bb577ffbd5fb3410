"""The data of a regression: a data set that is installed, or a table that a user has uploaded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins import RegressionData, registry
from attention_plugins.contract import (
    ContractError,
    NormaliserSpec,
    Scalar,
    ScoringFactory,
    ScoringSpec,
    settle,
)
from attention_plugins.fitting import learned_values
from attention_plugins.regression import Prediction, check_data, predict
from dashboard.features.regression.task_table import (
    Skipped,
    as_regression,
    ordered,
    queried_rows,
    read_table,
)
from dashboard.language import gettext_noop
from dashboard.records.attending import SOFTMAX, normaliser_of
from dashboard.records.request import COLUMNS, UPLOAD, Request, is_upload
from dashboard.storage.blobs import Blobs
from dashboard.storage.table_format import TableError

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


_SAME = 1e-6  # of the largest weight
_NEAR, _FAR = 0.5, 2.0  # what points are multiplied by, one by one, to see whether it matters


def equal_weights(prediction: Prediction) -> float | None:
    """The weight that every query gives to every point; None where weights differ."""
    on_points = [weights for site, weights in prediction.weights.items()
                 if prediction.axes[site].queries == ("queries",)]  # fmt: skip
    if len(on_points) != 1:
        return None
    low, high = on_points[0].aminmax()
    return float(high) if _are_equal(low, high) else None


def remarks(weight: float | None, model: nn.Module, data: RegressionData) -> list[str]:
    """What to say of a map whose weights are equal; nothing of others.

    Args:
        weight: from :func:`equal_weights`.
        data: what the model predicted from.
    """
    if weight is None:
        return []
    said = [gettext_noop("All weights are equal: each is {weight}.", weight=f"{weight:.3g}")]
    if _sees_the_sign_alone(model, data):
        said.append(
            gettext_noop(
                "With one input this scoring sees only the sign of x, which is the same "
                "everywhere here."
            )
        )
    return said


def _sees_the_sign_alone(model: nn.Module, data: RegressionData) -> bool:
    """Whether weights stay equal at any distance from 0, and no longer beyond it."""
    if data.x.shape[1] != 1:
        return False
    size = torch.linspace(_NEAR, _FAR, len(data.x)).to(data.x)[:, None]
    half = torch.ones_like(size)
    half[::2] = -1
    moved, mirrored = (predict(model, data._replace(x=data.x * by), keep_weights=True)
                       for by in (size, half))  # fmt: skip
    return equal_weights(moved) is not None and equal_weights(mirrored) is None


def _are_equal(low: Tensor, high: Tensor) -> bool:
    return bool(high > 0) and bool(high - low <= _SAME * high)


DEFAULT_PROBLEM = "sine"
DATA_OPTION = "data."  # before the names of a problem's own parameters


class Problem(NamedTuple):
    """Data as read, x sorted where it is one number.

    Attributes:
        names: of the columns, the target's last.
        titles: names with units.
        sha256: of the content.
        skipped: rows of an uploaded table; None for a data set that is installed.
        rows: the number of each point's row in the table ``(n,)``; None where there is none.
        measured: y at the queries ``(m,)``, where these are rows of a table; else None.
    """

    data: RegressionData
    names: tuple[str, ...]
    titles: tuple[str, ...]
    sha256: str
    skipped: Skipped | None = None
    measured: Tensor | None = None
    rows: Tensor | None = None


def read_problem(request: Request) -> Problem:
    """The data set or the uploaded table that a request names.

    Raises:
        ValueError: it is not here or not of regression, a bad parameter, a faulty table.
    """
    settings = {
        name.removeprefix(DATA_OPTION): value
        for name, value in request.options
        if name.startswith(DATA_OPTION)
    }
    if is_upload(request.data):
        columns = str(dict(request.options).get(COLUMNS, ""))
        return _uploaded(request.data.removeprefix(UPLOAD), settings, columns)
    spec = registry.installed().dataset(request.data or DEFAULT_PROBLEM)
    if spec.task != "regression":
        raise ContractError(f"data set {spec.name!r} is for {spec.task}; need one for regression")
    data = spec.load(settle(spec.parameters, settings), request.seed)
    if not isinstance(data, RegressionData):
        raise ContractError(
            f"data set {spec.name!r} loaded {type(data).__name__}; need RegressionData"
        )
    check_data(data, spec.name)
    if data.x.shape[1] == 1:
        order = data.x[:, 0].argsort(stable=True)
        data = data._replace(x=data.x[order], y=data.y[order])
    digest = hashlib.sha256()
    for part in data:
        digest.update(b"" if part is None else part.double().numpy().tobytes())
    names = ("x",) if data.x.shape[1] == 1 else tuple(f"x{i + 1}" for i in range(data.x.shape[1]))
    return Problem(data, (*names, "y"), (*names, "y"), digest.hexdigest())


def _uploaded(digest: str, settings: Mapping[str, Scalar], columns: str) -> Problem:
    if settings:
        raise ContractError(f"an uploaded table has no option {DATA_OPTION + min(settings)!r}")
    try:
        path = Blobs().path(digest)
    except ValueError as error:
        raise TableError(str(error)) from error
    table = ordered(read_table(path, columns))
    data = as_regression(table)
    measured = data.y[queried_rows(data.x)] if data.x.shape[1] > 1 else None
    return Problem(data, table.names, table.titles, digest, table.skipped, measured, table.rows)


def moved(data: RegressionData, device: torch.device, dtype: torch.dtype) -> RegressionData:
    """The data on that device, in that type."""
    truth = None if data.truth is None else data.truth.to(device, dtype)
    x, y, queries = (part.to(device, dtype) for part in data[:3])
    return RegressionData(x, y, queries, truth)
