"""Looking at a model on a device: translations, maps, heads, alignments, as on the CPU."""

import pytest
import torch
from support.pretend_device import DEVICE

from attention_plugins import experiment
from attention_plugins.contract import SentencePair
from attention_plugins.decoding import beam, force, greedy
from attention_plugins.gold import strongest_links
from attention_plugins.health import figures, leave_one_out
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site

REGISTRY = load(allow=[])
PAIRS = [
    SentencePair(f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]
SENTENCES = [PAIRS[0].source, "I see.", PAIRS[5].source]
SMALL = {
    "transformer": {"hidden": 14, "heads": 7, "layers": 2, "ffn": 11},
    "bahdanau": {"embed": 5, "hidden": 14, "layers": 1},
}
CHANGES = (
    Intervention(site=Site("cross"), action="off", head=0),
    Intervention(site=Site("cross"), action="uniform", row=1),
    Intervention(site=Site("cross"), action="pin", row=2, key=3),
)


def looking(model, device):
    plan = experiment.Experiment(
        model=model, scoring="scaled_dot", corpus="few", model_parameters=SMALL[model],
        recipe=Recipe(min_frequency=1, epochs=1, max_tokens=9),
    )  # fmt: skip
    return experiment.at_rest(experiment.prepare(plan, PAIRS, REGISTRY), device)


@pytest.fixture(params=SMALL)
def both(request, device):
    """The same model on the CPU and on the device."""
    with looking(request.param, "cpu") as one, looking(request.param, device) as other:
        yield one, other


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("changes", [(), CHANGES], ids=["as_it_is", "changed"])
def test_translations_are_the_same(both, width, changes):
    one, other = (each.translate(SENTENCES, width=width, interventions=changes) for each in both)
    assert other == one


@pytest.mark.parametrize("changes", [(), CHANGES], ids=["as_it_is", "changed"])
def test_maps_are_the_same_and_come_back(both, changes):
    texts = {"sentence": PAIRS[2].source, "target": PAIRS[4].target}
    one, other = (each.explain(**texts, interventions=changes) for each in both)
    assert other.log_probabilities == pytest.approx(one.log_probabilities, abs=1e-4)
    for mine, yours in zip(one.maps, other.maps, strict=True):
        assert (yours.site, yours.weights.device) == (mine.site, torch.device("cpu"))
        torch.testing.assert_close(yours.weights, mine.weights, rtol=1e-4, atol=1e-5)


def test_word_by_word_is_all_at_once(both):
    _, other = both
    pair = other.pair(PAIRS[2].source, PAIRS[4].target)
    one, two = (force(other.model, *pair, by_steps=steps) for steps in (False, True))
    torch.testing.assert_close(two[0], one[0], rtol=1e-4, atol=1e-5)
    for site, weights in one[1].items():
        torch.testing.assert_close(two[1][site], weights, rtol=1e-4, atol=1e-5)


def test_heads_left_out_cost_the_same(both):
    costs = [
        {tuple(head): change for head, change in leave_one_out(each, each.pair(*TEXTS))}
        for each in both
    ]
    assert costs[1] == pytest.approx(costs[0], abs=1e-4)
    assert max(map(abs, costs[1].values())) > 1e-3


TEXTS = PAIRS[2].source, PAIRS[4].target


@pytest.mark.parametrize("sums_to_one", [True, False])
def test_figures_of_health_are_the_same(both, sums_to_one):
    found = []
    for each in both:
        maps = force(each.model, *each.pair(*TEXTS))[1]
        weights = maps[Site("cross")][0]
        weights = weights if weights.dim() == 3 else weights[None]
        found.append(
            figures(weights, weights.flip(-1), causal=False, eos=5, sums_to_one=sums_to_one)
        )
    for name, mine in found[0].items():
        assert mine.dtype == torch.float64
        torch.testing.assert_close(found[1][name], mine, rtol=1e-4, atol=1e-5)


def test_alignments_are_the_same(both):
    links = []
    for each in both:
        pairs = [(pair.source, pair.target) for pair in PAIRS[:4]]
        maps = [sites[Site("cross")].mean(dim=0) for sites in each.look(pairs, batch_size=3)]
        links.append(
            [strongest_links(w, each.source_keys(Site("cross"), *w.shape), 5) for w in maps]
        )
    assert links[1] == links[0]
    assert any(links[0])


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_a_written_word_waits_a_few_times(pretended, search):
    """What ends a search is asked for at every word; nothing is moved there or back for it."""
    with looking("transformer", DEVICE) as translator:
        source, lengths, _ = translator.pair(*TEXTS)
        traffic = []
        for limit in (3, 7):
            before = pretended.to, pretended.back, pretended.read
            options = {"limit": limit} if search == "greedy" else {"limit": limit, "width": 3}
            {"greedy": greedy, "beam": beam}[search](translator.model, source, lengths, **options)
            after = pretended.to, pretended.back, pretended.read
            traffic.append([b - a for a, b in zip(before, after, strict=True)])
    to, back, read = (long - short for short, long in zip(*traffic, strict=True))
    assert (to, back) == (0, 0)
    assert read <= 4 * READS[search]


READS = {"greedy": 1, "beam": 3}  # a word
