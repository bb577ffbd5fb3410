from dashboard.records.parameter import Metric

TIME = {"name": "seconds", "title": "Time", "unit": "s", "better": "lower", "help": "Of all."}


def test_a_metric_is_read_from_the_catalogue_whatever_else_it_says():
    metric = Metric.of({**TIME, "colour": "red"})
    assert (metric.label, metric.heading, metric.help) == ("Time, s", "Time, s ↓", "Of all.")
    assert metric.digits == 3


def test_the_arrow_points_to_the_better_side_where_there_is_one():
    headings = [Metric(name="n", title="N", better=one).heading for one in ("higher", "lower", "")]
    assert headings == ["N ↑", "N ↓", "N"]


def test_a_catalogue_calls_a_metric_it_does_not_list_by_its_name(catalogue):
    assert catalogue.metric("training", "bleu").title == "BLEU"
    assert catalogue.metric("training", "chrf") == Metric(name="chrf", title="chrf")
    assert catalogue.metric("anatomy", "bleu").title == "bleu"
