"""Models of a notebook are those of the commands, around scorings of the cell above."""

from __future__ import annotations

import doctest
import math
import re
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import dashboard.notebook as door
from attention_plugins import ContractError, Scoring, record, registry
from attention_plugins.home import SHIPPED
from dashboard.notebook import fit, load, models, offered, race, scoring, train

QUICK = {"corpus": "reverse", "pairs": 64, "epochs": 1, "hidden": 8, "embed": 8}


def own(queries, keys):
    return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)


class OwnBilinear(Scoring):
    """A scoring with weights, made of its sizes."""

    def __init__(self, sizes):
        super().__init__()
        self.matrix = nn.Parameter(torch.eye(sizes.query, sizes.key))

    def forward(self, queries, keys):
        return queries @ self.matrix @ keys.mT


class OwnRank(Scoring):
    def __init__(self, sizes, rank):
        super().__init__()


class OwnZeros(Scoring):
    """A scoring of nothing."""

    def forward(self, queries, keys):
        return queries.new_zeros(*queries.shape[:-1], keys.shape[-2])


@pytest.mark.parametrize("name", door.__all__)
def test_every_name_of_the_door_has_an_example_that_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    thing = getattr(door, name)
    names = {each: getattr(door, each) for each in door.__all__}
    # A class by its own text; functions that are made by others have no file that says theirs.
    (test,) = [
        doctest.DocTestParser().get_doctest(thing.__doc__, names, name, None, None)
    ]  # fmt: skip
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0, capsys.readouterr().out


def test_there_are_ten_names():
    assert len(door.__all__) == 10


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("cosine", "cosine"),
        ("=-|q - k|", "=-norm(q - k)"),
        ("-|q - k|", "=-norm(q - k)"),
        (own, "own"),
        (scoring("own_too", formula="a", same_size=True)(own), "own_too"),
        (OwnBilinear, "own_bilinear"),
        (OwnZeros, "own_zeros"),
    ],
)
def test_every_way_to_name_a_scoring_trains(given, name):
    model = train(given, **QUICK)
    assert model.card["scoring"] == name
    table = model.history.to_pandas()
    assert table["step"].tolist() == [1, 2]
    assert table["loss"].map(math.isfinite).all()
    weights = model.explain("a b c").maps[0].weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))


def test_a_cell_that_runs_again_replaces_its_scoring():
    first = fit(own).errors
    assert fit(own).errors == first

    def changed(queries, keys):
        return own(queries, keys) / 2

    changed.__name__ = "own"
    assert fit(changed).errors != first


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("cosin", 'no scoring "cosin"; did you mean "cosine"'),
        ("-|q - ", "formula"),
        (lambda queries, keys: queries @ keys.mT, "write it with def, not as a lambda"),
        (OwnZeros(), "or a class derived from Scoring, got OwnZeros"),
        (OwnRank, "OwnRank is made of sizes, rank; a class is taken if"),
        (3, "got int"),
        (len, "build returned int; it must return a Scoring"),
    ],
)
def test_what_is_no_scoring_is_said(given, message):
    with pytest.raises(ContractError, match=message):
        train(given, **QUICK)


def paired(queries, keys):
    return -(queries - keys).abs().sum(-1)


def summed(queries, keys):
    return (queries.unsqueeze(-2) * keys.unsqueeze(-3)).sum(-1).sum(-1)


def turned(queries, keys):
    return keys @ queries.mT


def counted(queries, keys):
    return -(queries.unsqueeze(2) - keys.unsqueeze(1)).abs().sum(-1)


@pytest.mark.parametrize(
    ("given", "got"),
    [
        (paired, "it raised RuntimeError: The size of tensor a"),
        (summed, r"scores are \(%s2,\), need"),
        (turned, r"scores are \(%s5, 2\), need"),
    ],
)
def test_scores_of_a_wrong_shape_are_refused_before_anything_is_trained(given, got):
    told = r"^%s: for queries \(%s2, 4\) and keys \(%s5, 4\).* scores .*\(%s2, 5\).*unsqueeze"
    got = got.replace("2,\\)", "2,?\\)")
    batch = [lambda: train(given, **QUICK), lambda: load("unknown", scoring=given)]
    batch.append(lambda: race([given, "cosine"], "copy", seeds=2))
    points = [lambda: fit(given), lambda: race([given, "cosine"], "sine", seeds=2)]
    for leading, tried in (("3, ", batch), ("", points)):
        for each in tried:
            wanted = told % (given.__name__, *[leading] * 3)
            with pytest.raises(ContractError, match=wanted) as said:
                each()
            said.match(got % leading if "%" in got else got)
    assert registry._defined == {}


