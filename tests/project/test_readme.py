"""README.md and .github/docs tell the truth: code runs, commands and pages' links exist."""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import shlex
import subprocess
import sys
from types import ModuleType
from typing import NamedTuple
from urllib.parse import parse_qsl

import pytest
import torch
from support.documents import DOCUMENTS, ROOT, section

from attention_plugins import LayerSizes, ModelSizes, Recorder, Site, Tap, hookspecs, read_step
from attention_plugins.attention_log import read_index
from attention_plugins.checking import check, check_scoring
from attention_plugins.commands import main
from attention_plugins.encoding import batches, encode
from attention_plugins.models.protocols import Batch
from attention_plugins.recipe import Recipe
from attention_plugins.registry import installed, load
from attention_plugins.scorings.dot import dot_product
from dashboard import settings
from dashboard.jobs.task_catalogue import perform
from dashboard.language import ENGLISH, languages, said_in
from dashboard.pages import found
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request

README = DOCUMENTS["README.md"]
TEXT = "\n".join(DOCUMENTS.values())
START = "python -m pip install -r requirements.txt && streamlit run streamlit_app.py"
TEST = 'python -m pip install -r requirements.txt -e ".[test]" && python -m pytest'


class Block(NamedTuple):
    language: str
    text: str


BLOCKS = [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.S | re.M)]
PYTHON = [block.text for block in BLOCKS if block.language == "python"]
PLUGINS = [text for text in PYTHON if "@hookimpl" in text]
CODE = [text for text in PLUGINS if "def attention_scorings" in text]
NORMALISERS = [text for text in PLUGINS if "def attention_normalisers" in text]
LAYERS = [text for text in PLUGINS if "def attention_layers" in text]
MODELS = [text for text in PLUGINS if "def attention_models" in text]
DATASETS = [text for text in PLUGINS if "def attention_datasets" in text]
ADOPTED = section("using.md", "Models of others")  # its blocks run in test_families.py
WATCHING = [text for text in PYTHON if "import AttentionMaps, watch" in text]
SWAPPING = [text for text in PYTHON if " swap(" in text]
LOGGING = [text for text in PYTHON if re.search(r"\blog=|log_attention|_log\(", text)]
NOTEBOOK = [text for text in PYTHON if "dashboard.charts" in text and text not in WATCHING]
DOOR = [text for text in PYTHON if "dashboard.notebook import train" in text]
PRICES = [text for text in PYTHON if "price_of_swap" in text]
BERT = [text for text in PYTHON if "dashboard.notebook import watch" in text]
FORMULAS = [text for text in PYTHON if "attention_plugins.formula" in text]
_OF_PAGES = re.compile(r"dashboard\.(pages|ui|records)|^from attention_plugins\.contract")
PAGES = [text for text in PYTHON if _OF_PAGES.search(text)]
KIT = [text for text in PYTHON if "attention_plugins.checking" in text]
LINES = [line for b in BLOCKS if b.language == "bash" for line in b.text.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("python -m attention_plugins ")]


@pytest.mark.parametrize("command", [START, TEST])
def test_the_two_commands_stand_alone(command):
    assert LINES.count(command) == README.splitlines().count(command) == 1


def test_a_plugin_is_installed_with_the_workbench_that_it_depends_on():
    """Of requirements.txt alone, pip would look for the workbench in an index of packages."""
    (line,) = (one for one in LINES if "./chebyshev" in one)
    assert shlex.split(line)[:4] == ["python", "-m", "pip", "install"]
    assert "-e . " in line


