"""Fixtures of all tests of the dashboard; see :mod:`support`."""

import pytest
from streamlit import config
from support.catalogue import catalogue, distributions_are_scanned_once, facts
from support.charts import charts_are_validated_whole, painted, rows, survives
from support.pages import backend, chart_rows, opened
from support.spoken import chinese

__all__ = [
    "backend",
    "catalogue",
    "chart_rows",
    "charts_are_validated_whole",
    "chinese",
    "distributions_are_scanned_once",
    "facts",
    "opened",
    "painted",
    "rows",
    "survives",
]


@pytest.fixture(scope="session", autouse=True)
def _settings_beside_the_script(pytestconfig):
    """Streamlit reads its settings once, in whatever folder a test is that asks it first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pytestconfig.rootpath)
        config.get_config_options(force_reparse=True)
