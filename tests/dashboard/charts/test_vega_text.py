"""Sentences as expressions of Vega."""

from dashboard.charts.labels import quoted, vega_text


def test_placeholders_become_expressions():
    text = vega_text("query {query}, key {key}!", key="datum.key", query="datum.query")
    assert text == "'query ' + datum.query + ', key ' + datum.key + '!'"


def test_quotes_and_backslashes_stay_in_the_text():
    assert quoted(r"it's \ so") == r"'it\'s \\ so'"
