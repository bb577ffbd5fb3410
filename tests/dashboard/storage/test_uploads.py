import pytest

from dashboard.storage.uploads import Upload, Uploads, name_of

MB = 2**20
ONE, TWO = "1" * 64, "2" * 64


@pytest.fixture
def of(tmp_path):
    return lambda owner: Uploads(owner, tmp_path)


def upload(digest=ONE, kind="table", size=3, when=5.0):
    return Upload(digest, f"{kind}.csv", kind, size, when)


def test_each_owner_has_their_own_the_newest_first(of):
    for one in (upload(), upload(TWO, when=7.0)):
        of("ada").add(one, 1)
    of("").add(upload(when=9.0), 1)
    assert [one.digest for one in of("ada").list()] == [TWO, ONE]
    assert [one.when for one in of("").list()] == [9.0]
    assert of("eve").list() == []


def test_they_are_listed_by_kind(of):
    of("ada").add(upload(), 1)
    of("ada").add(upload(kind="pairs"), 1)
    assert [one.name for one in of("ada").list("pairs")] == ["pairs.csv"]


def test_an_owner_has_so_many_megabytes_and_others_have_theirs(of):
    of("ada").add(upload(size=2 * MB), 3)
    with pytest.raises(ValueError, match=r"at most 3 MB in all, got 2\.0 MB and 1\.5 MB more"):
        of("ada").add(upload(TWO, size=3 * MB // 2), 3)
    assert [one.digest for one in of("ada").list()] == [ONE]
    of("eve").add(upload(TWO, size=3 * MB), 3)


def test_the_same_file_counts_once(of):
    of("ada").add(upload(size=2 * MB), 3)
    of("ada").add(upload(size=2 * MB, when=8.0), 3)
    of("ada").add(upload(size=2 * MB, kind="pairs"), 3)
    assert [one.kind for one in of("ada").list()] == ["table", "pairs"]


def test_a_file_that_somebody_else_has_stays(of):
    of("ada").add(upload(), 1)
    of("eve").add(upload(), 1)
    assert of("ada").remove(ONE) is False
    assert of("ada").list() == []
    assert of("eve").remove(ONE) is True


@pytest.mark.parametrize("text", ["", "[", "{}", "[3]", '[{"digest": "1"}]', "[[]]"])
def test_damaged_records_are_left_out(of, tmp_path, text):
    of("ada").add(upload(), 1)
    (path,) = (tmp_path / "uploads").glob("*.json")
    path.write_text(text)
    assert of("ada").list() == []
    of("ada").add(upload(TWO), 1)
    assert [one.digest for one in of("ada").list()] == [TWO]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ValueError, match=r"^cannot write .*; free some space there, or set"):
        Uploads("ada", blocked).add(upload(), 1)


def test_whoever_has_a_link_is_told_what_the_file_is_called(of, tmp_path):
    of("ada").add(Upload(ONE, "old.csv", "table", 3, 5.0), 1)
    of("eve").add(Upload(ONE, "new.csv", "table", 3, 7.0), 1)
    of("eve").add(Upload(ONE, "pairs.tsv", "pairs", 3, 9.0), 1)
    assert name_of(ONE, "table", tmp_path) == "new.csv"
    assert name_of(TWO, "table", tmp_path) == ""
