"""Whatever strangers send or lay down: the expected errors, no others, and nothing outside.

Each kind of input meets a few dozen made-up cases by default, and 1,000 in the slow run. That run
draws the same ones each time under ``CI``; ``FUZZ_CASES=10000`` and no ``CI`` draws as many new.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import json
import os
import re
import shutil
import struct
from contextlib import suppress
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.catalogue import FACTS
from support.formulas import MIXED, RANDOM, survives
from support.fuzz import JSON, TEXTS, altered, damaged

import dashboard
from attention_plugins import checkpoints, registry
from attention_plugins.catalogue import described_checkpoint
from attention_plugins.checkpoints import CARD, WEIGHTS, CheckpointError
from attention_plugins.contract import CheckpointSpec, ContractError
from attention_plugins.datasets.parallel import read_pairs
from attention_plugins.race.store import Race
from dashboard.features.race import task as race_task
from dashboard.features.race.task_import import read_race
from dashboard.features.race.view import RaceView, chosen
from dashboard.features.race.view import requests as requests_of_race
from dashboard.features.regression.task_problem import as_regression, read_table
from dashboard.jobs.training_files import checkpoint_name
from dashboard.records.catalogue import Catalogue, Checkpoint, problem_of
from dashboard.records.request import Request, Result
from dashboard.records.training import explained, parts_of, said
from dashboard.storage import races
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import Bundle, pack, read, unpack, write
from dashboard.storage.entries import parse_object
from dashboard.storage.files import BundleError, StorageError, make_folder
from dashboard.storage.races import OUTCOMES, PLAN
from dashboard.storage.run import Description, Run
from dashboard.storage.runs import Runs
from dashboard.storage.table_format import TableError, format_of
from dashboard.storage.training_folder import TrainingFolder
from dashboard.ui.checkpoints import origin
from dashboard.ui.layout import checkpoint_title
from dashboard.ui.navigation import installed

FEW, MANY = 40, int(os.environ.get("FUZZ_CASES", "1000"))
SHIPPED = checkpoints.SHIPPED / "bahdanau-additive-phrasebook"

# Links


@cache
def catalogue():
    return Catalogue.of(copy.deepcopy(FACTS))


@cache
def links():
    pages = [f"dashboard.features.{entry.name}.view" for entry in installed()]
    found = [importlib.import_module(page) for page in pages]
    return [page.LINK for page in found if hasattr(page, "LINK")]


@cache
def field_names():
    """What a link may say on any page, by the pages' own words."""
    found = {field.name for link in links() for field in link.fields}
    sources = Path(dashboard.__file__).parent.rglob("view.py")
    words = {
        word for path in sources for word in re.findall(r'"([a-z_]{1,20})"', path.read_text())
    }
    panels = {
        f"{letter}.{name}" for letter in "abcd" for name in ("width", "map", "learn", "seed")
    }
    return sorted(found | words | panels | {*"abcd"})


@st.composite
def queries(draw):
    known = [*catalogue().scorings, *catalogue().checkpoints, *catalogue().datasets]
    values = TEXTS | st.sampled_from(known) | st.from_regex(r"[0-9.,;:>-]{1,12}", fullmatch=True)
    names = st.sampled_from(field_names()) | TEXTS
    return draw(st.dictionaries(names, values | st.lists(values, max_size=3), max_size=8))


def check_link(_, query):
    for link in links():
        view, problems = link.parse(query, catalogue())
        written = link.format(view, catalogue())
        again = parse_qs(urlencode(written), keep_blank_values=True)
        assert link.parse(again, catalogue()) == (view, [])
        assert all(problem.isprintable() and len(problem) < 600 for problem in problems)


# Names and ids that become paths


@cache
def runs_in(folder):
    return Runs(folder)


