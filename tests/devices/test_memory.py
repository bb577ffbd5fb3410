"""What attention in blocks holds of a GPU's memory, forward and backward."""

import pytest
import torch

from attention_plugins.attention import Inputs, attend
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.contract import Sizes
from attention_plugins.registry import load

pytestmark = pytest.mark.gpu
SCORINGS = load(allow=[]).scorings
BATCH, SIZE = 4, 32


@pytest.fixture
def gpu():
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return torch.device("cuda:0")


def peak(device, work):
    """The most bytes that the work held beyond what was there before; done once before.

    A library takes its workspace at its first product: 32 MB on a large GPU.
    """
    work()
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    work()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before


# Scores are far more than what a library's workspaces may take.
@pytest.mark.parametrize(
    ("scoring", "length"), [("additive", 1024), ("alibi", 4096), ("gaussian", 4096)]
)
def test_blocks_hold_a_third_at_most(gpu, scoring, length):
    made = SCORINGS[scoring].create(Sizes(SIZE, SIZE, SIZE, value=SIZE)).to(gpu)
    parts = [torch.randn(BATCH, length, SIZE, device=gpu, requires_grad=True) for _ in range(3)]
    blocks = peak(gpu, lambda: attend_in_blocks(Inputs(made, *parts)).sum().backward())
    whole = peak(gpu, lambda: attend(made, *parts)[0].sum().backward())
    assert blocks < whole / 3
