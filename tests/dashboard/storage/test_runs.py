"""The store of runs, each test on SQLite with a folder and on PostgreSQL with another store."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import sqlalchemy as sa
from support.runs import page, panel

from dashboard.records.request import Request
from dashboard.storage import page_run
from dashboard.storage.files import BundleError, StorageError
from dashboard.storage.run import Description, Provenance, panels
from dashboard.storage.run import runs as table
from dashboard.storage.runs import Limits


def files(store):
    return {name for name, _ in store._contents.names()}


def change(store, id, /, **columns):
    """Damage a record behind the store's back."""
    with store._database.writing() as connection:
        connection.execute(sa.update(table).where(table.c.id == id).values(**columns))


def test_what_is_kept_is_found_again_by_another_server(runs, opened_runs):
    before = time.time()
    kept = runs.keep(page(), source="regression", owner="ada")
    other = opened_runs()
    assert other.find(kept.id) == kept
    assert other.open(kept.id) == page()
    assert other.packed(kept.id) == page_run.write(page())
    assert other.picture(kept) == page().picture
    assert len(kept.id) == 32
    assert (kept.name, kept.note, kept.link) == ("one", page().note, page().link)
    assert (kept.origin, kept.source, kept.owner) == ("kept", "regression", "ada")
    assert kept.bytes == len(page_run.write(page())) + len(page().picture)
    assert before <= kept.created <= time.time()
    assert kept.expires is None


def test_every_panel_is_recorded_with_what_computed_it(runs):
    made = panel(
        3, device="cpu", torch="2.13.0", plugins={"some-plugin": "1.2"}, data_sha256="ab",
        environment={"contract": "1.1", "threads": 5, "commit": "c0ffee"},
    )  # fmt: skip
    kept = runs.keep(page(panels=(made, panel(5))))
    first, second = runs.panels(kept.id)
    assert first.request == made.request.to_json()
    assert (first.task, first.seed, second.seed) == ("regression", 3, 5)
    assert first.plugins == {"some-plugin": "1.2"}
    assert (first.device, first.torch, first.contract) == ("cpu", "2.13.0", "1.1")
    assert (first.threads, first.commit, first.data_sha256) == (5, "c0ffee", "ab")
    assert runs.panels("0" * 32) == []


def test_a_file_that_is_added_gets_an_id_of_its_own(runs):
    kept = runs.keep(page())
    added = runs.add(
        page_run.write(page()), Description.of(page()), b"",
        Provenance(origin="imported", source="from-a-friend.zip" * 100),
    )  # fmt: skip
    assert added.id != kept.id
    assert (added.origin, added.picture) == ("imported", "")
    assert added.source.startswith("from-a-friend.zip")
    assert runs.open(added.id) == runs.open(kept.id)


def test_the_newest_is_first_and_each_owner_sees_their_own(runs):
    ids = [runs.keep(page(str(n)), owner="ada" if n else "bob").id for n in range(3)]
    assert [kept.id for kept in runs.all()] == ids[::-1]
    assert [kept.id for kept in runs.all("ada")] == [ids[2], ids[1]]
    assert runs.all("nobody") == []


def test_equal_runs_share_their_files_until_both_are_deleted(runs):
    first, second = runs.keep(page()), runs.keep(page())
    assert files(runs) == {first.digest, first.picture}
    runs.delete(first.id)
    assert runs.open(second.id) == page()
    assert runs.picture(second) == page().picture
    runs.delete(second.id)
    assert files(runs) == set()
    assert runs.all() == []
    assert runs.panels(second.id) == []
    runs.delete(second.id)


def test_a_run_is_deleted_by_its_owner_alone(runs):
    kept = runs.keep(page(), owner="ada")
    for other in ("bob", ""):
        with pytest.raises(StorageError, match="belongs to somebody else"):
            runs.delete(kept.id, other)
    assert runs.find(kept.id) == kept
    runs.delete(kept.id, "ada")
    assert runs.all() == []