def check_id(root, text):
    inside = root / "data"
    runs = runs_in(inside)
    for call in (
        lambda: TrainingFolder(text, inside).order(),
        lambda: TrainingFolder(text, inside).note_state("done"),
        lambda: runs.find(text),
        lambda: runs.packed(text),
        lambda: runs.panels(text),
        lambda: runs.delete(text),
        lambda: Blobs(inside).path(text),
        lambda: Blobs(inside).remove(text),
        lambda: make_folder(inside / checkpoint_name(text, inside, ())),
    ):
        with suppress(KeyError, ValueError, StorageError):
            call()
    assert {path.name for path in root.iterdir()} <= {"data", "secret"}
    assert (root / "secret").read_bytes() == b"untouched"
    assert all(path.resolve().is_relative_to(inside) for path in inside.rglob("*"))
    for folder in {*inside.iterdir()} - {inside / "runs"}:  # which has the open database
        shutil.rmtree(folder)
    name = checkpoints.name_of(Path("folder", text.replace("/", "")))
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name)


# Bundles


@cache
def bundle():
    table = pa.table({"kind": ["cross"], "n": [7], "w": [[0.25, 0.75]]})
    return write(
        Bundle(
            request=Request.make("translation", options={"text": "go ."}),
            result=Result(tables={"maps": table}, facts={"notes": ["x"], "n": 1.5}),
            title="One",
            link="/translation?text=go",
            charts={"map": {"mark": "rect", "data": {"values": [{"q": 0}]}}},
            pictures={"a.svg": b"<svg/>"},
            versions={"python": "3.11"},
        )
    )


@cache
def entries():
    return unpack(bundle(), lambda _: True)


@st.composite
def bundles(draw):
    """Damaged as a whole, or whole with entries that a new manifest vouches for."""
    if draw(st.booleans()):
        return draw(damaged(bundle()))
    held = dict(entries())
    manifest = json.loads(held.pop("manifest.json"))
    name = draw(st.sampled_from(sorted(held)))
    held[name] = draw(damaged(held[name]) | st.binary(max_size=99))
    stamp = {"bytes": len(held[name]), "sha256": hashlib.sha256(held[name]).hexdigest()}
    manifest["entries"][name] = stamp
    if draw(st.booleans()):
        manifest = draw(altered(manifest))
    packed = json.dumps(manifest).encode()
    return pack({"manifest.json": packed, **held})


def check_bundle(_, data):
    with suppress(BundleError):
        found = read(data)
        assert write(read(write(found))) == write(found)


# Tables and sentence pairs


LINES = st.text("0123456789.,;\t\"'\n\r eE+-naif:?\ufeff\xa0é", max_size=200).map(str.encode)


def check_table(root, data):
    (root / "table").write_bytes(data)
    format_of.cache_clear()
    with suppress(TableError):
        found = as_regression(read_table(root / "table"))
        assert found.x.isfinite().all()
        assert found.y.isfinite().all()


def check_pairs(_, data):
    with suppress(ContractError):
        for pair in read_pairs(data, alignments=None):
            assert pair.source
            assert pair.target


# Tokenisers


@cache
def built_in():
    return registry.load(allow=[])


def check_tokenisers(_, text):
    for name in built_in().records["tokenisers"]:
        tokeniser = built_in().tokeniser(name).create()
        tokens = tokeniser.tokenise(text)
        assert all(isinstance(token, str) for token in tokens)
        assert isinstance(tokeniser.detokenise(tokens), str)


# Cards


@cache
def shipped_card():
    card = json.loads((SHIPPED / CARD).read_text("utf-8"))
    words = {f"{side}_vocabulary": card[f"{side}_vocabulary"][:9] for side in ("source", "target")}
    return card | words


