"""What a worker says of a formula."""

from __future__ import annotations

import pytest

from attention_plugins.formula import described
from dashboard.jobs.tasks import perform
from dashboard.records.catalogue import package_request
from dashboard.records.request import Request, Result


def said(text):
    return perform(Request.make("formula", options={"text": text}), None).facts


def test_a_formula_is_described_with_a_sample_of_its_scores():
    facts = said("-w |q - k|")
    assert described("-w |q - k|").items() <= facts.items()
    assert facts["description"] == (
        "In one dimension q = 1 scores -1 for k = 0, 0 for k = 1, -1 for k = 2, -2 for k = 3 "
        "with w = 1."
    )
    assert facts["learns"]


def test_what_is_wrong_crosses_as_facts_and_nothing_else():
    result = perform(Request.make("formula", options={"text": "q + k"}), None)
    facts = Result.from_bytes(result.to_bytes()).facts
    assert facts.keys() == {"error", "completions", "environment"}
    assert facts["error"].keys() == {"sentence", "start", "end", "suggestion"}


def test_the_sample_of_a_formula_of_positions_says_where_its_keys_stand():
    facts = said("q.k - 2 w |i - j|")
    assert facts["error"] is None
    assert facts["description"] == (
        "In one dimension q = 1 scores 0 for k = 0, -1 for k = 1, -2 for k = 2, -3 for k = 3 "
        "with w = 1, i = 0, j = 0 to 3."
    )
    assert facts["tasks"] == ["translation", "encoding"]


def test_the_word_at_the_end_is_completed_until_the_formula_is_whole():
    def offered(text):
        return [(each["word"], each["insert"]) for each in said(text)["completions"]]

    assert offered("q.k / sq") == [("sqrt", "rt("), ("square", "uare(")]
    assert offered("sigma q.k / si") == [
        ("sigma", "gma"), ("sigmoid", "gmoid("), ("sin", "n("),
    ]  # fmt: skip
    assert offered("q.k / sqrt(d)") == offered("q.k / ") == offered("") == []
    assert offered("-|q - k| / w") == offered("-|q - k| / w1 + w") == offered("q.k / d") == []


def test_the_package_is_named_by_the_formulas_slug():
    facts = said("q.k")
    assert f"src/{facts['slug']}.py" in facts["files"]
    assert f'name = "{facts["slug"].replace("_", "-")}"' in facts["files"]["pyproject.toml"]


def test_a_chosen_name_is_that_of_the_package_and_of_its_scoring():
    asked = package_request("q.k / sqrt(d)", "My first_dot")
    facts = perform(asked, None).facts
    assert facts["slug"] == "my_first_dot"
    assert set(facts["files"]) == {
        "src/my_first_dot.py", "test_my_first_dot.py", "pyproject.toml", "README.md",
    }  # fmt: skip
    assert 'name = "my-first-dot"' in facts["files"]["pyproject.toml"]
    assert 'name="my_first_dot"' in facts["files"]["src/my_first_dot.py"]
    assert 'title="My first dot"' in facts["files"]["src/my_first_dot.py"]
    assert "# My first dot\n" in facts["files"]["README.md"]
    assert facts["name"] == said("q.k / sqrt(d)")["name"], "the formula is the same scoring"


@pytest.mark.parametrize("name", ["9 lives", "../up", "class", "json", "a" * 41, "Größe"])
def test_a_name_that_no_package_can_have_is_refused(name):
    with pytest.raises(ValueError, match="name"):
        perform(package_request("q.k", name), None)


def test_a_request_without_a_text_is_refused():
    with pytest.raises(ValueError, match="needs the option text"):
        perform(Request.make("formula"), None)