@pytest.mark.parametrize(
    "id",
    ["", "x", "../../etc/passwd", "0" * 31, "0" * 33, "0" * 32, "A" * 32, "0" * 32 + "\n", "\0"],
)
def test_an_id_that_is_none_is_named(runs, id):
    with pytest.raises(KeyError, match="no run"):
        runs.find(id)
    with pytest.raises(KeyError):
        runs.open(id)


def test_a_copy_has_another_name_and_leaves_the_run_as_it_was(runs):
    first = runs.keep(page(), source="regression", owner="ada")
    second = runs.copy(first.id, name="two", note="", owner="bob")
    assert runs.find(first.id) == first
    assert runs.open(second.id) == replace(page(), name="two", note="")
    assert (second.parent, second.owner, first.parent) == (first.id, "bob", "")
    assert (second.name, second.origin, second.source) == ("two", "kept", "regression")
    assert runs.panels(second.id) == runs.panels(first.id)
    with pytest.raises(BundleError, match="name of one line"):
        runs.copy(first.id, name="two\nlines", note="")
    assert len(runs.all()) == 2


def test_a_run_may_get_another_name_and_note_from_its_owner(runs):
    first = runs.keep(page(), source="regression", owner="ada")
    other = runs.keep(page(), owner="ada")
    runs.rename(first.id, name="two", note="why", owner="ada")
    renamed = first.model_copy(update={"name": "two", "note": "why"})
    assert {one.id: one for one in runs.all()} == {first.id: renamed, other.id: other}
    assert runs.open(first.id) == replace(page(), name="two", note="why")
    runs.rename(first.id, name="three", note="")
    with pytest.raises(StorageError, match="somebody else"):
        runs.rename(first.id, name="mine", note="", owner="bob")
    with pytest.raises(BundleError, match="name of one line"):
        runs.rename(first.id, name="two\nlines", note="", owner="ada")
    with pytest.raises(KeyError, match="no run"):
        runs.rename("0" * 32, name="two", note="", owner="ada")
    assert runs.find(first.id).name == "three"


def test_a_copy_of_an_imported_run_stays_imported(runs):
    added = runs.add(
        page_run.write(page()), Description.of(page()), b"",
        Provenance(origin="imported", source="a.zip"),
    )  # fmt: skip
    assert runs.copy(added.id, name="mine", note="").origin == "imported"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"created": -1.0}, "created"), ({"created": 1e300}, "created"),
        ({"created": float("inf")}, "created"),
        ({"expires": 1e300}, "expires"), ({"origin": "elsewhere"}, "origin"),
        ({"digest": "../../x"}, "digest"), ({"digest": ""}, "digest"),
        ({"digest": "0" * 64}, "file is missing"), ({"picture": "x"}, "picture"),
        ({"name": ""}, "name"), ({"name": "x" * 9999}, "name"), ({"note": "x" * 9999}, "note"),
        ({"bytes": -1}, "bytes"), ({"parent": "x"}, "parent"), ({"id": "3"}, "id"),
    ],
)  # fmt: skip
def test_a_damaged_record_costs_only_itself(runs, columns, reason):
    kept, bad = runs.keep(page()), runs.keep(page("bad", seed=3))
    with runs._database.writing() as connection:
        connection.execute(sa.delete(panels).where(panels.c.run == bad.id))
    change(runs, bad.id, **columns)
    found, damaged = runs.scan()
    assert [one.id for one in found] == [kept.id]
    ((id, why),) = damaged
    assert id == columns.get("id", bad.id)
    assert reason in why
    if "id" not in columns:
        with pytest.raises(StorageError, match=r"damaged|missing"):
            runs.open(bad.id)
    runs.delete(id)
    assert runs.scan() == ([kept], [])
    assert runs.open(kept.id) == page()


def test_the_database_refuses_a_record_of_wrong_types(runs):
    kept = runs.keep(page())
    for column in ("created", "bytes", "expires"):
        with pytest.raises(StorageError, match="cannot be used"):
            change(runs, kept.id, **{column: sa.literal("yesterday", sa.Text)})
    with pytest.raises(StorageError, match="cannot be used"):
        change(runs, kept.id, name=None)
    assert runs.all() == [kept]


