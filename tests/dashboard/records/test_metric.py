from dashboard.records.parameter import Metric, Parameter

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


def test_a_number_beyond_its_bounds_is_the_nearest_of_its_type_and_the_sentence_says_it():
    count = Parameter(name="n", title="Count", default=3, low=1.0, high=9.0)
    assert repr(count.within(20)) == "9"
    value, problem = count.read("20", "a.n")
    assert (repr(value), problem) == (
        "9", "a.n=‘20’: need 1 <= a.n <= 9, so 9 is used (field “Count”)"
    )  # fmt: skip
    width = Parameter(name="w", title="Width", default=1.0, low=0.0, high=9.0)
    assert width.write(1.2345678) == "1.2345678"
    kind = Parameter(name="k", title="Kind", default="b", choices=("b", "a"))
    assert kind.read("c", "k")[1] == "k=‘c’: need one of b, a, so b is used (field “Kind”)"