def test_ci_takes_the_test_command_from_here():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    pattern = re.search(r"grep -xE '(.+?)' README\.md", script)[1]
    found = subprocess.run(
        ["grep", "-xE", pattern, ROOT / "README.md"], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == [TEST]
    assert TEST not in script


def test_every_block_of_python_is_run_by_a_test_here():
    run_here = [*CODE, *NORMALISERS, *MODELS, *DATASETS, *NOTEBOOK, *KIT, *FORMULAS, *PAGES]
    run_here += [*WATCHING, *SWAPPING, *LOGGING, *DOOR, *BERT, *LAYERS, *PRICES]
    run_here += (text for text in PYTHON if text in ADOPTED)
    assert sorted(run_here) == sorted(PYTHON)


def executed(code: str) -> dict:
    names: dict = {}
    exec(compile(code, "a document", "exec"), names)
    return names


def test_the_page_shown_is_the_package_that_is_tested():
    package = ROOT / "tests/plugins/attention_sharpness/src/attention_sharpness"
    files = {path.read_text("utf-8").partition('"""\n\n')[2] for path in package.glob("*.py")}
    assert {*PAGES} == files
    point = 'sharpness = "attention_sharpness:ENTRY"'
    lines = TEXT.splitlines()
    declared = (package.parents[1] / "pyproject.toml").read_text("utf-8").splitlines()
    assert lines.count(point) == declared.count(point) == 1


@pytest.mark.parametrize("code", CODE)
def test_every_plugin_shown_holds_everywhere_and_trains_in_the_translation_model(code):
    torch.manual_seed(0)
    for spec in executed(code)["attention_scorings"]():
        assert [finding for finding in check_scoring(spec) if not finding.passed] == []
        sizes = {"embed": 8, "hidden": 8}
        model = (
            installed()
            .model("bahdanau")
            .create(spec.factory(), ModelSizes(source=13, target=17), sizes)
        )
        loss = model.loss(batch())
        loss.backward()
        assert torch.isfinite(loss)


def test_the_normaliser_shown_holds_everywhere_and_trains():
    (code,) = NORMALISERS
    for spec in executed(code)["attention_normalisers"]():
        assert [each for each in check("normalisers", spec) if not each.passed] == []
        factory = dot_product.factory(None, spec.factory())
        sizes = {"embed": 8, "hidden": 8}
        model = installed().model("bahdanau").create(factory, ModelSizes(13, 17), sizes)
        assert torch.isfinite(model.loss(batch()))


def test_the_layer_shown_holds_everywhere_and_has_weights_below_0():
    (code,) = LAYERS
    (spec,) = executed(code)["attention_layers"]()
    assert [each for each in check("layers", spec) if not each.passed] == []
    layer, recorder = spec.create(dot_product.factory(), LayerSizes(8, heads=2)), Recorder()
    layer(Tap(recorder), Site("encoder"), torch.randn(1, 5, 8), torch.randn(1, 7, 8))
    (weights,) = recorder.weights().values()
    torch.testing.assert_close(weights.sum(dim=-1), torch.full((1, 2, 5), 0.5))


def test_the_model_shown_holds_everywhere_and_learns():
    (code,) = MODELS
    torch.manual_seed(0)
    for spec in executed(code)["attention_models"]():
        assert [each for each in check("models", spec) if not each.passed] == []
        model, known = spec.create(dot_product.factory(), ModelSizes(13, 17)), batch()
        descent = torch.optim.Adam(model.parameters(), lr=0.05)
        losses = []
        for _ in range(30):
            descent.zero_grad()
            losses.append(model.loss(known))
            losses[-1].backward()
            descent.step()
        assert losses[-1] < 0.1 * losses[0]


def test_the_data_set_shown_holds_everywhere_and_gives_its_links():
    (code,) = DATASETS
    (spec,) = executed(code)["attention_datasets"]()
    assert [each for each in check("datasets", spec) if not each.passed] == []
    pairs = spec.load({}, 0)
    assert len(pairs) == 8 * 7 * 6 * 5
    encoded = encode(
        pairs[:3], Recipe(tokeniser=spec.tokeniser, min_frequency=1), counted="spaces"
    )
    (learned,) = batches(encoded, 3, random.Random(0), torch.device("cpu"))
    diagonal = torch.eye(4, dtype=torch.bool).flip(0)
    assert learned.alignment[:, :4, :4].equal(diagonal.expand(3, 4, 4))
    assert int(learned.alignment.sum()) == 3 * 4


def test_the_kit_is_used_as_shown(monkeypatch):
    in_python, as_tests = KIT
    assert {finding.passed for finding in executed(in_python)["check_scoring"](dot_product)} == {
        True
    }
    module = ModuleType("chebyshev_scoring")
    module.chebyshev = executed(CODE[0])["chebyshev"]
    monkeypatch.setitem(sys.modules, "chebyshev_scoring", module)
    test = executed(as_tests)["test_it_holds"]
    ((_, rules),) = [mark.args for mark in test.pytestmark]
    assert len(rules) > 20
    for rule in rules:
        test(rule)


def batch():
    source, target = torch.randint(4, 13, (2, 5)), torch.randint(4, 17, (2, 3))
    source[1, 3:] = target[1, 2:] = 1
    return Batch(source, torch.tensor([5, 3]), target, torch.tensor([3, 2]))


@pytest.mark.slow
def test_the_notebook_chapter_draws_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawing, making = NOTEBOOK
    names = executed(drawing)
    (rows,) = names["chart"].to_dict()["datasets"].values()
    assert [row["value"] for row in rows] == [0.7, 0.2, 0.1, 0.1, 0.1, 0.8]
    page = (tmp_path / "map.html").read_text("utf-8")
    assert "leaving" in page
    assert not re.search(r"<script[^>]* src=", page)
    exec(compile(making, "a document", "exec"), names)
    assert (tmp_path / "maps.pdf").read_bytes().startswith(b"%PDF")


def test_the_scoring_of_the_cell_above_trains_and_is_drawn():
    (code,) = DOOR
    names = executed(code)
    assert names["model"].card["scoring"] == "distance"
    said = re.findall(r'explain\("a b c d"\)  # (.+)', code)
    assert said == [repr(names["seen"])] == ["a b c d <eos> -> d c b a <eos>"]
    assert names["chart"].to_dict()["datasets"]
    assert len(names["table"]) == len(names["seen"].tokens) * 5
    assert names["matrix"].to_numpy() == pytest.approx(names["seen"].maps[0].weights[0, 0].numpy())


def test_a_model_of_somebodys_own_is_swapped_tuned_and_compared_in_ten_lines(
    tmp_path, monkeypatch, capsys
):
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    first, second = SWAPPING
    lines = [line for line in first.splitlines() if line and "import" not in line]
    assert len(lines) <= 10
    names = executed(first)
    own, other = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    untuned = names["model"](names["texts"], labels=names["texts"]).loss.item()
    assert max(own, other) < untuned - 0.5
    assert own != other
    exec(compile(second, "a document", "exec"), names)
    assert capsys.readouterr().out.startswith("('transformer.h.1.attn',)")
    assert len(names["swapped"].sites) == 2


def test_bert_is_watched_with_its_tokens(monkeypatch):
    transformers = pytest.importorskip("transformers")
    (code,) = BERT
    words = ["[CLS]", "the", "cat", "sat", "down", ".", "[SEP]"]
    vocabulary = {word: n for n, word in enumerate([*words, "[PAD]", "[UNK]", "[MASK]"])}
    small = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=12, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=12,
    )  # fmt: skip
    model, tokenizer = transformers.BertModel(small), transformers.BertTokenizer(vocabulary)
    for kind, made in (("AutoModel", model), ("AutoTokenizer", tokenizer)):
        monkeypatch.setattr(
            getattr(transformers, kind), "from_pretrained", lambda name, made=made: made
        )
    names = executed(code)
    assert [one.weights.shape for one in names["seen"].maps] == [(1, 2, 7, 7)] * 2
    assert names["tokens"] == words
    spec = names["chart"].to_dict()
    assert spec["title"]["subtitle"] == "encoder.layer.*.attention.self"
    (keys,) = (each["value"] for each in spec["params"] if each["name"] == "keys")
    assert keys == words


