"""Logs are found below one folder, and nothing outside it is."""

import os

import pytest

from attention_plugins import log_attention
from attention_plugins.attention_log import INDEX, read_index
from dashboard.storage import attention_logs
from dashboard.storage.attention_logs import log_folder, log_index, logs, logs_root, written


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LOGS", str(tmp_path / "logs"))
    return tmp_path / "logs"


def log(folder, *steps):
    for step in steps:
        log_attention(folder, step, [[[0.5, 0.5]]])


def test_the_setting_names_the_folder(root, tmp_path, monkeypatch):
    assert logs_root() == root
    monkeypatch.delenv("ATTENTION_LOGS")
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    assert logs_root() == tmp_path / "logs"


def test_logs_come_newest_first_and_grow(root):
    assert logs() == []
    log(root / "old", 0)
    log(root / "new", 0, 10)
    os.utime(root / "old" / INDEX, (1, 1))
    (root / "nothing").mkdir()
    (root / "file").write_text("")
    assert logs() == ["new", "old"]
    assert [line["step"] for line in log_index("new").lines] == [0, 10]
    before = written("new")
    log(root / "new", 20)
    assert written("new") != before
    assert [line["step"] for line in log_index("new").lines] == [0, 10, 20]


def test_the_newest_are_offered_and_a_step_that_is_no_file_is_not(root, monkeypatch):
    monkeypatch.setattr(attention_logs, "_MOST", 2)
    for number, name in enumerate("bca", 1):
        log(root / name, 0, 10)
        lines = (root / name / INDEX).read_text("utf-8").splitlines(keepends=True)
        (root / name / INDEX).write_text("".join([*lines[:-2], lines[-1], lines[-2]]), "utf-8")
        os.utime(root / name / INDEX, (number, number))
    assert logs() == ["a", "c"]
    assert [line["step"] for line in log_index("b").lines] == [0, 10]
    (root / "c" / "step-000000010.safetensors").unlink()
    assert [line["step"] for line in log_index("c").lines] == [0]


@pytest.mark.parametrize(
    "text", ['{"step": 30, "by', '{"step": "../a"}', "[1]", "{}", '{"step": 30}', "[" * 10_000]
)
def test_an_index_is_read_as_its_writer_reads_it(root, text):
    log_attention(root / "a", 0, [[[0.5, 0.5]]])
    log_attention(root / "a", 10, [[[0.5, 0.5]]])
    assert attention_logs.INDEX == INDEX
    before = (root / "a" / INDEX).read_text("utf-8").replace('"left_out": 0', '"left_out": 7')
    (root / "a" / INDEX).write_text(before + text, "utf-8")
    theirs, ours = read_index(root / "a"), log_index("a")
    assert ours == (theirs.lines, theirs.left_out)
    assert [line["step"] for line in ours.lines] == [0, 10]
    assert ours.left_out == 7


@pytest.mark.parametrize("name", ["..", ".", "", "../outside", "link", "file-link", "a/b", "gone"])
def test_nothing_outside_is_read(root, tmp_path, name):
    log(tmp_path / "outside", 0)
    log(root / "own", 0)
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "file-link").mkdir()
    (root / "file-link" / INDEX).symlink_to(tmp_path / "outside" / INDEX)
    with pytest.raises(ValueError, match="there is no log"):
        log_folder(name)
    assert written(name) is None
    assert log_index(name).lines == ()
    assert logs() == ["own"]
