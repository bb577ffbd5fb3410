from pathlib import Path

import pytest

from attention_plugins.home import home


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"ATTENTION_WORKBENCH_HOME": "/srv/kept", "XDG_DATA_HOME": "/data"}, "/srv/kept"),
        ({"XDG_DATA_HOME": "/data"}, "/data/attention-workbench"),
        ({"XDG_DATA_HOME": "relative"}, "/home/ada/.local/share/attention-workbench"),
        ({}, "/home/ada/.local/share/attention-workbench"),
    ],
)
def test_a_home_is_chosen_or_in_the_folder_of_data(monkeypatch, variables, expected):
    for name in ("ATTENTION_WORKBENCH_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ada", **variables}.items():
        monkeypatch.setenv(name, value)
    assert home() == Path(expected)
