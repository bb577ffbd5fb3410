"""What trainings are called that differ in their normaliser."""

from dataclasses import replace

from dashboard.features.training.view import score_metric, series_titles, training_title
from dashboard.records.catalogue import Entry
from dashboard.records.request import Request
from dashboard.records.training import Training


def training(number, **options):
    request = Request.make("training", model="bahdanau", scoring="additive", data="pairs",
                           options=options)  # fmt: skip
    return Training(id=f"{number:032x}", request=request, created=float(number), state="done",
                    note="", facts={})  # fmt: skip


def test_a_title_names_the_normaliser_with_its_parameters(catalogue):
    chosen = training(1, normaliser="entmax", **{"normaliser.alpha": 1.75})
    assert training_title(chosen, catalogue) == "Bahdanau · Additive · Entmax alpha 1.75 · Pairs"
    assert training_title(training(2), catalogue) == "Bahdanau · Additive · Pairs"
    entmax = catalogue.normalisers["entmax"]
    spoken = replace(entmax, parameters=(replace(entmax.parameters[0], title="稀疏度"),))
    known = replace(catalogue, normalisers={"entmax": spoken})
    assert "Entmax 稀疏度 1.75" in training_title(chosen, known)
    theirs = training(3, normaliser="theirs")
    assert "theirs (not installed)" in training_title(theirs, catalogue)


def test_trainings_are_told_apart_by_it_where_there_are_several(catalogue):
    usual, sparse = training(1), training(2, normaliser="sparsemax")
    assert series_titles({"a": usual, "b": sparse}, catalogue) == {
        "a": "a Additive", "b": "b Additive · Sparsemax",
    }  # fmt: skip
    assert series_titles({"a": sparse, "b": sparse}, catalogue) == {
        "a": "a Additive", "b": "b Additive",
    }  # fmt: skip


def test_a_training_that_waits_is_scored_as_it_will_be_once_it_learns(catalogue):
    exact = Entry(name="exact_match", title="Exact match", unit="%", description="All or nothing.")
    pairs = replace(catalogue.datasets["pairs"], metric="exact_match")
    known = replace(
        catalogue, datasets={**catalogue.datasets, "pairs": pairs},
        others={**catalogue.others, "metrics": {"exact_match": exact}},
    )  # fmt: skip
    own = {"name": "exact_match", "title": "Exact match", "unit": "%", "higher_is_better": True}
    waits, learns = training(1), replace(training(2), facts={"metric": own})
    assert score_metric(waits, known) == score_metric(learns, known)
    assert score_metric(waits, known).label == "Exact match, %"
    assert score_metric(waits, catalogue).name == "bleu"


def test_a_data_sets_own_metric_says_which_side_is_better(catalogue):
    def heading(**more):
        facts = {"metric": {"name": "ter", "title": "TER", **more}}
        return score_metric(replace(training(1), facts=facts), catalogue).heading

    assert heading(higher_is_better=False, unit="%") == "TER, % ↓"
    assert heading() == "TER ↑"


def test_a_normaliser_without_its_parameters_is_named_alone(catalogue):
    entmax = training(1, normaliser="entmax")
    assert training_title(entmax, catalogue) == "Bahdanau · Additive · Entmax · Pairs"
