from __future__ import annotations

import secrets

import pytest
from support.runs import page

from dashboard.storage.bundle import MB
from dashboard.storage.files import StorageError
from dashboard.storage.runs import Limits
from dashboard.ui.owner import run_store


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


def test_runs_lie_in_the_data_folder_and_the_store_is_opened_once(home):
    kept = run_store().keep(page())
    assert (home / "runs" / "runs.db").is_file()
    assert (home / "runs" / "blobs" / kept.digest).is_file()
    assert run_store() is run_store()


def test_settings_say_where_runs_lie(home, monkeypatch):
    monkeypatch.setenv("ATTENTION_DATABASE", f"sqlite:///{home / 'elsewhere.db'}")
    monkeypatch.setenv("ATTENTION_BLOBS", f"memory://runs-{secrets.token_hex(4)}")
    store = run_store()
    kept = store.keep(page())
    assert store.open(kept.id) == page()
    assert sorted(path.name for path in home.iterdir() if "db" in path.name)[0] == "elsewhere.db"
    assert not (home / "runs").exists()
    monkeypatch.delenv("ATTENTION_DATABASE")
    assert run_store().all() == []


def test_settings_say_how_much_is_stored(monkeypatch):
    for name, value in (
        ("RUNS", "3"), ("RUN_SPACE", "5"), ("RUN_SPACE_TOTAL", "7"), ("RUN_DAYS", "0.5"),
    ):  # fmt: skip
        monkeypatch.setenv(f"ATTENTION_{name}", value)
    assert run_store()._limits == Limits(runs=3, owner_bytes=5 * MB, total_bytes=7 * MB, days=0.5)


def test_a_store_that_could_not_be_opened_is_tried_again(home):
    (home / "runs").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="cannot write"):
        run_store()
    (home / "runs").unlink()
    assert run_store().all() == []


def test_the_password_of_the_database_is_not_printed(monkeypatch):
    from dashboard.settings import settings

    monkeypatch.setenv("ATTENTION_DATABASE", "postgresql://ada:rosebud@db.example/x")
    assert "rosebud" not in repr(settings())
    assert "rosebud" not in settings().model_dump_json()