@pytest.mark.parametrize(
    "columns", [{"plugins": "{"}, {"plugins": "[]"}, {"threads": -1}, {"task": "x" * 999}]
)
def test_a_damaged_record_of_a_panel_is_said(runs, columns):
    kept = runs.keep(page())
    with runs._database.writing() as connection:
        connection.execute(sa.update(panels).values(**columns))
    with pytest.raises(StorageError, match="record of a panel is damaged"):
        runs.panels(kept.id)
    assert runs.all() == [kept]


def test_a_file_that_was_changed_or_lost_is_not_shown_and_is_kept_anew(runs):
    kept = runs.keep(page())
    runs._contents._files.pipe_file(kept.digest, page_run.write(page("forged")))
    with pytest.raises(StorageError, match="changed"):
        runs.open(kept.id)
    runs._contents.remove(kept.digest)
    with pytest.raises(StorageError, match="missing"):
        runs.packed(kept.id)
    runs._contents.remove(kept.picture)
    assert runs.picture(kept) == b""
    second = runs.keep(page())
    assert runs.open(kept.id) == runs.open(second.id) == page()


def test_beyond_its_room_nothing_is_kept_and_nothing_lost(opened_runs):
    room = len(page_run.write(page())) + len(page().picture) + 10
    for limits, variable in (
        (Limits(total_bytes=room), "ATTENTION_RUN_SPACE_TOTAL"),
        (Limits(owner_bytes=room), "ATTENTION_RUN_SPACE"),
        (Limits(runs=1), "ATTENTION_RUNS"),
    ):
        small = opened_runs(limits=limits)
        kept = small.keep(page(), owner="ada")
        with pytest.raises(StorageError, match=rf"\({variable}\); delete some"):
            small.keep(page("another", seed=5), owner="ada")
        assert small.all() == [kept]
        assert files(small) == {kept.digest, kept.picture}
        small.delete(kept.id)


def test_room_may_be_filled_to_the_last_byte(opened_runs):
    room = len(page_run.write(page())) + len(page().picture)
    full = opened_runs(limits=Limits(total_bytes=room, owner_bytes=room))
    kept = full.keep(page())
    assert full.all() == [kept]


def test_one_owner_takes_no_room_from_another(opened_runs):
    small = opened_runs(limits=Limits(runs=1))
    small.keep(page(), owner="ada")
    small.keep(page(), owner="bob")
    assert len(small.all()) == 2


def test_expired_runs_are_gone_and_make_room(opened_runs, monkeypatch):
    short = opened_runs(limits=Limits(runs=1, days=2))
    kept = short.keep(page())
    assert kept.expires == pytest.approx(kept.created + 2 * 86_400)
    assert short.all() == [kept]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 86_400 + 60)
    assert short.all() == []
    with pytest.raises(KeyError, match="no run"):
        short.find(kept.id)
    newer = short.keep(page("newer", seed=5))
    assert short.all() == [newer]


def test_what_a_runs_requests_and_its_link_name_is_needed(runs):
    first, second = ("upload:" + digit * 64 for digit in "12")
    asked = replace(panel(), request=Request.make("regression", data=first))
    runs.keep(page(panels=(asked,), link=f"/regression?data={second}"))
    runs.keep(page("of no upload"))
    assert runs.uploads() == {"1" * 64, "2" * 64}


def test_a_sweep_that_fails_costs_no_run(runs, monkeypatch):
    def fail(_now):
        raise StorageError("the store is gone")

    monkeypatch.setattr(runs._sweep, "run", fail)
    kept = runs.keep(page())
    assert runs.all() == [kept]


def test_what_a_sweep_removes_before_the_record_is_written_anew(runs, monkeypatch):
    """The file of an old run is found whole, removed by a sweep, and then named by a record."""
    put = runs._contents.put
    seen = []

    def swept_after(data):
        digest = put(data)
        if digest not in seen:
            seen.append(digest)
            runs._contents.remove(digest)
        return digest

    monkeypatch.setattr(runs._contents, "put", swept_after)
    kept = runs.keep(page())
    assert runs.open(kept.id) == page()
    assert runs.picture(kept) == page().picture
