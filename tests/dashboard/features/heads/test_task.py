"""The task of the page Heads, with a small Transformer, its faults planted one at a time."""

import math

import pytest
import torch

from attention_plugins import checkpoints, experiment, registry
from attention_plugins.beyond import MEASURES, Patch, measured, outputs
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.decoding import force
from attention_plugins.models.transformer import Transformer
from attention_plugins.recipe import Recipe
from attention_plugins.tap import Intervention, Site, Tap
from attention_plugins.translator import Pair
from dashboard.features.heads import task as heads
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result

PAIRS = [
    SentencePair(f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]
HEADS, LAYERS = 7, 3
SENTENCE, TARGET = "I see my dog.", "je vois un chat !"


class Watch:
    def __init__(self, stop_at=2.0):
        self.stop_at, self.fractions = stop_at, []

    def report(self, fraction, note="", facts=None):
        self.fractions.append(fraction)
        if fraction >= self.stop_at:
            raise Cancelled

    def stopped(self):
        return False


@pytest.fixture(scope="module", autouse=True)
def registered(tmp_path_factory):
    """A registry with the checkpoint ``animals``: not trained, but not as it began either."""
    root = tmp_path_factory.mktemp("kept")
    found = registry.load(allow=[])
    plan = experiment.Experiment(
        model="transformer", scoring="scaled_dot", corpus="animals",
        model_parameters={"hidden": 28, "heads": HEADS, "layers": LAYERS, "ffn": 11},
        recipe=Recipe(min_frequency=1, epochs=1, max_tokens=13, seed=3),
    )  # fmt: skip
    ready = experiment.prepare(plan, PAIRS, found)
    with torch.no_grad():
        for weight in ready.model.decoder.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.manual_seed(5)), alpha=0.1)
    checkpoints.write(root / "animals", ready.model, ready.card)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_CHECKPOINTS", str(root))
        found = registry.load(allow=[])
        for task in (heads, task_translator):
            patch.setattr(task, "installed", lambda: found)
        task_translator.translator_of.cache_clear()
        yield found
    task_translator.translator_of.cache_clear()


def _ask(task="heads", watch=None, **options):
    request = Request.make(task, data="animals", device="cpu", options=options)
    return perform(request, watch or Watch())


def _table(result):
    return Result.from_bytes(result.to_bytes()).tables["heads"].to_pylist()


def test_every_head_of_every_map_has_its_figures(registered):
    watch = Watch()
    result = _ask(watch=watch, text=SENTENCE, target=TARGET)
    rows = _table(result)
    assert [(r["kind"], r["layer"], r["head"]) for r in rows if r["kind"] == "cross"] == [
        ("cross", layer, head) for layer in range(LAYERS) for head in range(HEADS)
    ]
    assert len(rows) == 3 * LAYERS * HEADS
    for row in rows:
        decoder = row["kind"] == "decoder"
        assert row["row_error"] < 1e-5
        assert math.isnan(row["padding"]) == math.isnan(row["eos"]) == decoder
        assert decoder or row["padding"] == 0
    assert result.facts["padded_to"] == 6 + 5
    assert result.facts["row_error"] == max(row["row_error"] for row in rows)
    assert result.facts["padding"] == 0
    assert result.facts["forced"] is True
    assert result.facts["tokens"][-2:] == ["!", "<eos>"]
    assert result.facts["plugins"]["model"]["distribution"] == "attention-workbench"
    assert watch.fractions == sorted(watch.fractions)
    assert watch.fractions[-1] == pytest.approx(1)
    translator = task_translator.translator_of("animals", "cpu")
    pair = translator.pair(SENTENCE, TARGET)
    off = [Intervention(site=Site("cross", 1), action="off", head=4)]
    lost = force(translator.model, *pair, interventions=off)[0].sum()
    (row,) = [r for r in rows if (r["kind"], r["layer"], r["head"]) == ("cross", 1, 4)]
    assert row["leave_one_out"] == pytest.approx(
        lost.item() - result.facts["log_probability"], abs=1e-4
    )


def test_the_sentence_is_translated_without_the_head_that_it_needs_most():
    result = _ask(text=SENTENCE)
    most = min(_table(result), key=lambda row: row["leave_one_out"])
    place = f"{most['kind']}.{most['layer'] + 1}.{most['head'] + 1}"
    off = _ask("translation", text=SENTENCE, changes=f"off:{place}").facts
    assert result.facts["needed"] == {
        "translation": off["unchanged"]["translation"], "without": off["translation"],
    }  # fmt: skip
    assert _ask(text=SENTENCE, target=TARGET).facts["needed"] is None


def test_the_share_on_the_end_is_read_from_the_last_key():
    rows = _table(_ask(text=SENTENCE, target=TARGET))
    translator = task_translator.translator_of("animals", "cpu")
    pair = translator.pair(SENTENCE, TARGET)
    assert translator.source_vocabulary.words(pair.source[0].tolist())[-1] == "<eos>"
    _, sites = force(translator.model, *pair)
    for row in rows:
        if row["kind"] != "decoder":
            weights = sites[Site(row["kind"], row["layer"])][0, row["head"]]
            assert row["eos"] == pytest.approx(weights[:, -1].mean().item(), abs=1e-6)
            assert abs(row["eos"] - weights[:, -2].mean().item()) > 1e-6


