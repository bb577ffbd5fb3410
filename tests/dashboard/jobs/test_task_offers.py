"""Options and metrics as a table beside a task's modules has them."""

from __future__ import annotations

import pytest

from attention_plugins.contract import ContractError, Parameter
from dashboard.jobs.task_offers import offered
from dashboard.records.parameter import Metric


def beside(folder, text):
    (folder / "offer.toml").write_text(text, "utf-8")
    return offered(str(folder / "task.py"))


def test_an_offer_has_its_parameters_and_metrics_in_the_order_of_the_file(tmp_path):
    options, metrics = beside(
        tmp_path,
        '[options.width]\ntitle = "Width"\ndefault = 2\nlow = 1\nhigh = 9\n'
        '[options.kind]\ntitle = "Kind"\ndefault = "b"\nchoices = ["a", "b"]\n'
        '[metrics.loss]\ntitle = "Loss"\nunit = "nats"\nbetter = "lower"\n',
    )
    width = Parameter(name="width", title="Width", default=2, low=1, high=9)
    kind = Parameter(name="kind", title="Kind", default="b", choices=("a", "b"))
    assert options == (width, kind)
    assert metrics == (Metric(name="loss", title="Loss", unit="nats", better="lower"),)


def test_an_option_that_is_no_parameter_is_refused(tmp_path):
    with pytest.raises(ContractError, match="needs low < high"):
        beside(tmp_path, '[options.width]\ntitle = "Width"\ndefault = 2\n')