def test_somebodys_own_model_and_scoring_are_priced_in_ten_lines(tmp_path, monkeypatch):
    transformers = pytest.importorskip("transformers")
    from attention_plugins.huggingface.numbers import Numbers
    from attention_plugins.price.records import Budget

    (code,) = PRICES
    assert len([line for line in code.splitlines() if line]) <= 10
    small = transformers.GPT2Config(
        vocab_size=11, n_embd=8, n_layer=1, n_head=2, n_positions=16, bos_token_id=1,
        eos_token_id=None,
    )  # fmt: skip
    made = (transformers.GPT2LMHeadModel(small), Numbers(small.to_dict()))
    for kind, one in zip(("AutoModelForCausalLM", "AutoTokenizer"), made, strict=True):
        monkeypatch.setattr(
            getattr(transformers, kind), "from_pretrained", lambda name, one=one: one
        )
    quick = Budget(steps=2, rates=(0.001,), batch_size=4, held_out=9, seeds=2)
    monkeypatch.setattr("attention_plugins.price.measuring.Budget", lambda: quick)
    monkeypatch.chdir(tmp_path)
    lines = [f"{n // 11} {n % 11} {(n * n) % 11}\n" for n in range(40)]
    (tmp_path / "texts.txt").write_text("".join(lines), "utf-8")
    outcomes = executed(code)["prices"].outcomes
    assert [one.swap.scoring for one in outcomes] == ["", "additive", "taxicab"] * 2
    assert not any(one.problem for one in outcomes)


