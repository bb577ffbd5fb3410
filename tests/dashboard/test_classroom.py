"""What a visitor may not do is refused where it would start, whatever buttons there are."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.features.runs import page as runs
from dashboard.features.runs.card import PROBLEM
from dashboard.pages import found
from dashboard.storage import files
from dashboard.storage.blobs import Blobs
from dashboard.storage.uploads import Upload, Uploads
from dashboard.ui import layout, navigation, owner, reloading, upload
from dashboard.visitors import NotAllowed, Visitor

HIDDEN = "display: none"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def known(monkeypatch):
    """Say who the visitor is."""

    def become(role="author", name="ada", **more):
        made = Visitor(owner=name, role=role, **more)
        monkeypatch.setattr(owner, "visitor", lambda: made)
        monkeypatch.setattr(owner, "owner", lambda: name)
        return made

    return become


def labels(app):
    return {one.label for one in app.button}


def under_folded(block, folded=False):
    """The keys of everything that lies in a place for controls."""
    found = set()
    for child in block.children.values():
        own = str(getattr(child.proto, "id", "") or "")
        key = getattr(child, "key", None) or own
        hidden = folded or layout.FOLDED in own
        found |= {key} if hidden and key else set()
        if hasattr(child, "children"):
            found |= under_folded(child, hidden)
    return found


def style(app):
    bodies = [one.proto.body for one in app.get("html")]
    return next((body for body in bodies if HIDDEN in body), "")


def test_a_classroom_opens_a_link_with_its_controls_folded_away(opened, known):
    known(classroom=True)
    app = opened("experiment", scorings="gaussian")
    assert not app.exception
    assert layout.FOLDED in style(app)
    inside = under_folded(app.main)
    assert "experiment-data" in inside
    assert "experiment-regression-figure" not in inside
    (toggle,) = [one for one in app.toggle if one.label == "Show the controls"]
    app = toggle.set_value(True).run()
    assert style(app) == ""


FOLDS = {"alignment", "attention_maps", "complexity", "experiment", "swaps", "training"}


def test_a_class_has_what_it_moves_chooses_and_types_in_sight(opened, known):
    """As the table of hosting.md says."""
    pages = {entry.name: navigation._module(entry.name).PAGE for entry in found()}
    assert {name for name, page in pages.items() if page.folds} == FOLDS
    titles = sorted(f"*{pages[name].title}*" for name in FOLDS)
    said = f"the controls of {', '.join(titles[:-1])} and {titles[-1]}; *Show the controls*"
    assert said in (ROOT / ".github/docs/hosting.md").read_text("utf-8")
    known(classroom=True)
    for name, widget in (("regression", "slider"), ("translation", "text_input")):
        app = opened(name)
        assert app.get(widget)
        assert not {one.key for one in app.get(widget)} & under_folded(app.main)
        assert style(app) == ""


@pytest.mark.parametrize("name", ["regression", "runs", "server", "training", "plugins"])
def test_no_page_names_a_setting_to_those_who_cannot_change_it(opened, known, backend, name):
    known(classroom=True)
    app = opened(name)
    assert not app.exception
    said = (*app.caption, *app.text, *app.markdown)
    assert not any("ATTENTION" in str(one.value) for one in said)
    assert not any("ATTENTION" in (one.help or "") for one in app.button)


@pytest.mark.parametrize("visitor", [{}, {"role": "administrator", "classroom": True}])
def test_nothing_is_folded_elsewhere_or_for_who_runs_it(opened, known, visitor):
    known(**visitor)
    app = opened("regression")
    assert style(app) == ""
    assert not [one for one in app.toggle if one.label == "Show the controls"]


def test_a_classroom_trains_nothing(opened, known, backend):
    known(classroom=True)
    app = opened("training")
    (train,) = [one for one in app.button if one.key == "train-start"]
    assert train.disabled
    assert any("Training is switched off on this server" in one.value for one in app.caption)
    said = [str(one.value) for one in (*app.text, *app.markdown)]
    assert not any("Press" in one or "Nothing trained yet" in one for one in said)
    assert "Trainings" not in {one.value for one in app.header}
    with pytest.raises(NotAllowed, match="is switched off on this server"):
        owner.trainings().start(None)


def test_a_classroom_starts_no_experiment_and_says_why(opened, known, backend):
    known(classroom=True)
    app = opened("experiment", task="translation")
    (train,) = [one for one in app.button if one.key == "experiment-train"]
    assert train.disabled
    assert "switched off on this server" in train.help


def test_a_classroom_takes_no_file(known):
    known(classroom=True)
    with pytest.raises(NotAllowed, match=r"^Uploading is switched off"):
        upload._stored("a.csv", b"1,2\n3,4\n", upload.TABLE)
    assert Uploads("ada").list() == []


def test_a_classroom_imports_no_bundle(known, monkeypatch):
    known(classroom=True)
    state = {runs._UPLOAD: SimpleNamespace(name="a.zip", getvalue=lambda: b"PK")}
    monkeypatch.setattr(runs, "st", SimpleNamespace(session_state=state))
    runs._start_import()
    assert "switched off on this server" in state[PROBLEM]
    assert runs._PENDING not in state


@pytest.mark.parametrize("visitor", [{"classroom": True}, {}, {"role": "visitor"}])
def test_only_an_administrator_reloads_plugins(opened, known, backend, visitor):
    known(**visitor)
    assert "Reload plugins" not in labels(opened("regression"))
    with pytest.raises(NotAllowed, match=r"^Reloading plugins is for administrators"):
        reloading.reload()
    assert backend.reloads == 0
    known("administrator")
    assert "Reload plugins" in labels(opened("regression"))


def test_an_upload_is_its_owners_and_counts_for_them(known, monkeypatch):
    monkeypatch.setenv("ATTENTION_UPLOADS_MEGABYTES", "1")
    known(name="ada of uploads")
    content = b"1,2\n" * 200_000
    data = upload._stored("a.csv", content, upload.TABLE)
    assert Blobs().path(data.removeprefix("upload:")).read_bytes() == content
    (one,) = Uploads("ada of uploads").list(upload.TABLE.key)
    assert (one.name, one.size) == ("a.csv", len(content))
    with pytest.raises(ValueError, match="need uploads of at most 1 MB in all"):
        upload._stored("b.csv", b"3,4\n" * 200_000, upload.TABLE)
    known(name="eve of uploads")
    upload._stored("b.csv", b"3,4\n" * 200_000, upload.TABLE)


@pytest.mark.parametrize("written", [0, 1], ids=["the first", "the second"])
def test_a_file_that_could_not_be_stored_does_not_count(known, monkeypatch, written):
    known(name=f"pat of {written} files")
    real, calls = files.replace, []

    def full(path, data):
        calls.append(path)
        if len(calls) == written + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace", full)
        with pytest.raises(ValueError, match="No space left on device; free some space there"):
            upload._stored("a.csv", b"1,2 of %d\n" % written, upload.TABLE)
    assert len(calls) > written
    assert Uploads(f"pat of {written} files").list() == []
    upload._stored("a.csv", b"1,2 of %d\n" % written, upload.TABLE)


def test_what_one_visitor_uploads_costs_another_nothing(known, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("ATTENTION_UPLOADS_TOTAL_MEGABYTES", "1")
    monkeypatch.setenv("ATTENTION_UPLOAD_DAYS", "0")
    known(name="ada of the first file")
    digest = upload._stored("a.csv", b"1,2\n" * 200_000, upload.TABLE).removeprefix("upload:")
    os.utime(tmp_path / "blobs" / digest, (1.0, 1.0))
    known(name="eve of the second")
    with pytest.raises(ValueError, match=r"^no room: all visitors' files .* may have 1 MB"):
        upload._stored("b.csv", b"3,4\n" * 200_000, upload.TABLE)
    assert Uploads("eve of the second").list() == []
    assert Blobs().path(digest)


def test_a_file_may_be_as_large_as_the_setting_says(known, monkeypatch):
    monkeypatch.setenv("ATTENTION_UPLOAD_MEGABYTES", "60")
    monkeypatch.setenv("ATTENTION_DATA_ROWS", "3")
    known(name="max of uploads")
    assert upload._stored("a.csv", b"1" * (55 * 2**20), upload.TABLE)


def test_too_many_lines_are_refused_by_the_limits_name(known, monkeypatch):
    known(name="kim of uploads")
    monkeypatch.setenv("ATTENTION_DATA_ROWS", "3")
    with pytest.raises(ValueError, match=r"at most 3 lines \(ATTENTION_DATA_ROWS\), got 4"):
        upload._stored("a.csv", b"1,2\n" * 4, upload.TABLE)
    assert Uploads("kim of uploads").list() == []
    upload._stored("a.csv", b"1,2\n" * 3, upload.TABLE)


def test_what_an_owner_removes_is_gone_unless_another_has_it(known):
    content = b"5,6\n7,8\n9,1\n"
    for name in ("one who removes", "another who keeps"):
        known(name=name)
        data = upload._stored("a.csv", content, upload.TABLE)
    digest = data.removeprefix("upload:")
    one = Upload(digest, "a.csv", upload.TABLE.key, len(content))
    known(name="one who removes")
    upload._remove(one)
    assert Blobs().path(digest)
    known(name="another who keeps")
    upload._remove(one)
    with pytest.raises(ValueError, match="is not kept here"):
        Blobs().path(digest)
