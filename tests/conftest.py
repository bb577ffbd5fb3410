"""What all tests share: one home of their own, and no path out of it."""

from __future__ import annotations

import os

import pytest

# Processes that tests start must not crowd a small machine's cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory):
    """Downloads and runs of the tests go to a folder of their own, never to the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("ATTENTION_PLUGINS", "ATTENTION_CHECKPOINTS", "ATTENTION_TATOEBA"):
            patch.delenv(name, raising=False)
        yield