def test_what_training_did_not_touch_is_as_untrained():
    rows = _table(_ask(text=SENTENCE))
    distances = {kind: [r["distance"] for r in rows if r["kind"] == kind]
                 for kind in ("encoder", "cross", "decoder")}  # fmt: skip
    assert max(distances["encoder"]) < 1e-4  # half precision at rest
    assert min(distances["cross"] + distances["decoder"][HEADS:]) > 1e-3
    assert all("untrained" in r["verdicts"] for r in rows if r["kind"] == "encoder")


def test_weight_on_padding_is_found(monkeypatch):
    start = Transformer.start

    def forgets_the_mask(self, source, lengths, tap):
        state = start(self, source, lengths, tap)
        return state | {"mask": torch.ones_like(state["mask"])}

    monkeypatch.setattr(Transformer, "start", forgets_the_mask)
    result = _ask(text=SENTENCE, target=TARGET)
    rows = _table(result)
    largest = max(row["padding"] for row in rows if row["kind"] == "cross")
    assert result.facts["padding"] == largest
    for row in rows:
        assert ("padding" in row["verdicts"].split()) == (row["kind"] == "cross")
        assert row["kind"] != "cross" or row["padding"] > 0.1


def test_padding_is_that_of_the_worst_row_of_the_sentence_itself(monkeypatch):
    """A source of 3 tokens and a target of 2, padded to 5 keys beside a longer sentence."""
    cross = torch.zeros(2, 2, 2, 5)  # batch, heads, queries, keys
    cross[0, 0, 0, 3:] = torch.tensor([0.25, 0.125])
    cross[0, 1, 1, 4] = 0.0625
    encoder = torch.zeros(2, 2, 5, 5)
    encoder[0, 1, 2, 3] = 0.5
    encoder[0, :, 3:, 3:] = 0.75  # of the queries that are padding themselves
    for weights in (cross, encoder):
        weights[..., :3] = 0.7  # on words
        weights[1] = 0.8  # of the longer sentence
    sites = {Site("cross", 0): cross, Site("encoder", 0): encoder, Site("decoder", 0): cross}
    monkeypatch.setattr(heads, "force", lambda model, *longer: (None, sites))
    pair = Pair(torch.zeros(1, 3), torch.tensor([3]), torch.zeros(1, 2))
    found = heads._padding(None, pair, pair)
    assert {site.kind: worst.tolist() for site, worst in found.items()} == {
        "cross": [0.375, 0.0625], "encoder": [0.0, 0.5],
    }  # fmt: skip


def test_rows_that_do_not_sum_to_one_are_found(monkeypatch):
    attend = Tap.attend

    def leaks(self, site, *given, **more):
        output = attend(self, site, *given, **more)
        if self.recorder and site == Site("encoder", 2):
            self.recorder._parts[site][-1] *= 0.75
        return output

    monkeypatch.setattr(Tap, "attend", leaks)
    rows = _table(_ask(text=SENTENCE, target=TARGET))
    for row in rows:
        wrong = (row["kind"], row["layer"]) == ("encoder", 2)
        assert ("row_sums" in row["verdicts"].split()) == wrong
        assert row["row_error"] == pytest.approx(0.25 if wrong else 0, abs=1e-5)


def test_the_longest_sentence_has_no_longer_neighbour():
    result = _ask(text="see " * 12, target=TARGET)
    assert result.facts["padded_to"] == 0
    assert all(math.isnan(row["padding"]) for row in _table(result))


