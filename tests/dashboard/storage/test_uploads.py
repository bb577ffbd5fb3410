import hashlib
from contextlib import suppress

import pytest
from filelock import FileLock

from dashboard.storage import uploads
from dashboard.storage.files import StorageError
from dashboard.storage.uploads import (
    Room,
    Upload,
    Uploads,
    name_of,
    named_uploads,
    uploads_named_in,
)

MB = 2**20
ONE, TWO = "1" * 64, "2" * 64


@pytest.fixture
def of(tmp_path):
    return lambda owner: Uploads(owner, tmp_path)


def mb(owner, address=100, total=100):
    return Room(owner=owner, address=address, total=total)


def upload(digest=ONE, kind="table", size=3, when=5.0, address=""):
    return Upload(digest, f"{kind}.csv", kind, size, when, address)


def test_each_owner_has_their_own_the_newest_first(of):
    for one in (upload(), upload(TWO, when=7.0)):
        of("ada").add(one, mb(1))
    of("").add(upload(when=9.0), mb(1))
    assert [one.digest for one in of("ada").list()] == [TWO, ONE]
    assert [one.when for one in of("").list()] == [9.0]
    assert of("eve").list() == []


def test_they_are_listed_by_kind(of):
    of("ada").add(upload(), mb(1))
    of("ada").add(upload(kind="pairs"), mb(1))
    assert [one.name for one in of("ada").list("pairs")] == ["pairs.csv"]


def test_an_owner_has_so_many_megabytes_and_others_have_theirs(of):
    of("ada").add(upload(size=2 * MB), mb(3))
    with pytest.raises(ValueError, match=r"at most 3 MB in all, got 2\.0 MB and 1\.5 MB more"):
        of("ada").add(upload(TWO, size=3 * MB // 2), mb(3))
    assert [one.digest for one in of("ada").list()] == [ONE]
    of("eve").add(upload(TWO, size=3 * MB), mb(3))


def test_the_same_file_counts_once(of):
    of("ada").add(upload(size=2 * MB), mb(3))
    of("ada").add(upload(size=2 * MB, when=8.0), mb(3))
    of("ada").add(upload(size=2 * MB, kind="pairs"), mb(3))
    assert [one.kind for one in of("ada").list()] == ["table", "pairs"]


def test_a_file_that_somebody_else_has_stays(of):
    of("ada").add(upload(), mb(1))
    of("eve").add(upload(), mb(1))
    assert of("ada").remove(ONE) is False
    assert of("ada").list() == []
    assert of("eve").remove(ONE) is True


@pytest.mark.parametrize("text", ["", "[", "{}", "[3]", '[{"digest": "1"}]', "[[]]"])
def test_damaged_records_are_left_out(of, tmp_path, text):
    of("ada").add(upload(), mb(1))
    (path,) = (tmp_path / "uploads").glob("*.json")
    path.write_text(text)
    assert of("ada").list() == []
    of("ada").add(upload(TWO), mb(1))
    assert [one.digest for one in of("ada").list()] == [TWO]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ValueError, match=r"^cannot write .*; free some space there, or set"):
        Uploads("ada", blocked).add(upload(), mb(1))


def test_whoever_has_a_link_is_told_what_the_file_is_called(of, tmp_path):
    of("ada").add(Upload(ONE, "old.csv", "table", 3, 5.0), mb(1))
    of("eve").add(Upload(ONE, "new.csv", "table", 3, 7.0), mb(1))
    of("eve").add(Upload(ONE, "pairs.tsv", "pairs", 3, 9.0), mb(1))
    assert name_of(ONE, "table", tmp_path) == "new.csv"
    assert name_of(TWO, "table", tmp_path) == ""


def taken(of, visitors, room, size=10):
    """How many files of so many MB each of the visitors uploads, an owner and an address."""
    counts = []
    for owner, address in visitors:
        counts.append(0)
        with suppress(ValueError):
            while True:
                digest = hashlib.sha256(f"{owner} {counts[-1]}".encode()).hexdigest()
                of(owner).add(upload(digest, size=size * MB, address=address), room)
                counts[-1] += 1
    return counts


def test_new_owners_at_one_address_leave_half_of_the_room_to_others(of):
    room = mb(200, address=512, total=1024)
    cookies = [(f"cookie {number}", "there") for number in range(6)]
    assert taken(of, cookies, room) == [20, 20, 11, 0, 0, 0]
    assert taken(of, [("ada", "here"), ("bob", "home")], room) == [20, 15]


def test_owners_at_one_address_share_half_of_what_others_have_left(of):
    visitors = [("ada", "home"), ("bob", "school"), ("eve", "school")]
    assert taken(of, visitors, mb(1024, address=1024, total=1024)) == [51, 25, 0]


def test_a_file_that_one_has_may_be_of_another_kind_too(of):
    room = mb(100, total=100)
    of("ada").add(upload(size=40 * MB), room)
    of("eve").add(upload(TWO, size=40 * MB), room)
    of("ada").add(upload(size=40 * MB, kind="pairs"), room)
    assert len(of("ada").list()) == 2


def test_one_address_has_so_many_megabytes(of):
    room = mb(200, address=50, total=1024)
    assert taken(of, [("ada", "school"), ("eve", "school"), ("", "")], room) == [5, 0, 20]
    with pytest.raises(ValueError, match=r"at most 50 MB from your network, got 50\.0 MB"):
        of("eve").add(upload(size=MB, address="school"), room)


def test_the_first_file_of_an_owner_finds_the_room_that_is_left(of):
    room = mb(100, total=100)
    assert taken(of, [("ada", ""), ("eve", "")], room) == [5, 2]
    with pytest.raises(ValueError, match="30 MB are left on this server, and some of them are"):
        of("eve").add(upload(size=20 * MB), room)
    of("bob").add(upload(size=30 * MB), room)


def test_the_user_of_this_machine_leaves_nothing_to_others(of):
    assert taken(of, [("", "")], mb(100, total=100)) == [10]


def test_a_list_that_another_process_changes_is_waited_for_and_then_said(
    of, tmp_path, monkeypatch
):
    monkeypatch.setattr(uploads, "_SECONDS_FOR_LOCK", 0.01)
    of("ada").add(upload(), mb(1))
    (path,) = (tmp_path / "uploads").glob("*.json")
    with FileLock(path.with_suffix(".lock")):
        with pytest.raises(StorageError, match="is in use; try again"):
            of("ada").remove(ONE)
        of("eve").add(upload(), mb(1))
    assert [one.digest for one in of("ada").list()] == [ONE]


def test_an_upload_that_a_card_names_is_found_one_folder_below(tmp_path):
    for place in ("model/card.json", "model/notes.txt", "card.json"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(f'{{"data": "upload:{str(len(place) % 10) * 64}"}}')
    assert uploads_named_in(tmp_path) == {"5" * 64}


def test_those_of_an_older_version_have_no_address(of, tmp_path):
    of("ada").add(upload(), mb(1))
    (path,) = (tmp_path / "uploads").glob("*.json")
    path.write_text(path.read_text("utf-8").replace(', "address": ""', ""), "utf-8")
    assert of("ada").list() == [upload()]


def test_what_names_an_upload_is_read_from_links_and_requests():
    assert named_uploads(f"?data=upload%3A{ONE}&x=upload:{TWO}, upload:{'3' * 63}") == {ONE, TWO}
