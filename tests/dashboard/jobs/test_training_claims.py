"""No two servers have one training in their queues."""

import pytest

from dashboard.jobs.training_claims import Claims
from dashboard.records.request import Request
from dashboard.storage.training_folder import TrainingFolder

REQUEST = Request.make("training", model="bahdanau", scoring="dot", options={"pairs": 7})


def test_a_training_is_one_servers_until_it_is_released(tmp_path):
    first, second = (TrainingFolder.create(REQUEST, tmp_path) for _ in range(2))
    here, there = Claims(), Claims()
    for folder in (first, second):
        here.take(folder)
        with pytest.raises(ValueError, match="another server has this training"):
            there.take(folder)
    here.release(first.id)
    here.release(first.id)  # nothing happens
    there.take(first)
    here.release_all()
    there.take(second)
    assert first.held()
    assert second.held()
    there.release_all()
    assert not first.held()
