"""What all tests share: a home of their own, no path out of it, and no plugin of others."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from importlib import metadata

import pytest
from hypothesis import settings
from support.warm_start import WarmPopen

from dashboard import limits

# A busy machine takes its time over an example; that is no fault of what is tested.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Processes that tests start must not crowd a small machine's cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# To rewrite the assertions of all tests takes as long as to import them: it is done once, also
# where the environment says that no bytecode is to be kept.
sys.dont_write_bytecode = False

if sys.platform == "linux":
    subprocess.Popen = WarmPopen

# Plugins that are installed where the tests run are no part of them; what a test installs is.
_GROUPS = ({"group": "attention_plugins"}, {"group": "attention_pages"})
_INSTALLED = frozenset(entry for group in _GROUPS for entry in metadata.entry_points(**group))
_entry_points = metadata.entry_points


def _without_installed(**parameters):
    found = _entry_points(**parameters)
    if parameters not in _GROUPS:
        return found
    return metadata.EntryPoints(entry for entry in found if entry not in _INSTALLED)


metadata.entry_points = _without_installed


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """As many processes as there are cores, since each collects all tests; 2 where one waits."""
    return max(2, limits.cores())


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory):
    """Downloads and runs of the tests go to a folder of their own, never to the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("ATTENTION_PLUGINS", "ATTENTION_CHECKPOINTS", "ATTENTION_TATOEBA"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(autouse=True)
def _nothing_defined():
    """A scoring that a test defines, as a notebook does, is no other test's."""
    yield
    registry = sys.modules.get("attention_plugins.registry")
    if registry is not None and registry._defined:
        registry._defined.clear()
        registry.installed.cache_clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """What is collected stays, so nobody need look there for what could be thrown away.

    Ten thousand tests are many objects: to go through them again and again took a tenth of all
    time.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """Let one of two processes collect from the end: each writes half of the bytecode for both."""
    outcome = yield
    if isinstance(collector, pytest.Directory) and os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        outcome.get_result().result.reverse()


def pytest_collection_modifyitems(items):
    """Bring what both collected into one order; within a file it is that of the file.

    What may take an hour begins first, so that no process is left alone with it at the end.
    """

    def order(item):
        limit = item.get_closest_marker("timeout")
        return not (limit and limit.args and limit.args[0] >= 3600), item.path

    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=order)
