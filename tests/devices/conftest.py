"""Where the tests of this folder compute: on a device that is pretended, and on a GPU if asked."""

from __future__ import annotations

import pytest
import torch
from support.pretend_device import DEVICE, pretend_device

from attention_plugins import devices

_GPU = "cuda:0"


@pytest.fixture
def pretended(monkeypatch):
    """The strictest device, one without float64, as the only accelerator; what passes to it."""
    monkeypatch.setattr(devices, "_WITHOUT_DOUBLE", {"mps", DEVICE.partition(":")[0]})
    monkeypatch.setattr(devices, "available", lambda: ["auto", DEVICE, "cpu"])
    with pretend_device(wide=False) as traffic:
        yield traffic


@pytest.fixture(params=[DEVICE, pytest.param(_GPU, marks=pytest.mark.gpu)])
def device(request):
    """Each device that a test runs on: the pretended one, and the GPU with ``-m gpu``."""
    if request.param == DEVICE:
        request.getfixturevalue("pretended")
    elif not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return torch.device(request.param)
