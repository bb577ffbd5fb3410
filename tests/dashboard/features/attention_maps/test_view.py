import pytest

from attention_plugins import log_attention
from dashboard.features.attention_maps.view import LINK, data, difference, request, steps

UPLOAD = "upload:" + "0a" * 32


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


def logged(home, *numbers):
    for step in numbers:
        log_attention(home / "logs" / "run", step, [[[0.5, 0.5]]])


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"source": "log:gone", "step": "0", "map": "2.mean", "site": "layers.*.attn"},
        {"source": UPLOAD, "example": "3", "queries": "a b", "keys": '["c", "d"]'},
        {"source": UPLOAD, "other": "log:run", "other_step": "20"},
    ],
)
def test_a_link_comes_back_as_it_was(link, catalogue):
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == link


@pytest.mark.parametrize(
    "link",
    [
        {"source": "log:../x"}, {"source": "/etc"}, {"other": "upload:1"}, {"map": "0.1"},
        {"step": "-2"}, {"example": "0"},
    ],
)  # fmt: skip
def test_what_is_refused_of_a_link_is_named(link, catalogue):
    view, (problem,) = LINK.parse(link, catalogue)
    assert LINK.format(view, catalogue) == {}
    assert next(iter(link)) in problem


def test_a_request_names_the_step_and_changes_when_it_is_written_again(home, catalogue):
    view, _ = LINK.parse({"source": "log:run"}, catalogue)
    assert request(view) is None
    logged(home, 0, 10)
    assert steps("log:run") == [0, 10]
    first = request(view)
    assert first is not None
    assert first.data.startswith("log:run@10@")
    assert data("log:run", 0).startswith("log:run@0@")
    logged(home, 10)
    assert request(view) != first
    logged(home, 20)
    assert request(view).data.startswith("log:run@20@")


def test_only_two_sources_make_a_difference(home, catalogue):
    logged(home, 0)
    view, _ = LINK.parse({"source": UPLOAD, "example": "2", "map": "1.1"}, catalogue)
    assert difference(view) is None
    view, _ = LINK.parse({"source": UPLOAD, "other": "log:run", "map": "1.1"}, catalogue)
    asked = difference(view)
    assert asked is not None
    assert dict(asked.options)["other"].startswith("log:run@0@")
    assert dict(asked.options)["map"] == "1.1"