def test_the_model_watched_in_the_notebook_gives_its_maps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = WATCHING
    names = executed(code)
    assert [each.name for each in names["maps"]] == ["layers.0.self_attn", "layers.1.self_attn"]
    (again,) = names["again"]
    assert again.weights.equal(names["maps"][1].weights)
    assert again.query_labels == ("the", "cat", "sat", "down", ".")
    (rows,) = names["chart"].to_dict()["datasets"].values()
    assert len(rows) == 2 * 5 * 5


def test_the_loop_shown_is_logged_by_the_two_lines_added(tmp_path, monkeypatch):
    pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    loop, probe, callbacks = LOGGING
    assert len([line for line in loop.splitlines() if line.endswith("# added")]) == 2
    assert len([line for line in loop.splitlines() if line.strip()]) < 20
    names = executed(loop)
    assert [line["step"] for line in read_index("logs/first").lines] == [0, 50, 100]
    exec(compile(probe, "a document", "exec"), names)
    assert read_step("logs/probe", 100)[1].key_labels == ("c", "a", "d", "a", "e")
    exec(compile(callbacks, "a document", "exec"), names)
    assert len(names["callbacks"]) == 1


def test_the_smallest_plugin_needs_at_most_ten_lines():
    assert len([line for line in CODE[0].splitlines() if line.strip()]) <= 10


