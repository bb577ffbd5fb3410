"""What is installed, in the visitor's language."""

import polib
import pytest

from dashboard import language
from dashboard.language import catalogues
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.parameter import Metric, Parameter
from dashboard.ui import speaking as module
from dashboard.ui.speaking import localised

OWN = {"Gaussian kernel": "高斯核", "Seed": "随机种子", "scoring": "评分函数"}
THEIRS = {"Mine": "我的", "Gaussian kernel": "别的", "How wide.": "多宽。"}


@pytest.fixture
def facts():
    """A catalogue with a built-in scoring and a stranger's, and what the stranger translates."""
    width = {"name": "width", "title": "Width", "default": 1.0, "low": 0.0, "high": 2.0,
             "help": "How wide."}  # fmt: skip
    return {
        "kinds": {"scorings": "scoring"},
        "scorings": [
            {"name": "gaussian", "title": "Gaussian kernel", "parameters": []},
            {"name": "mine", "title": "Mine", "formula": "q", "parameters": [width]},
        ],
        "checkpoints": [],
        "failures": [],
        "options": {"regression": [{"name": "seed", "title": "Seed", "default": 0}]},
        "measured": {"regression": [{"name": "error", "title": "Mine"}]},
        "devices": ["cpu"],
        "translations": [
            {"name": "a", "language": "zh", "texts": THEIRS},
            {"name": "b", "language": "zh", "texts": {"Mine": "后来的", "More": "更多"}},
            {"name": "c", "language": "fr", "texts": {"Mine": "À moi"}},
        ],
        "distributions": [],
    }


@pytest.fixture
def spoken(tmp_path, monkeypatch):
    """Somebody who reads Chinese, with three texts of the workbench's own."""
    made = polib.POFile()
    made.extend(polib.POEntry(msgid=text, msgstr=said) for text, said in OWN.items())
    made.save(str(tmp_path / "zh.po"))
    polib.POFile().save(str(tmp_path / "fr.po"))
    monkeypatch.setattr(catalogues, "files", lambda spoken: [tmp_path / f"{spoken}.po"])
    catalogues.catalogue.cache_clear()
    held = {"language": "zh"}
    monkeypatch.setattr(language, "_spoken", lambda: held["language"])
    yield held
    catalogues.catalogue.cache_clear()


def test_titles_helps_and_nouns_are_translated_and_names_are_not(facts, spoken):
    found = localised(Catalogue.of(facts))
    assert {name: entry.title for name, entry in found.scorings.items()} == {
        "gaussian": "高斯核", "mine": "我的",
    }  # fmt: skip
    mine = found.scorings["mine"]
    assert (mine.formula, mine.parameters[0].help, mine.parameters[0].title) == (
        "q", "多宽。", "Width",
    )  # fmt: skip
    assert found.kinds == {"scorings": "评分函数"}
    assert found.options["regression"][0].title == "随机种子"
    assert found.metrics["regression"][0].title == "我的"


def test_the_same_catalogue_is_translated_once_for_each_language(facts, spoken):
    catalogue = Catalogue.of(facts)
    assert localised(catalogue) is localised(catalogue)
    assert localised(Catalogue.of(facts)) is not localised(catalogue)
    spoken["language"] = "en"
    assert localised(catalogue) is catalogue


def test_every_text_of_every_kind_is_translated(spoken):
    """Whatever a reader may see of it; names and formulas stay."""
    parameter = Parameter(name="n", title="t1", unit="t2", help="t3", default=1.0)
    entry = Entry(
        name="n", title="t4", description="t5", unit="t6", formula="f", parameters=(parameter,)
    )
    metric = Metric(name="n", title="t7", unit="t8", help="t9")
    checkpoint = Checkpoint(name="n", title="t10", model="m", scoring="s", corpus="c", typed=entry)
    texts = {f"t{number}": f"文{number}" for number in range(1, 12)}
    entries = {"n": entry}
    found = localised(
        Catalogue(
            scorings=entries, normalisers=entries, models=entries, datasets=entries,
            checkpoints={"n": checkpoint}, others={"metrics": entries}, kinds={"metrics": "t11"},
            options={"training": (parameter,)}, metrics={"training": (metric,)},
            translations={"zh": texts},
        )
    )  # fmt: skip
    said_parameter = Parameter(name="n", title="文1", unit="文2", help="文3", default=1.0)
    said_entry = Entry(
        name="n", title="文4", description="文5", unit="文6", formula="f",
        parameters=(said_parameter,),
    )  # fmt: skip
    for kind in ("scorings", "normalisers", "models", "datasets"):
        assert getattr(found, kind) == {"n": said_entry}, kind
    assert found.others == {"metrics": {"n": said_entry}}
    assert found.checkpoints["n"].title == "文10"
    assert found.checkpoints["n"].typed == said_entry
    assert found.kinds == {"metrics": "文11"}
    assert found.options == {"training": (said_parameter,)}
    assert found.metrics == {"training": (Metric(name="n", title="文7", unit="文8", help="文9"),)}


def test_each_language_has_its_own(facts, spoken):
    catalogue = Catalogue.of(facts)
    assert localised(catalogue).scorings["mine"].title == "我的"
    spoken["language"] = "fr"
    assert localised(catalogue).scorings["mine"].title == "À moi"


def test_a_catalogue_that_is_gone_is_forgotten(facts, spoken):
    kept = [localised(Catalogue.of(facts)) for _ in range(9)]
    assert len({id(one) for one in kept}) == 9
    assert len(module._made) == module._KEPT
