from __future__ import annotations

import json
import math
import shutil
from email.message import Message
from importlib import metadata

import pytest
import torch

from attention_plugins import (
    CheckpointSpec,
    Parameter,
    ScoringSpec,
    checkpoints,
)
from attention_plugins.catalogue import catalogue, described
from attention_plugins.checkpoints import name_of
from attention_plugins.home import SHIPPED
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import Failure, Plugin, Registry, load

BUILT_IN = catalogue(load(allow=[]))


def entry(kind, name):
    (found,) = [each for each in BUILT_IN[kind] if each["name"] == name]
    return found


def test_a_catalogue_is_plain_json():
    assert json.loads(json.dumps(BUILT_IN, allow_nan=False)) == BUILT_IN


def test_a_scoring_is_described():
    assert entry("scorings", "gaussian") == {
        "name": "gaussian",
        "title": "Gaussian kernel",
        "formula": r"-\frac{\lVert q-k\rVert_2^2}{2\sigma^2}",
        "reference": "Nadaraya 1964, On estimating regression; Watson 1964, Smooth regression "
        "analysis",
        "description": "Favours near keys; weights fall off with the square of the distance.",
        "same_size": True,
        "tasks": ["regression", "translation", "encoding"],
        "own_normaliser": False,
        "parameters": [
            {
                "name": "width",
                "title": "Width σ",
                "type": "float",
                "default": 1.0,
                "low": 0.02,
                "high": 10.0,
                "step": 0.01,
                "unit": "",
                "learnable": True,
                "choices": [],
                "names": "",
                "help": "How far a query looks: keys much farther away than this count almost "
                "nothing.",
            }
        ],
        "plugin": {
            "name": "scorings",
            "distribution": "attention-workbench",
            "version": BUILT_IN["plugins"][0]["version"],
            "built_in": True,
            "code": BUILT_IN["plugins"][0]["code"],
        },
    }


def test_models_and_data_sets_say_which_task_they_are_for():
    assert entry("models", "nadaraya_watson")["task"] == "regression"
    assert entry("models", "bahdanau")["task"] == "translation"
    assert entry("datasets", "sine")["task"] == "regression"
    assert entry("datasets", "tatoeba")["task"] == "translation"
    assert r"\sin" in entry("datasets", "sine")["formula"]


def test_every_record_stands_in_the_order_of_the_registry():
    registry = load(allow=[])
    for kind in HOOKS:
        assert [each["name"] for each in BUILT_IN[kind]] == list(registry.records[kind])


def test_plugins_say_what_they_offer():
    (plugin,) = [each for each in BUILT_IN["plugins"] if each["name"] == "models"]
    assert plugin["module"] == "attention_plugins.models"
    assert {"nadaraya_watson", "bahdanau"} <= set(plugin["offers"]["models"])


def test_versions_and_failures_are_told():
    failure = Failure(plugin="p", distribution="d", stage="import", message="m", advice="a")
    described = catalogue(Registry(failures=(failure,)))
    assert described["versions"] == {"contract": "1.2", "torch": str(torch.__version__)}
    (told,) = described["failures"]
    assert told | {"plugin": "p", "distribution": "d", "stage": "import"} == told
    assert (told["message"], told["advice"]) == ("m", "a")
    assert [each["name"] for each in described["distributions"]] == ["d"]


@pytest.mark.parametrize(
    ("parameter", "kind", "step"),
    [
        (Parameter(name="x", title="X", default=1.0, low=0.5, high=4.5), "float", 0.04),
        (Parameter(name="x", title="X", default=1.0, low=0.5, high=4.5, step=0.5), "float", 0.5),
        (Parameter(name="x", title="X", default=7, low=1, high=1000), "int", 1),
        (Parameter(name="x", title="X", default=False), "bool", None),
        (Parameter(name="x", title="X", default="a", choices=("a", "b")), "str", None),
    ],
)
def test_a_parameter_comes_with_its_type_and_step(parameter, kind, step):
    spec = ScoringSpec(
        name="mine", title="Mine", formula="q k", build=lambda s, v: None, parameters=(parameter,)
    )
    described = catalogue(registry_of("scorings", spec))["scorings"][0]["parameters"][0]
    assert (described["type"], described["step"]) == (kind, step)
    assert described["choices"] == list(parameter.choices)
    assert described["default"] == parameter.default


