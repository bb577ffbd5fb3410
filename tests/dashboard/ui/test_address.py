import pytest

from dashboard.ui.figure_parts import is_local


@pytest.mark.parametrize(
    "link",
    ["http://localhost:8501/x", "http://127.0.0.2/", "http://[::1]:8501/", "https://10.1.2.3/x",
     "http://gpu-7:8501/", "http://mine.local/", "http://a.localhost/", "/regression?a=x", ""],
)  # fmt: skip
def test_addresses_of_one_machine_or_network_are_local(link):
    assert is_local(link)


@pytest.mark.parametrize(
    "link", ["https://example.org/?a=x", "http://8.8.8.8:8501/", "https://localhost.example.org/"]
)
def test_addresses_that_others_can_follow_are_not(link):
    assert not is_local(link)