def test_a_cancelled_request_stops_between_two_heads():
    watch = Watch(stop_at=0.5)
    with pytest.raises(Cancelled):
        _ask(watch=watch, text=SENTENCE)
    assert watch.fractions[-1] < 0.55


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": " "}, "need at least one word in the sentence, got none"),
        ({"text": "a", "beam": 3}, "no option 'beam'; offered: text, target"),
        ({"text": 5}, "need text to be text, got 5"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        _ask(**options)


def test_without_changes_a_translation_is_as_it_always_was():
    plain, empty = (_ask("translation", text=SENTENCE, **more) for more in ({}, {"changes": " "}))
    for facts in (plain.facts, empty.facts):
        facts.pop("seconds")
    assert plain.facts == empty.facts
    assert plain.tables == empty.tables
    assert "unchanged" not in plain.facts


def test_changes_are_what_interventions_do():
    usual = _ask("translation", text=SENTENCE, beam=3).facts
    text = "off:cross.2.all off:encoder.1.5 uniform:decoder.1.2 pin:cross.3.1:2>0"
    result = _ask("translation", text=SENTENCE, beam=3, changes=text)
    translator = task_translator.translator_of("animals", "cpu")
    made = [
        Intervention(site=Site("cross", 1), action="off"),
        Intervention(site=Site("encoder", 0), action="off", head=4),
        Intervention(site=Site("decoder", 0), action="uniform", head=1),
        Intervention(site=Site("cross", 2), action="pin", head=0, row=2, key=0),
    ]
    said = translator.explain(SENTENCE, width=3, interventions=made)
    facts = result.facts
    assert facts["changes"] == text
    assert facts["tokens"] == list(said.tokens)
    assert facts["log_probability"] == said.log_probability
    unchanged = facts["unchanged"]
    for name in ("translation", "tokens", "log_probability"):
        assert unchanged[name] == usual[name]
    kept, _ = force(translator.model, *translator.pair(SENTENCE, width=3), interventions=made)
    assert unchanged["changed_log_probability"] == pytest.approx(kept.sum().item(), abs=1e-4)
    drawn = {(m["kind"], m["layer"]): m["weights"] for m in result.tables["maps"].to_pylist()}
    assert not any(drawn["cross", 1])
    assert any(drawn["cross", 0])


@pytest.mark.parametrize("measure", MEASURES)
def test_maps_show_a_measure_where_it_is_asked_for(measure):
    translator = task_translator.translator_of("animals", "cpu")
    result = _ask("translation", text=SENTENCE, target=TARGET, measure=measure)
    scores, known = measured(translator.model, *translator.pair(SENTENCE, TARGET), measure)
    assert result.facts["measure"] == measure
    assert result.facts["log_probability"] == pytest.approx(scores.sum().item())
    drawn = {(m["kind"], m["layer"]): m for m in result.tables["maps"].to_pylist()}
    assert len(drawn) == len(known) == 3 * LAYERS
    for site, numbers in known.items():
        one = drawn[site.kind, site.layer]
        assert one["heads"] == (1 if measure == "rollout" else HEADS)
        assert one["weights"] == pytest.approx(numbers.flatten().tolist(), abs=1e-6)
        assert bool(one.get("signed")) == (measure == "gradient")
    asked = {"text": SENTENCE, "measure": measure, "changes": "off:encoder.1.all"}
    if measure == "rollout":
        with pytest.raises(ContractError, match="encoder layer 1: rollout needs rows that sum"):
            _ask("translation", **asked)
        return
    first, *_ = _ask("translation", **asked).tables["maps"].to_pylist()
    assert (first["kind"], first["layer"], any(first["weights"])) == ("encoder", 0, False)


def test_a_patched_head_takes_its_output_from_the_other_sentence():
    translator = task_translator.translator_of("animals", "cpu")
    pair, other = translator.pair(SENTENCE), translator.pair("the cat see a .")
    known = outputs(translator.model, *other[:2], pair.target)[Site("encoder", 1)]
    asked = {"text": SENTENCE, "changes": "patch:encoder.2.5"}
    facts = _ask("translation", **asked, other="the cat see a .").facts
    patch = Patch(site=Site("encoder", 1), action="patch", head=4, output=known)
    kept, _ = force(translator.model, *pair, interventions=[patch])
    lost = facts["unchanged"]["changed_log_probability"]
    assert lost == pytest.approx(sum(kept[0].tolist()), abs=1e-6)
    assert abs(lost - facts["unchanged"]["log_probability"]) > 1e-3
    assert facts["translation"] == translator.write(SENTENCE, [patch])
    same = _ask("translation", **asked, other=SENTENCE).facts["unchanged"]
    assert same["changed_log_probability"] == pytest.approx(same["log_probability"], abs=1e-6)
    cross = _ask("translation", text=SENTENCE, changes="patch:cross.1.all", other="a dog")
    assert cross.facts["changes"] == "patch:cross.1.all"  # rows are the words that are written
    for more, message in (
        ({"other": "a dog"}, "of as many tokens: this head has 6 rows here and 3 there"),
        ({}, "need at least one word in the other sentence"),
        (
            {"measure": "entropy", "changes": ""},
            "need one of norms, gradient, rollout, got 'entropy'",
        ),
    ):
        with pytest.raises(ContractError, match=message):
            _ask("translation", **{**asked, **more})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("off:cross.4.1", r"off:cross\.4\.1: this model has no cross\.4; offered: encoder\.1"),
        ("off:cross.1.8", r"off:cross\.1\.8: need 1 <= head <= 7, got 8"),
        ("pin:cross.1.1:6>0", r"pin:cross\.1\.1:6>0: need 0 <= row < 6, got 6"),
        ("pin:cross.1.1:0>6", "need 0 <= key < 6, got 6"),
        ("pin:decoder.1.1:2>3", r"need 0 <= key < 3, got 3 \(a word sees those before it alone\)"),
        ("mute:cross.1.1", "need one of off, uniform, pin"),
    ],
)
def test_a_change_to_what_is_not_there_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        _ask("translation", text=SENTENCE, target=TARGET, changes=changes)


def test_a_shared_translator_keeps_nothing_of_a_change():
    before = _ask("translation", text=SENTENCE, target=TARGET)
    _ask("translation", text=SENTENCE, target=TARGET, changes="off:cross.1.all")
    after = _ask("translation", text=SENTENCE, target=TARGET)
    assert before.tables == after.tables