def test_a_scoring_that_counts_dimensions_from_the_front_trains_where_there_is_a_batch():
    assert train(counted, **QUICK).card["scoring"] == "counted"
    with pytest.raises(ContractError, match=r"it raised .*Error: .*; return scores \(2, 5\)"):
        fit(counted)


class OwnOfSixtyFour(Scoring):
    """Weights of the default size alone."""

    def __init__(self):
        super().__init__()
        self.matrix = nn.Parameter(torch.eye(64))

    def forward(self, queries, keys):
        return queries @ self.matrix @ keys.mT


def test_a_scoring_made_for_one_size_trains_where_the_model_has_it():
    assert train(OwnOfSixtyFour, **{**QUICK, "hidden": 64}).card["scoring"]


def test_the_bar_of_a_training_has_two_decimals(capsys):
    history = train("cosine", **QUICK).history
    said = capsys.readouterr().err
    counted = re.findall(r"epoch ([\d.]+)/1 ", said)
    assert counted[-1] == "1.00"
    assert all(re.fullmatch(r"\d\.\d\d", one) for one in counted)
    # The bar has the epoch's mean so far, the history the loss of each step.
    assert "seconds" not in str(history.plot().to_dict())
    mean = float(re.findall(r"loss ([\d.]+)", said)[-1])
    assert history.to_pandas()["loss"].iloc[-1] != pytest.approx(mean, abs=1e-3)


def test_the_name_of_an_installed_scoring_is_refused():
    def cosine(queries, keys):
        return queries @ keys.mT

    with pytest.raises(ContractError, match='"cosine" is installed already; give yours another'):
        fit(cosine)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epoch": 3}, "no change is called 'epoch'; there are tokeniser, .*epochs"),
        ({"epochs": 0}, "epochs"),
        ({"hidden": -1}, "hidden"),
        ({"corpus": "phrases"}, 'no data set "phrases"; did you mean "phrasebook"'),
        ({"corpus": "sine"}, "is for regression; need one for translation"),
        ({"model": "nadaraya_watson", "hidden": None}, "nothing|no change|translation"),
        ({"device": "cuda:7"}, "no device 'cuda:7' here"),
    ],
)
def test_what_cannot_be_trained_is_said(changes, message):
    given = {name: value for name, value in {**QUICK, **changes}.items() if value is not None}
    with pytest.raises(ContractError, match=message):
        train("cosine", **given)


class Asked(Exception):
    """Stands for what would take long; holds what it would be done with."""


@pytest.fixture
def asked(monkeypatch):
    """``asked(train, ...)``: what would be trained, and on which pairs; of ``race`` its plan."""

    def stop(*given, **_):
        raise Asked(*given)

    monkeypatch.setattr(models.experiment, "run", stop)
    monkeypatch.setattr(models.Race, "create", stop)

    def of(make, *given, **more):
        with pytest.raises(Asked) as caught:
            make(*given, **more)
        return caught.value.args

    return of