def registry_of(kind, *specs):
    plugin = Plugin(
        name="p", distribution="d", version="1", module="m",
        offers={kind: tuple(spec.name for spec in specs)},
    )  # fmt: skip
    return Registry(records={kind: {spec.name: spec for spec in specs}}, plugins=(plugin,))


def test_half_a_character_costs_its_own_record_alone(tmp_path):
    """JSON and Python take lone surrogates; what crosses to the page does not."""

    def scoring(name, title):
        return ScoringSpec(name=name, title=title, formula="q k", build=lambda s, v: None)

    found = catalogue(registry_of("scorings", scoring("bad", "\ud800"), scoring("good", "Good")))
    assert [each["name"] for each in found["scorings"]] == ["good"]
    assert "bad" in found["failures"][0]["message"]
    json.dumps(found, ensure_ascii=False).encode()


def test_a_card_with_half_a_character_or_too_much_beside_its_words_is_named(tmp_path):
    for name, changes, said in (
        ("half", {"title": "\ud800"}, "surrogates"),
        ("large", {"training": {"notes": "x" * 1_000_001}}, "more than 1,000,000 bytes"),
    ):
        shutil.copytree(SHIPPED / "bahdanau-additive-phrasebook", tmp_path / name)
        card = json.loads((tmp_path / name / "card.json").read_text("utf-8")) | changes
        (tmp_path / name / "card.json").write_text(json.dumps(card))
        spec = CheckpointSpec(name=name, path=tmp_path / name)
        (found,) = catalogue(registry_of("checkpoints", spec))["checkpoints"]
        assert found["card"] is None
        assert said in found["fault"]
        found["fault"].encode()


# Devices


