"""What a worker computes: it alone may import torch."""

import pyarrow as pa
import torch

from attention_plugins.contract import settle
from attention_sharpness.task_offer import OPTIONS
from dashboard.records.request import Result


def perform(request, context):
    temperature = settle(OPTIONS, dict(request.options))["temperature"]
    weights = (torch.arange(5.0) / temperature).softmax(-1)
    return Result(tables={"weights": pa.table({"key": range(5), "weight": weights.tolist()})})