@pytest.mark.slow
def test_the_smallest_plugin_installs_and_is_listed(tmp_path):
    """As a user does it: its own distribution, installed by pip, found by a new process."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (metadata,) = [b.text for b in BLOCKS if b.language == "toml" and "[project]" in b.text]
    (source / "pyproject.toml").write_text(metadata, encoding="utf-8")
    (source / "chebyshev_scoring.py").write_text(CODE[0], encoding="utf-8")
    run(
        sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
        "--no-build-isolation", "--target", str(target), str(source),
    )  # fmt: skip
    path = os.pathsep.join([str(target), str(ROOT)])
    listed = run(sys.executable, "-m", "attention_plugins", "list", "--json", PYTHONPATH=path)
    facts = json.loads(listed)
    own = [failure for failure in facts["failures"] if "chebyshev" in failure["distribution"]]
    assert own == []
    assert facts["scorings"]["chebyshev"]["plugin"] == "chebyshev-scoring"


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pip_is_given_a_folder_as_a_path():
    """A bare name would be looked for on the network."""
    folders = re.findall(r"pip wheel [^`\n]*?(\S+)(?:`|$)", TEXT, re.MULTILINE)
    assert folders == [".", "./my-scoring"]


SESSIONS = [b.text.removeprefix("$ ").split("\n", 1) for b in BLOCKS if b.language == "console"]


@pytest.mark.parametrize(("command", "output"), SESSIONS)
def test_every_session_shown_prints_what_it_says(command, output):
    _, *words = shlex.split(command)
    assert run(sys.executable, *words) == output


def test_the_formula_becomes_a_package():
    (code,) = FORMULAS
    files = executed(code)["files"]
    assert executed(files["src/my_chebyshev.py"])["score"].name == "my_chebyshev"


def test_every_formula_shown_is_one():
    shown = [word for line in COMMANDS for word in shlex.split(line) if word.startswith("=")]
    text = section("writing.md", "Type a scoring")
    shown += re.search(r"spellings both work: (.*?)\. The", text, re.S)[1].split("`")[1::2]
    assert len(shown) == 9
    assert all(installed().scoring(f"={text.lstrip('=')}").formula for text in shown)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_shown_exists_with_its_options(line, capsys):
    words = shlex.split(line)
    command = words[words.index("attention_plugins") + 1]
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    usage = capsys.readouterr().out
    options = [word for word in words if word.startswith("--")]
    assert [option for option in options if option not in usage] == []


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.of(perform(Request.make("catalogue"), None).facts)


LINKS = re.findall(r"`/(\w*)\?([^`]+)`", TEXT)
# By the first part of a link's address; the first page is where the bare address leads.
FEATURES = {("" if entry is found()[0] else entry.path): entry.name for entry in found()}


def link_of(page):
    return importlib.import_module(f"dashboard.features.{FEATURES[page]}.view").LINK


def test_every_page_with_something_to_set_has_a_link_to_look_at():
    assert {page for page, _ in LINKS} == {page for page in FEATURES if link_of(page).fields}


@pytest.mark.parametrize("entry", found(), ids=lambda entry: entry.name)
def test_a_page_is_called_alike_in_the_menu_over_itself_and_here(entry):
    page = importlib.import_module(f"{entry.module}.page")
    for spoken in languages():
        heading = said_in(spoken, page.PAGE.title, page.__name__)
        assert heading == entry.said(entry.title, spoken)
    assert f"\n| *{entry.title}* |" in TEXT


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_every_link_shown_is_taken_as_it_stands(page, link, catalogue):
    query = dict(parse_qsl(link, strict_parsing=True))
    assert query.pop("lang", ENGLISH) in languages()  # every page reads it by itself
    shown = link_of(page)
    view, problems = shown.parse(query, catalogue)
    assert problems == []
    assert shown.format(view, catalogue) == query


EVERY_CARD = [json.loads(p.read_text("utf-8")) for p in sorted(ROOT.glob("trained/*/card.json"))]
CARDS = [card for card in EVERY_CARD if "continues" not in card["corpus"]]
CONTINUING = [card for card in EVERY_CARD if "continues" in card["corpus"]]


@pytest.mark.parametrize(
    "card",
    CARDS,
    ids=lambda card: "-".join([card["model"], card["scoring"], card["corpus"]["name"]]),
)
def test_the_results_shown_are_those_of_the_cards(card):
    scores, corpus = card["scores"], card["corpus"]
    greedy, beam = (scores[name] for name in ("held out, greedy", "held out, beam 5"))
    figures = [part["bleu"] for one in (greedy, beam) for part in (one, one["near"], one["far"])]
    cells = [f"{figure:.2f}" for figure in (*figures, greedy["copied"]["bleu"])]
    assert greedy["copied"] == beam["copied"]
    cells += [f"{card['training']['loss']:.3f}", lowest_alignment_error(greedy)]
    results = section("using.md", "Trained models")
    (row,) = [line for line in results.splitlines() if f"| {cells[0]} | {cells[1]} |" in line]
    shown = [cell.strip() for cell in row.split("|")[1:-1]]
    assert [cell.lower() for cell in shown[:2]] == [corpus["name"], card["model"]]
    assert shown[3:] == cells
    text = " ".join(results.split())
    assert f"{corpus['trained_on']:,} pairs" in text
    assert f"{corpus['pairs']:,} pairs" in text
    assert f"{greedy['near']['sentences']:,} of {corpus['name'].capitalize()}'s" in text
    assert f" {greedy['sentences']:,} " in text


def test_the_decoders_results_are_those_of_their_cards():
    def row(*cells):
        return f"| {' | '.join(cells)} |".replace("|  |", "| |")

    def figures(score):
        return f"{score['nats']:.2f}", f"{100 * score['accuracy']:.1f}%"

    results = section("using.md", "Trained models")
    titles = {"scaled_dot": "scaled dot product", "alibi": "ALiBi"}
    (first, *others) = cards = CONTINUING
    recipes = [{**card["training"], "loss": 0, "seconds": 0} for card in cards]
    assert all(recipe == recipes[0] for recipe in recipes)
    for card in cards:
        own = titles[card["scoring"]], *figures(card["scores"]["held out"])
        assert row("Decoder", *own, f"{card['training']['loss']:.3f}") in results
    score, corpus = first["scores"]["held out"], first["corpus"]
    for name in ("bigram", "unigram"):
        assert row(name, "", *figures(score[name]), "") in results
        assert all(card["scores"]["held out"][name] == score[name] for card in others)
    text = " ".join(results.split())
    assert f"{corpus['trained_on']:,} beginnings" in text
    assert f"over {first['training']['epochs_done']} epochs" in text
    assert f"{score['sentences']:,} whole sentences" in text
    assert f"{score['words']:,} tokens" in text


def lowest_alignment_error(score):
    """Of the best layer's only head, or mean of heads, as the table writes it."""
    rates = score.get("alignment_error", {})
    means = [rate for place, rate in rates.items() if place.endswith("mean of heads")]
    return f"{min(means or rates.values()):.3f}" if rates else ""