def check_card(root, content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (root / CARD).write_bytes(data)
    facts = described_checkpoint(CheckpointSpec(name="it", path=root))
    (json.dumps(facts, ensure_ascii=False, allow_nan=False)).encode()
    if facts["card"] is None:
        assert facts["fault"]
        return
    problem = problem_of(facts["card"])
    assert problem.isprintable()
    shown = Catalogue.of({**copy.deepcopy(FACTS), "checkpoints": [facts]})
    assert ("it" in shown.checkpoints) == (problem == "")
    for one in shown.checkpoints.values():
        check_shown(one, shown)


def check_shown(one: Checkpoint, shown: Catalogue):
    """What pages say of a checkpoint."""
    words = [origin(one), checkpoint_title(one.name, one, shown), one.corpus, *one.sides]
    for score in one.card["scores"].values():
        words += [said(parts_of(score)), explained(parts_of(score))]
    assert all(word.encode() or True for word in (*words, *one.examples))
    assert shown.corpora()


# Records


def check_record(_, data):
    with suppress(ValueError):
        assert Run.model_validate_json(data).created >= 0
    with suppress(ValueError):
        assert Description.model_validate_json(data).name
    with suppress(ValueError):
        assert parse_object(data, "it") is not None
    with suppress(ValueError):
        made = Request.from_json(data.decode("utf-8", "replace"))
        assert made.key


@cache
def record():
    digest = "0123456789abcdef" * 4
    return {"id": digest[:32], "name": "T", "note": "", "link": "/?a=b", "origin": "kept",
            "source": "regression", "created": 1.5e9, "expires": None, "bytes": 7,
            "digest": digest, "picture": "", "owner": "", "parent": ""}  # fmt: skip


@cache
def description():
    panel = {"request": "{}", "task": "regression", "seed": 7, "plugins": {"a": "1"}}
    return {"name": "T", "note": "", "link": "", "panels": [panel]}


@st.composite
def records(draw):
    request = json.loads(Request.make("regression", options={"a": 1}).to_json())
    made = draw(altered(draw(st.sampled_from([record(), description(), request]))))
    packed = json.dumps(made).encode()
    return draw(damaged(packed)) if draw(st.booleans()) else packed


def check_history(root, data):
    folder = TrainingFolder("0" * 32, root / "data")
    folder.path.mkdir(parents=True, exist_ok=True)
    (folder.path / "history.jsonl").write_bytes(data)
    (folder.path / "request.json").write_bytes(data)
    for epoch in folder.history().epochs:
        assert isinstance(epoch.loss, float | int)
    with suppress(KeyError):
        folder.order()


@st.composite
def histories(draw):
    epoch = {"epoch": {"epoch": 1, "loss": 2.0, "seconds": 3.0, "tokens_per_second": 5.0,
                       "bleu": None, "probe": "x", "score": None, "parts": {}}}  # fmt: skip
    state = {"state": "done", "note": "x", "facts": {"title": "x"}}
    request = {"request": json.loads(Request.make("training").to_json()), "created": 1.5e9}
    one = st.sampled_from([epoch, state, request])
    lines = draw(st.lists(one.flatmap(altered).map(json.dumps), max_size=3))
    return "\n".join(lines).encode()


# Races


@st.composite
def race_files(draw):
    """A race's plan and its outcomes, one of them altered or damaged."""
    trials = [
        {"task": "sine", "contestant": {"model": "nadaraya_watson", "scoring": name,
         "normaliser": ""}, "rate": 0.1, "seed": seed, "tuning": seed == 9}
        for name in ("gaussian", "uniform") for seed in (0, 1, 9)
    ]  # fmt: skip
    budget = {"examples": 20, "epochs": 3, "batch_size": 20, "rates": [0.1]}
    plan = {
        "format": 1, "seeds": 2, "tuning_seeds": 1, "tasks": {"sine": budget},
        "contestants": [trials[0]["contestant"], trials[3]["contestant"]],
    }  # fmt: skip
    outcomes = [
        {"trial": trial, "validation": 0.5, "quality": 0.25 * number, "losses": [1.0, 0.5, 0.25],
         "parts": {"near": 0.5, "copied": 0.75}, "curve": [[25.0, 0.5]], "parameters": 1,
         "example": {"queries": ["a"], "keys": ["b"], "weights": [[[1.0]]],
                     "x": [0.0], "predicted": [1.0], "truth": [2.0]}}
        for number, trial in enumerate(trials)
    ]  # fmt: skip
    race = {"plan": plan, "facts": {"command": "x"}}
    if draw(st.booleans()):
        race = draw(altered(race))
    else:
        which = draw(st.integers(0, len(outcomes) - 1))
        outcomes[which] = draw(altered(outcomes[which]))
    lines = "\n".join(map(json.dumps, outcomes)).encode()
    return json.dumps(race).encode(), draw(damaged(lines)) if draw(st.booleans()) else lines


def check_race(root, files):
    """What is taken in can be listed, compared and drawn; else a sentence says why not."""
    try:
        plan, outcomes, _ = read_race(pack(dict(zip((PLAN, OUTCOMES), files, strict=True))))
    except ValueError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_WORKBENCH_HOME", str(root / "data"))
        folder = races.folder_of("fuzz")
        make_folder(folder)
        (folder / PLAN).write_bytes(plan)
        (folder / OUTCOMES).write_bytes(outcomes)
        assert len(Race.open(folder).outcomes()) == outcomes.count(b"\n")
        for request in requests_of_race(chosen(RaceView(), races.read("fuzz"), catalogue())):
            with suppress(ContractError):
                assert race_task.perform(request, Quiet()).to_bytes()


class Quiet:
    """A job's context that hears nothing."""

    def report(self, fraction, note="", facts=None):
        """As of a worker."""

    def stopped(self):
        """As of a worker."""
        return False


# Weights


WANTED = {"a": (2, 3), "b.c": (5,)}


@st.composite
def weights(draw):
    """A file of weights whose head says something else, or whose head is none."""
    tensor = st.fixed_dictionaries(
        {},
        optional={
            "dtype": st.sampled_from(["F32", "F16", "BF16", "I64", "BOOL", "F8_E4M3", "X"]) | JSON,
            "shape": st.sampled_from([[2, 3], [5], [2**40, 2**40], [-1], []]) | JSON,
            "data_offsets": st.sampled_from([[0, 24], [24, 44], [0, 2**62], [44, 24]]) | JSON,
        },
    )
    names = st.sampled_from([*WANTED, "__metadata__"]) | TEXTS
    head = json.dumps(draw(st.dictionaries(names, tensor | JSON, max_size=3))).encode()
    head = draw(damaged(head)) if draw(st.booleans()) else head
    length = draw(st.just(len(head)) | st.integers(0, 2**64 - 1))
    return struct.pack("<Q", length) + head + draw(st.binary(max_size=50) | st.just(bytes(44)))


def check_weights(root, data):
    (root / WEIGHTS).write_bytes(data)
    with suppress(CheckpointError):
        found = checkpoints._read_weights(root, WANTED)
        assert {name: tuple(tensor.shape) for name, tensor in found.items()} == WANTED


KINDS = {
    "links": (check_link, queries()),
    "ids": (check_id, TEXTS | st.from_regex(r"[0-9a-f]{32}([0-9a-f]{32})?", fullmatch=True)),
    "bundles": (check_bundle, bundles()),
    "tables": (check_table, LINES | st.binary(max_size=200)),
    "pairs": (check_pairs, LINES | st.binary(max_size=200)),
    "tokenisers": (check_tokenisers, TEXTS),
    "formulas": (lambda _, text: survives(text), RANDOM | MIXED),
    "cards": (check_card, st.deferred(lambda: altered(shipped_card())) | st.binary(max_size=99)),
    "records": (check_record, records() | st.binary(max_size=99)),
    "histories": (check_history, histories() | st.binary(max_size=99)),
    "weights": (check_weights, weights() | st.binary(max_size=99)),
    "races": (check_race, race_files()),
}
LONG = pytest.mark.timeout(3600)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cases", [FEW, pytest.param(MANY, marks=[pytest.mark.slow, LONG])])
def test_no_input_makes_anything_fail_but_as_it_should(kind, cases, tmp_path):
    check, made = KINDS[kind]
    (tmp_path / "secret").write_bytes(b"untouched")
    (tmp_path / "data").mkdir()
    seen = []

    @settings(max_examples=cases, deadline=None, suppress_health_check=list(HealthCheck))
    @given(made)
    def run(given_input):
        seen.append(1)
        check(tmp_path, given_input)

    run()
    assert len(seen) >= cases
