import pytest

from dashboard.records.attending import safe_address
from dashboard.records.catalogue import Catalogue


def of(facts, **more):
    return Catalogue.of({**facts, **more})


def about(name, version="1.0", links=()):
    return {"name": name, "version": version, "summary": f"About {name}", "links": list(links)}


def plugin(name, distribution, built_in=False, **offers):
    return {
        "name": name, "distribution": distribution, "version": "1.0", "module": f"{name}_module",
        "contract": "1.0", "offers": offers, "built_in": built_in,
    }  # fmt: skip


def failure(distribution, stage="import"):
    return {"plugin": "p", "distribution": distribution, "stage": stage, "message": "no",
            "advice": "mend it"}  # fmt: skip


def test_distributions_with_problems_come_first_and_the_workbench_last(facts):
    found = of(
        facts,
        distributions=[
            about("workbench"), about("zeta", links=[{"label": "Source", "url": "https://z.org"}]),
            about("Alpha"), about("broken"),
        ],
        plugins=[
            plugin("scorings", "workbench", built_in=True, scorings=["uniform"]),
            plugin("one", "zeta", scorings=["odd"]), plugin("two", "zeta", models=["other_model"]),
            plugin("three", "Alpha"),
        ],
        failures=[failure("broken"), failure("workbench")],
    ).distributions  # fmt: skip
    assert list(found) == ["broken", "Alpha", "zeta", "workbench"]
    assert found["workbench"].built_in
    assert (found["zeta"].version, found["zeta"].summary) == ("1.0", "About zeta")
    assert found["zeta"].links == (("Source", "https://z.org"),)
    assert found["zeta"].offers() == {"scorings": ["odd"], "models": ["other_model"]}
    assert [source.module for source in found["zeta"].sources] == ["one_module", "two_module"]
    assert [each["message"] for each in found["broken"].failures] == ["no"]
    assert found["broken"].offers() == {}


def test_a_checkpoint_that_cannot_be_used_is_its_distributions_problem(facts):
    origin = {"distribution": "models", "built_in": False}
    facts["checkpoints"].append(
        {"name": "bad", "card": None, "fault": "cut off", "plugin": origin}
    )
    facts["checkpoints"].append({"name": "kept", "card": None, "fault": "cut off"})
    catalogue = of(facts, distributions=[about("models")], plugins=[])
    found = catalogue.distributions["models"]
    assert [(each["plugin"], each["stage"]) for each in found.failures] == [("bad", "checkpoint")]
    kept = catalogue.failures[-1]  # trained on this server: of no distribution
    assert (kept["plugin"], kept["distribution"], kept["built_in"]) == ("kept", "", False)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/a/b", "https://example.org", "https://a.b/x?y=1&z=%20#part",
        "https://a.b/x_(y)", "https://a.org/" + "x" * 286,
    ],
)  # fmt: skip
def test_an_honest_address_can_be_followed(url):
    address = safe_address(url)
    assert address.replace("%28", "(").replace("%29", ")") == url
    assert not set("()[]<> \"'`\\") & set(address)


@pytest.mark.parametrize(
    "url",
    [
        "", "http://example.org", "javascript:alert(1)", "data:text/html,x", "//example.org",
        "https://", "https://known.org@evil.org/x", "https://evil.org:443@x", "https://a b.org",
        "https://exämple.org", "https://a.org/\n", "HTTPS//x", "https://[::1", "https:/a.org",
        "https://a.org/" + "x" * 287, "https://-a-.org", "https://a.org\\@b.org",
    ],
)  # fmt: skip
def test_any_other_address_is_text(url):
    assert safe_address(url) == ""


def test_distributions_are_in_the_order_of_the_alphabet_in_capitals_or_not(facts):
    found = of(facts, distributions=[about("Zeta"), about("alpha"), about("Beta")], plugins=[])
    assert list(found.distributions) == ["alpha", "Beta", "Zeta"]


def test_names_of_one_kind_by_two_plugins_of_a_distribution_all_count(facts):
    plugins = [plugin("one", "zeta", scorings=["a"]), plugin("two", "zeta", scorings=["b"])]
    found = of(facts, distributions=[about("zeta")], plugins=plugins).distributions["zeta"]
    assert found.offers() == {"scorings": ["a", "b"]}


def test_of_the_workbench_it_is_known_though_all_its_plugins_failed(facts):
    failed = {**failure("workbench"), "built_in": True}
    found = of(facts, distributions=[about("workbench")], plugins=[], failures=[failed])
    assert found.distributions["workbench"].built_in


def test_of_two_plugins_that_translate_the_same_text_the_first_counts(facts):
    named = {"name": "n", "title": "N", "language": "zh"}
    several = [{**named, "texts": each} for each in ({"a": "1"}, {"a": "2", "b": "3"})]
    found = of(facts, distributions=[], plugins=[], translations=several)
    assert found.translations == {"zh": {"a": "1", "b": "3"}}
