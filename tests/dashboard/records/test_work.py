import pytest

from dashboard.records.request import about


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "about 1 s"), (11, "about 10 s"), (54, "about 45 s"), (56, "about 1 minute"),
        (119, "about 2 minutes"), (89 * 60, "about 89 minutes"), (3 * 3600, "about 3 hours"),
        (3, "about 3 s"), (37, "about 30 s"), (100, "about 2 minutes"), (90 * 60, "about 2 hours"),
    ],
)  # fmt: skip
def test_a_duration_is_said_roughly(seconds, words):
    assert about(seconds) == words
