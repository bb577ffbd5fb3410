"""Texts in the language that is spoken, with their values."""

import polib
import pytest

from dashboard import language
from dashboard.language import catalogues, gettext, gettext_noop, ngettext, translated


@pytest.fixture
def chinese(tmp_path, monkeypatch):
    """A catalogue of three texts, and somebody who reads it."""
    made = polib.POFile()
    made.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    made.append(polib.POEntry(msgid="Copy link", msgstr="复制链接"))
    made.append(polib.POEntry(msgid="and {count:,} more", msgstr="还有 {count:,} 个"))
    made.append(
        polib.POEntry(
            msgid="{count} head of {model}", msgid_plural="{count} heads of {model}",
            msgstr_plural={0: "{model} 的 {count} 个注意力头"},
        )
    )  # fmt: skip
    made.save(str(tmp_path / "zh.po"))
    monkeypatch.setattr(catalogues, "files", lambda spoken: [tmp_path / f"{spoken}.po"])
    catalogues.catalogue.cache_clear()
    language.follow(lambda: "zh")
    yield
    language.follow(lambda: language.ENGLISH)
    catalogues.catalogue.cache_clear()


def test_english_is_what_stands_in_the_code():
    assert gettext("Copy link") == "Copy link"
    assert gettext("and {count:,} more", count=1200) == "and 1,200 more"
    assert gettext("a {brace} without values") == "a {brace} without values"
    assert [ngettext("{count} head", "{count} heads", n) for n in (1, 2)] == ["1 head", "2 heads"]
    assert translated("Copy link") == "Copy link"


@pytest.mark.usefixtures("chinese")
def test_another_language_comes_from_its_catalogue():
    assert gettext("Copy link") == "复制链接"
    assert gettext("and {count:,} more", count=1200) == "还有 1,200 个"
    heads = [
        ngettext("{count} head of {model}", "{count} heads of {model}", n, model="m")
        for n in (1, 2)
    ]
    assert heads == ["m 的 1 个注意力头", "m 的 2 个注意力头"]
    assert translated("and 1,200 more") == "还有 1,200 个"
    assert translated("") == ""


@pytest.mark.usefixtures("chinese")
def test_what_no_catalogue_has_stays_english():
    assert gettext("Keep {name}", name="it") == "Keep it"
    assert ngettext("{count} row", "{count} rows", 2) == "2 rows"
    assert translated("Keep it") == "Keep it"
    assert gettext("") == ""


@pytest.mark.usefixtures("chinese")
def test_marked_texts_stay_english_until_they_are_shown():
    assert gettext_noop("Copy link") == "Copy link"
    assert gettext_noop("and {count:,} more", count=7) == "and 7 more"


def test_the_catalogue_beside_the_caller_counts_first(tmp_path, monkeypatch):
    for package, said in (("dashboard/ui", "插图"), ("dashboard/features/race", "指标")):
        (tmp_path / package).mkdir(parents=True)
        made = polib.POFile()
        made.append(polib.POEntry(msgid="Figure", msgstr=said))
        made.append(polib.POEntry(msgid=f"Only in {package}", msgstr=package))
        made.append(
            polib.POEntry(
                msgid="{count} row", msgid_plural="{count} rows",
                msgstr_plural={0: f"{{count}} {said}"},
            )
        )  # fmt: skip
        made.save(str(tmp_path / package / "zh.po"))
    monkeypatch.setattr(catalogues, "_roots", lambda: (("dashboard", tmp_path / "dashboard"),))
    found = catalogues.Catalogue("zh")
    race, other = "dashboard.features.race.page", "dashboard.features.heads.page"
    assert found.text("Figure", race) == "指标"
    assert found.text("Figure", "dashboard.ui.frame") == "插图"
    assert found.text("Figure", other) == found.text("Figure") == "指标"  # the first of all
    assert found.text("Only in dashboard/ui", race) == "dashboard/ui"
    assert found.number("{count} row", "{count} rows", 2, race) == "{count} 指标"
    assert found.number("{count} row", "{count} rows", 2, "dashboard.ui.frame") == "{count} 插图"


@pytest.mark.usefixtures("chinese")
def test_a_package_speaks_for_its_own_pages_alone(tmp_path, monkeypatch):
    made = polib.POFile()
    made.metadata = {
        "Content-Type": "text/plain; charset=UTF-8", "Plural-Forms": "nplurals=2; plural=(n != 1);"
    }  # fmt: skip
    for one, other in (("Copy link", "别的"), ("Theirs", "他们的"), ("{a} is odd", "{a} 奇怪")):
        made.append(polib.POEntry(msgid=one, msgstr=other))
    plural = {0: "{count} 一", 1: "{count} 多"}
    made.append(
        polib.POEntry(msgid="{count} one", msgid_plural="{count} ones", msgstr_plural=plural)
    )
    (tmp_path / "their_pages").mkdir()
    (tmp_path / "their_pages" / "__init__.py").touch()
    made.save(str(tmp_path / "their_pages" / "zh.po"))
    monkeypatch.syspath_prepend(tmp_path)
    found = catalogues.Catalogue("zh", lambda: ("their_pages", "not_there"))
    assert found.text("Copy link", "their_pages.page") == "别的"
    assert [found.said(text) for text in ("Copy link", "Theirs", "this is odd")] == [
        "复制链接", "他们的", "this is odd",
    ]  # fmt: skip
    assert found.number("{count} one", "{count} ones", 2, "their_pages") == "{count} 多"


def test_the_caller_is_the_module_that_asks(monkeypatch):
    asked = []

    class Asked:
        def text(self, text, module):
            asked.append(module)
            return text

        def number(self, one, many, count, module):
            asked.append(module)
            return many

    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    monkeypatch.setattr(language, "_catalogue", lambda _: Asked())
    gettext("Copy link")
    ngettext("{count} row", "{count} rows", 2)
    assert asked == [__name__, __name__]
