import pytest

from dashboard.storage.training_folder import TrainingLocks


@pytest.fixture
def locks(tmp_path):
    return TrainingLocks(tmp_path)


def test_one_server_holds_a_training_in_its_queue(locks, tmp_path):
    held = locks.hold()
    other = TrainingLocks(tmp_path)
    assert other.hold() is None
    held.release()
    assert other.hold() is not None


def test_to_look_whether_it_is_held_holds_it_no_longer(locks, tmp_path):
    assert not locks.held()
    held = TrainingLocks(tmp_path).hold()
    assert locks.held()
    held.release()
    assert not locks.held()
    assert not TrainingLocks(tmp_path / "gone").held()


def test_a_lock_is_held_by_one_and_free_again(locks):
    with locks.locked() as first, locks.locked() as second:
        assert (first, second) == (True, False)
        assert locks.busy()
    assert not locks.busy()
