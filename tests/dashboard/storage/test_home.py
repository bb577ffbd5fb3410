from pathlib import Path

import pytest

from dashboard.storage.files import folder_id


def test_a_folder_has_one_id_for_all_that_share_it_and_no_other_has_it(tmp_path):
    first, second = tmp_path / "new" / "first", tmp_path / "second"
    made = folder_id(first, make=True)
    assert len(made) == 32
    assert folder_id(first) == folder_id(first, make=True) == made
    assert folder_id(second, make=True) != made


def test_of_two_servers_that_make_an_id_at_once_the_first_wins(tmp_path, monkeypatch):
    first = folder_id(tmp_path, make=True)
    monkeypatch.setattr(Path, "is_file", lambda path: False)  # as the second sees it before
    folder_id(tmp_path, make=True)
    monkeypatch.undo()
    assert folder_id(tmp_path) == first
    assert len([*tmp_path.iterdir()]) == 1


def test_a_folder_that_nobody_gave_an_id_has_none_and_gets_none(tmp_path):
    assert folder_id(tmp_path) == ""
    assert not [*tmp_path.iterdir()]


def test_an_id_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        folder_id(tmp_path / "file", make=True)