def test_a_training_is_of_the_pairs_and_in_the_way_that_is_asked_for(asked, tmp_path, monkeypatch):
    pairs = [(f"go {n} .", "va !") for n in range(20)]
    for first, count in ((None, 20), (0, 20), (4, 4)):
        planned, learned, *_ = asked(train, "cosine", corpus=pairs, pairs=first)
        assert (len(learned), planned.held_out) == (count, count // 10)
    path = tmp_path / "mine.txt"
    path.write_text("".join(f"{one}\t{other}\n" for one, other in pairs), "utf-8")
    planned, learned, *_ = asked(train, "cosine", corpus=str(path), normaliser="entmax")
    assert (planned.corpus, planned.normaliser, len(learned)) == ("mine", "entmax", 20)
    counts, read = [], models.load_corpus
    monkeypatch.setattr(
        models, "load_corpus", lambda *of, pairs: counts.append(pairs) or read(*of, pairs=pairs)
    )
    for first in (None, 0, 5):
        asked(train, "cosine", corpus=str(path), pairs=first)
    assert counts == [6000, 0, 5]


def test_a_race_has_the_model_and_the_seeds_that_are_asked_for(asked):
    _, plan, _ = asked(race, ["cosine", "scaled_dot"], "reverse", model="transformer", seeds=4)
    assert [one.model for one in plan.contestants] == ["transformer"] * 2
    assert (plan.seeds, plan.tuning_seeds) == (4, 1)


def test_a_beams_width_and_changes_of_heads_reach_the_translator():
    given = []

    def translate(sentences, **more):
        given.append((sentences, more))
        return ["va !"] * len(sentences)

    def explain(sentence, **more):
        given.append((sentence, more))
        nothing = dict.fromkeys(("tokens", "log_probabilities", "source_tokens", "unknown"), ())
        return record.Translation(text="", **nothing)

    own = SimpleNamespace(model=nn.Identity(), card={}, translate=translate, explain=explain)
    model = models.Model(own)
    assert model.translate("go .", width=3) == "va !"
    model.explain("go .", "viens !", width=2, interventions=["off"])
    assert given == [
        (["go ."], {"width": 3}),
        ("go .", {"target": "viens !", "width": 2, "interventions": ["off"]}),
    ]


def test_pairs_of_a_cell_are_a_corpus():
    pairs = [("go .", "va !"), ("come .", "viens !")] * 4
    model = train("cosine", corpus=pairs, min_frequency=1, epochs=1, held_out=0, hidden=8)
    assert model.card["corpus"]["name"] == "pairs of a notebook"
    assert model.card["corpus"]["trained_on"] == 8
    assert model.translate(["go .", "come ."]) == [model.translate(s) for s in ("go .", "come .")]


def test_a_model_is_saved_and_loaded_with_the_scoring_of_the_cell(tmp_path):
    model = train(own, **QUICK)
    model.save(tmp_path / "own")
    again = load(tmp_path / "own", scoring=own)
    assert again.card["scoring"] == "own"
    assert again.history is None
    for one, other in zip(model.module.parameters(), again.module.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-2, rtol=0)  # kept in half precision
    with pytest.raises(ContractError, match="holds something already"):
        model.save(tmp_path / "own")
    with pytest.raises(ContractError, match="was loaded, and lies in a folder already"):
        again.save(tmp_path / "other")
    registry._defined.clear()
    registry.installed.cache_clear()
    with pytest.raises(ContractError, match=r"'own' of this model was defined in a notebook"):
        load(tmp_path / "own")


def test_a_model_of_trained_is_found_by_either_name():
    model = load("transformer-scaled-dot-phrasebook")
    assert load(SHIPPED / "transformer-scaled-dot-phrasebook").card == model.card
    seen = model.explain("he's tired .", target="elle est fatiguée .")
    assert seen.text == "elle est fatiguée."
    assert [one.name for one in seen.maps.named("*.0*")] == [
        "encoder.0", "decoder.0", "decoder.0.cross",
    ]  # fmt: skip
    cross = seen.maps.named("*.cross").to_pandas()
    assert set(cross["query"]) == set(seen.tokens)
    assert set(cross["key"]) == set(seen.source_tokens)
    with pytest.raises(ContractError, match='no checkpoint "transformr"'):
        load("transformr")


def test_a_race_says_what_a_lead_is_worth():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    table = race(["uniform", own], "sine", seeds=3)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)
    assert table["contestant"].tolist() == ["own", "uniform"]
    row = table.iloc[0]
    assert row["squared error low"] < row["squared error"] < row["squared error high"]
    assert row["difference low"] > 0  # positive where better than the first
    assert row["verdict"] == "too few seeds"
    assert "Mean over 3 seeds with 95% bootstrap intervals" in table.attrs["caption"]
    for given in ((["own"], 3), (["own", "uniform"], 1)):
        with pytest.raises(ContractError, match="need 2 scorings and 2 seeds"):
            race(given[0], seeds=given[1])


def test_a_fit_is_that_of_the_page_and_learns():
    fitted = fit("gaussian", "step", learn=True, seed=3)
    assert (
        fitted.errors["leave_one_out_mse"]
        < fit("gaussian", "step", seed=3).errors["leave_one_out_mse"]
    )
    assert fitted.history.to_pandas()["width"].iloc[-1] == fitted.learned["width"]
    assert {"x0", "prediction", "truth"} <= set(fitted.to_pandas().columns)
    assert fitted.plot(scheme="dark").to_dict()["config"]["background"] == "#12161c"
    assert fit("gaussian", "step", seed=4).errors != fit("gaussian", "step", seed=3).errors
    assert fitted.history.plot(log=True).to_dict()["datasets"]
    with pytest.raises(ValueError, match="widht"):
        fit("gaussian", widht=3)


def test_what_is_installed_is_listed():
    assert offered("models").set_index("name").loc["transformer", "title"] == "Transformer"
    assert "bahdanau_additive_phrasebook" in offered("checkpoints")["name"].tolist()
    with pytest.raises(ContractError, match=r"need one of scorings, .*, got 'kernels'"):
        offered("kernels")
