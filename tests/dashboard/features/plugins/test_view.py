import pytest

from dashboard.features.plugins.view import LINK, PluginsView, chosen, description_of, found
from dashboard.records.attending import Distribution, Source
from dashboard.records.catalogue import Catalogue


@pytest.fixture
def catalogue(facts):
    plugins = [
        {"name": "p", "distribution": name, "module": "m", "contract": "", "built_in": False,
         "offers": offers}
        for name, offers in (("Empty", {}), ("My.Kernels", {"scorings": ["odd"]}))
    ]  # fmt: skip
    about = [{"name": name, "version": "1", "summary": "", "links": []}
             for name in ("Empty", "My.Kernels")]  # fmt: skip
    return Catalogue.of({**facts, "distributions": about, "plugins": plugins})


def test_by_default_the_first_that_offers_something_is_shown(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert (view, problems) == (PluginsView(), [])
    assert chosen(view, catalogue).name == "My.Kernels"
    assert LINK.format(view, catalogue) == {}
    assert chosen(PluginsView(), Catalogue()) is None


@pytest.mark.parametrize("given", ["My.Kernels", "my-kernels", "MY__KERNELS"])
def test_a_name_is_compared_as_installers_do(catalogue, given):
    view, problems = LINK.parse({"show": given}, catalogue)
    assert problems == []
    assert chosen(view, catalogue).name == "My.Kernels"
    assert LINK.format(view, catalogue) == {"show": "My.Kernels"}


def test_what_is_not_installed_stays_in_the_link(catalogue):
    view, problems = LINK.parse({"show": "attention-entmax"}, catalogue)
    assert problems == []
    assert chosen(view, catalogue) is None
    assert LINK.format(view, catalogue) == {"show": "attention-entmax"}


@pytest.mark.parametrize(
    "given", ["<script>", "a b", "-a", "a-", "../x", "ä", "x" * 101, "a\u202eb", "a\n"]
)
def test_what_is_no_name_is_named_and_left_out(catalogue, given):
    view, (problem,) = LINK.parse({"show": given}, catalogue)
    assert view == PluginsView()
    assert problem.startswith("show=‘")
    assert problem.endswith("need the name of a distribution, so it is left out")
    assert problem.isprintable()


def test_an_unknown_parameter_is_named(catalogue):
    assert LINK.parse({"look": "x"}, catalogue)[1] == ["unknown parameter ‘look’: ignored"]


def test_a_trained_model_is_described_by_what_it_is_made_of(catalogue):
    one = catalogue.checkpoints["one"]
    card = one.card
    words = f"{card['model']} with {card['scoring']}, trained on {card['corpus']['name']}"
    assert description_of(one) == words
    assert description_of(None) == "It cannot be used; see above."


@pytest.mark.parametrize(
    "words",
    ["odd", "ODD", "kern", "scoring", "odd my.kernels", "fine", "strange", "lovelace 1843"],
)
def test_a_record_is_found_by_every_text_of_its_own(facts, words):
    odd = {**facts["scorings"][0], "name": "odd", "title": "Fine one", "description": "Strange.",
           "reference": "Lovelace 1843"}  # fmt: skip
    held = Catalogue.of({**facts, "scorings": [odd]})
    mine = Source(name="p", module="m", contract="", offers={"scorings": ["odd"], "models": []})
    one = Distribution(name="My.Kernels", sources=(mine,))
    assert found(one, held, words) == {"scorings": ["odd"]}
    assert found(one, held, f"{words} elsewhere") == {}