def test_every_hook_is_named():
    hooks = [name for name in vars(hookspecs) if name.startswith("attention_")]
    assert len(hooks) >= 4
    assert [hook for hook in hooks if hook not in section("writing.md", "All hooks")] == []


# What a plugin's module may say of itself: no variables of the environment.
OF_MODULES = {"ATTENTION_CONTRACT", "ATTENTION_EXPECTED_FAILURES"}


def test_the_variables_named_are_those_that_the_code_reads():
    variable = re.compile(r"\bATTENTION_[A-Z_]+\b")
    sources = [*ROOT.glob("attention_plugins/**/*.py"), *ROOT.glob("dashboard/**/*.py")]
    read = {name for path in sources for name in variable.findall(path.read_text("utf-8"))}
    tests = [path.read_text("utf-8") for path in ROOT.glob("tests/**/*.py")]
    read |= {name for text in tests for name in re.findall(r"\bATTENTION_TEST_[A-Z]+\b", text)}
    read |= {settings.variable(name) for name in settings.Settings.model_fields}
    assert set(variable.findall(TEXT)) - OF_MODULES == read - OF_MODULES


def test_every_path_shown_exists():
    named = re.findall(r"`((?:attention_plugins|dashboard|tests|trained|\.ci)/[\w./-]*)`", TEXT)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_everything_that_comes_with_it_is_listed():
    registry = load(allow=[])
    named = set(re.findall(r"`([a-z0-9_]+)`", section("writing.md", "What comes with it")))
    kinds = "scorings", "normalisers", "layers", "models", "datasets", "tokenisers", "metrics"
    assert named == {name for kind in kinds for name in registry.records[kind]}