def test_what_is_not_there_is_not_offered(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert catalogue(Registry())["devices"] == ["auto", "cpu"]


def test_every_device_that_is_there_is_offered(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert set(catalogue(Registry())["devices"]) == {"auto", "cpu", "cuda:0", "cuda:1", "mps"}


# Checkpoints


@pytest.fixture
def card():
    words = ["<unk>", "<pad>", "<bos>", "<eos>", "a"]
    return {
        "title": "A model", "model": "bahdanau", "model_parameters": {}, "scoring": "dot",
        "scoring_parameters": {}, "tokeniser": "words", "max_tokens": 10,
        "source_vocabulary": [*words, "b"], "target_vocabulary": words,
        "corpus": {"name": "tiny"}, "training": {"seed": 0}, "scores": {"bleu": 12.5},
    }  # fmt: skip


def test_a_checkpoint_comes_with_its_card_but_without_the_words(tmp_path, card):
    checkpoints.write(tmp_path / "tiny", torch.nn.Linear(3, 5), card)
    spec = CheckpointSpec(name="tiny", path=tmp_path / "tiny")
    (described,) = catalogue(registry_of("checkpoints", spec))["checkpoints"]
    assert (described["name"], described["fault"]) == ("tiny", "")
    assert described["plugin"]["distribution"] == "d"
    assert described["card"]["scores"] == {"bleu": 12.5}
    assert described["card"]["source_words"] == 6
    assert "source_vocabulary" not in described["card"]


def test_a_bad_card_costs_one_checkpoint_and_says_why(tmp_path, card):
    for name, scores in (("good", 12.5), ("bad", math.nan)):
        checkpoints.write(
            tmp_path / name, torch.nn.Linear(3, 5), {**card, "scores": {"b": scores}}
        )
    specs = [CheckpointSpec(name=n, path=tmp_path / n) for n in ("good", "bad", "missing")]
    described = catalogue(registry_of("checkpoints", *specs))
    json.dumps(described, allow_nan=False)
    good, bad, missing = described["checkpoints"]
    assert good["card"]["scores"] == {"b": 12.5}
    assert bad["card"] is None
    assert "bad: Out of range float values are not JSON compliant" in bad["fault"]
    assert missing["card"] is None
    assert "no card.json" in missing["fault"]


class Evasive(ScoringSpec):
    """A record that raises when it is described."""

    @property
    def description(self):
        raise SystemExit("ask somebody else")


def test_a_record_that_cannot_be_described_costs_itself_alone():
    def fine(name):
        return ScoringSpec(name=name, title="T", formula="q", build=lambda sizes, values: None)

    evasive = object.__new__(Evasive)
    for field, value in vars(fine("evasive")).items():
        if field != "description":
            object.__setattr__(evasive, field, value)
    plugin = Plugin(
        name="p", distribution="d", version="1", module="m",
        offers={"scorings": ("fine", "evasive")},
    )  # fmt: skip
    records = {"scorings": {"evasive": evasive, "fine": fine("fine")}}
    registry = Registry(records=records, plugins=(plugin,))
    described = catalogue(registry)
    assert [entry["name"] for entry in described["scorings"]] == ["fine"]
    (failure,) = described["failures"]
    assert (failure["distribution"], failure["stage"]) == ("d", "describe")
    assert failure["message"].startswith(
        'reading the record "evasive" raised SystemExit: ask somebody else'
    )


def test_distributions_say_what_their_metadata_say():
    plugin = Plugin(name="p", distribution="pluggy", version="1.7", module="m", offers={})
    gone = Failure(
        plugin="q", distribution="surely-not-installed", stage="import", message="m", advice="a"
    )
    pluggy, missing = catalogue(Registry(plugins=(plugin,), failures=(gone,)))["distributions"]
    assert (pluggy["name"], pluggy["version"]) == ("pluggy", "1.7")
    assert pluggy["summary"] == metadata.metadata("pluggy")["Summary"]
    assert (missing["summary"], missing["links"]) == ("", [])


def test_metadata_of_strangers_are_cut_to_lines(monkeypatch):
    about = Message()
    about["Summary"] = "two\n lines " + "x" * 1000
    for number in range(9):
        about["Project-URL"] = f"Label {number}, https://a.org/{number}"
    about["Project-URL"] = "no address"
    monkeypatch.setattr(metadata, "metadata", {"d": about}.__getitem__)
    told = described("d", "1")
    assert told["summary"].startswith("two lines x")
    assert len(told["summary"]) == 300
    assert len(told["links"]) == 6
    assert told["links"][0] == {"label": "Label 0", "url": "https://a.org/0"}


def test_the_example_is_a_whole_plugin():
    names: dict = {}
    exec(BUILT_IN["example"], names)
    (spec,) = names["attention_scorings"]()
    assert spec.name == "cosine_example"
    assert len([line for line in BUILT_IN["example"].splitlines() if line.strip()]) <= 10


def test_a_parameter_that_names_scorings_offers_those_installed_but_itself():
    described = catalogue(load(allow=[]))
    (record,) = [each for each in described["scorings"] if each["name"] == "combination"]
    first, second, gate = record["parameters"]
    names = [each["name"] for each in described["scorings"]]
    assert first["choices"] == second["choices"] == [n for n in names if n != "combination"]
    assert (first["type"], gate["choices"]) == ("str", [])


def test_a_checkpoint_of_this_machine_is_not_said_to_come_with_the_workbench(
    tmp_path, monkeypatch
):
    shipped = next(path for path in sorted(SHIPPED.iterdir()) if path.is_dir())
    shutil.copytree(shipped, tmp_path / "my-own")
    monkeypatch.setenv("ATTENTION_CHECKPOINTS", str(tmp_path))
    described = catalogue(load(allow=[]))
    whose = {one["name"]: one["plugin"] for one in described["checkpoints"]}
    assert whose["my_own"]["distribution"] == "this machine"
    assert not whose["my_own"]["built_in"]
    theirs = whose[name_of(shipped)]
    assert (theirs["distribution"], theirs["built_in"]) == ("attention-workbench", True)
    (brought,) = [one for one in described["plugins"] if "checkpoints" in one["offers"]]
    assert name_of(shipped) in brought["offers"]["checkpoints"]
    assert "my_own" not in brought["offers"]["checkpoints"]
