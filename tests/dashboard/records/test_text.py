import pytest

from dashboard.records.text import lines, without_folders


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", ""), (" a \r\nb\n\n", "a \nb"), ("a\tb\x00c\u202ed", "a b c d"), ("a\u2028b", "a\nb"),
        ("\ud800x", "x"), ("é œ", "é œ"),
    ],
)  # fmt: skip
def test_lines_hold_nothing_invisible_but_their_breaks(text, seen):
    assert lines(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("cannot write /srv/my.data-1/runs/a.db: full", "cannot write …/a.db: full"),
        ("File \"/home/ada/lab/kernel.py\", line 7", "File \"…/kernel.py\", line 7"),
        ("[Errno 2] No such file: '/data/blobs/00ff'", "[Errno 2] No such file: '…/00ff'"),
        (r"no C:\Users\ada\lab\a.csv here", "no …/a.csv here"),
        ("1/2 of a/b/c at https://lab.example/a/b/c", "1/2 of a/b/c at https://lab.example/a/b/c"),
        ("", ""),
    ],
)  # fmt: skip
def test_of_a_path_on_this_machine_only_the_files_name_stays(text, seen):
    assert without_folders(text) == seen
