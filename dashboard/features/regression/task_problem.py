"""The data of a regression: a data set that is installed, or a table that a user has uploaded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from attention_plugins import RegressionData, registry
from attention_plugins.contract import ContractError, Scalar, settle
from attention_plugins.regression import check_data
from dashboard.features.regression.task_table import (
    Skipped,
    as_regression,
    ordered,
    queried_rows,
    read_table,
)
from dashboard.records.request import COLUMNS, UPLOAD, Request, is_upload
from dashboard.storage.blobs import Blobs
from dashboard.storage.table_format import TableError

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
