"""Pages are written as files without a server and a browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime

from dashboard import command_line, publish
from dashboard.charts import export, one_file
from dashboard.storage.page_run import PageRun
from dashboard.storage.seen import Group, Text
from dashboard.ui import one_file as shown_file
from dashboard.ui import page_menu
from dashboard.ui.owner import run_store


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch, backend):
    """No server before or after, and a script that stands for Vega's."""
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    for name in ("ATTENTION_FREE_WORK", "ATTENTION_SESSION_GRACE"):
        monkeypatch.setenv(name, "6")
    monkeypatch.setattr(Runtime, "_instance", None)
    monkeypatch.setattr(export, "_javascript", lambda: "/* draws */")
    monkeypatch.setattr(one_file, "katex", lambda: "/* sets */")
    return backend


def content(file):
    text = file.read_text("utf-8")
    return json.loads(
        re.search(r'<script type="application/json".*?>(.*?)</script>', text, re.S)[1]
    )


def words(block):
    held = [block.get("text", ""), block.get("title", "")]
    return " ".join([*held, *map(words, block.get("blocks", ()))])


@pytest.mark.slow
def test_pages_go_into_a_folder_in_every_language(tmp_path, capsys):
    folder = tmp_path / "site"
    links = [
        "https://lab.example/regression?a=gaussian&a.width=0.5",
        "/translation?a=bahdanau.additive",
    ]
    assert (
        command_line.main(["publish", str(folder), *links, "--server", "https://x.example/"]) == 0
    )
    assert [file.name[:9] for file in sorted(folder.iterdir())] == [
        "01-kernel", "02-transl", "index.htm",
    ]  # fmt: skip
    found = content(next(folder.glob("01-*")))["editions"]
    assert list(found) == ["en", "zh"]
    assert found["en"]["link"] == "https://x.example/regression?a=gaussian&a.width=0.5"
    for name, title in (("en", "Kernel regression: Gaussian"), ("zh", "核回归：Gaussian")):
        assert found[name]["title"] == title
        assert found[name]["charts"]
        assert found[name]["tables"] or found[name]["seen"]
    assert "Side by side" not in words({"blocks": found["zh"]["seen"]})
    (said,) = content(folder / "index.html")["editions"]["en"]["seen"]
    assert "](01-kernel-regression-gaussian.html)" in said["text"]
    assert "0.00 MB" not in capsys.readouterr().out


@pytest.mark.slow
def test_the_course_is_a_file_for_each_lesson_with_its_answer(tmp_path):
    folder = tmp_path / "course"
    assert command_line.main(["publish", str(folder), "/lessons"]) in (0, 1)
    lessons = sorted(folder.glob("*lesson*.html"))
    assert lessons
    for file in lessons:
        said = words({"blocks": content(file)["editions"]["en"]["seen"]})
        assert ":material/check_circle:" in said
        assert ":material/cancel:" not in said


def test_a_page_in_parts_is_a_link_to_each_unless_one_is_named(monkeypatch, catalogue):
    known = SimpleNamespace(catalogue=lambda patience: catalogue if patience > 60 else None)
    monkeypatch.setattr(publish, "workbench", lambda: known)
    parts = {"lessons": [{"lesson": "1"}, {"lesson": "2"}]}
    monkeypatch.setattr(
        publish.navigation, "parts", lambda name, known, _: parts.get(name, [{}]) if known else []
    )
    links = ["https://x.example/lab/lessons", "/lessons?lesson=7", "/regression", "nowhere", "/"]
    assert [*publish._each(links)] == [
        "/lessons?lesson=1", "/lessons?lesson=2", "/lessons?lesson=7", "/regression", "/nowhere",
        "/",
    ]  # fmt: skip


def test_what_is_wrong_with_a_link_costs_that_file_alone(tmp_path, capsys):
    folder = tmp_path / "site"
    links = ["/nowhere", "/runs?id=" + "0" * 32, "/regression?a=gaussian"]
    assert command_line.main(["publish", str(folder), *links]) == 1
    said = capsys.readouterr().err
    assert "/nowhere: there is no such page" in said
    assert f"/runs?id={'0' * 32}: " in said
    assert len([*folder.iterdir()]) == 2


def test_a_page_that_is_not_complete_in_time_is_named(tmp_path, alone, capsys):
    alone.unfinished.add("gaussian")
    made = ["publish", str(tmp_path / "s"), "/regression?a=gaussian", "--patience", "0.1"]
    assert command_line.main(made) == 1
    assert "not complete in time" in capsys.readouterr().err


def test_a_kept_run_is_what_was_kept(tmp_path, backend, monkeypatch):
    from dashboard.records.request import Request, Result
    from dashboard.storage.bundle import Bundle

    seen = Group(blocks=(Text(kind="text", text="what was seen"),))
    panel = Bundle(request=Request.make("norms"), result=Result())
    kept = run_store().keep(PageRun(panels=(panel,), name="[x](http://evil) </script>", seen=seen))
    folder = tmp_path / "site"
    bench, closed = publish.workbench(), []
    monkeypatch.setattr(bench, "close", lambda: closed.append(True), raising=False)
    monkeypatch.setattr(publish, "workbench", lambda: bench)
    named = ["--server", "https://x.example/", "--title", "What we kept"]
    assert command_line.main(["publish", str(folder), f"/runs?id={kept.id}", *named]) == 0
    assert closed == [True]
    (file,) = folder.glob("01-*")
    assert content(file)["editions"]["en"]["link"] == f"https://x.example/runs?id={kept.id}"
    assert content(folder / "index.html")["editions"]["en"]["title"] == "What we kept"
    assert words({"blocks": content(file)["editions"]["en"]["seen"]}).strip() == "what was seen"
    (said,) = content(folder / "index.html")["editions"]["en"]["seen"]
    assert said["text"].startswith("- [\\[x\\]\\(http")


@pytest.mark.parametrize("same", [True, False])
def test_a_kept_page_has_its_sliders_while_it_gives_the_same_results(tmp_path, backend, same):
    path = "/regression?a=gaussian&a.width=0.5"
    shown_file.begin()
    kept = page_menu._page(shown_file.drawn(path, "en", 60), "mine", "as it was")
    panel = kept.panels[0]
    more = {"seconds": 7.0, "work_seconds": 7.0} if same else {"edited": True}
    backwards = reversed([*panel.result.facts.items()])
    other = replace(panel.result, facts={**dict(backwards), **more})
    kept = replace(kept, panels=(replace(panel, result=other), *kept.panels[1:]))
    run = run_store().keep(kept)
    folder = tmp_path / "site"
    assert command_line.main(["publish", str(folder), f"/runs?id={run.id}"]) == 0
    found = content(next(folder.glob("01-*")))["editions"]
    assert [*found] == (["en", "zh"] if same else ["en"])
    assert (found["en"]["title"], found["en"]["note"]) == ("mine", "as it was")
    sliders = [one for one in found["en"]["sliders"] if one["frames"] is not None]
    assert bool(sliders) == same
    assert found["en"]["charts"]
