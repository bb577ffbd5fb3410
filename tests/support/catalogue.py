"""A catalogue as a worker would hand it over, with plugins that choose unfortunate names."""

from __future__ import annotations

import copy
import functools
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from attention_plugins.hookspecs import HOOKS
from dashboard.features.regression import task_offer as regression
from dashboard.features.swaps import task_offer as swaps
from dashboard.features.training import task_offer as training
from dashboard.jobs.task_offers import offered
from dashboard.records.catalogue import Catalogue

_FEATURES = Path(__file__).parents[2] / "dashboard" / "features"


@pytest.fixture(scope="session", autouse=True)
def distributions_are_scanned_once():
    """Every app under test reads the metadata of all distributions, half a second each time."""
    with pytest.MonkeyPatch.context() as patch:
        scan = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


def parameter(name, default, low=None, high=None, **more):
    return {
        "name": name, "title": name.capitalize(), "default": default, "low": low, "high": high,
        "step": None, "unit": "", "learnable": False, "choices": [], "help": "", **more,
    }  # fmt: skip


WIDTH = parameter("width", 1.0, 0.02, 10.0, step=0.01, learnable=True)
POINTS, NOISE = parameter("points", 50, 2, 500), parameter("noise", 0.5, 0.0, 2.0, step=0.05)


def scoring(name, parameters=(), *, learns=False, **more):
    return {
        "name": name, "title": name.replace("_", " ").capitalize(), "formula": "q^\\top k",
        "reference": "", "description": "", "learns": learns, "parameters": list(parameters),
        **more,
    }  # fmt: skip


def normaliser(name, parameters=(), **more):
    return {
        "name": name, "title": name.capitalize(), "formula": f"{name}(s)", "reference": "",
        "description": f"What {name} does.", "sums_to_one": True, "learns": False,
        "parameters": list(parameters), **more,
    }  # fmt: skip


def named(name, task, parameters=(), **more):
    return {"name": name, "title": name.capitalize(), "task": task, "reference": "",
            "description": "", "parameters": list(parameters), **more}  # fmt: skip


def checkpoint(name, model, scored, corpus):
    card = {"title": f"{model} with {scored}", "model": model, "scoring": scored,
            "corpus": {"name": corpus, "trained_on": 1601, "sides": ["English", "French"],
                       "examples": ["i'm home .", "go .", "i lost ."]},
            "scores": {"held out, beam 5": {"bleu": 47.123}}}  # fmt: skip
    return {"name": name, "card": card, "fault": ""}


# Every option of a training but the model's own and the probe.
QUICK = {
    "pairs": 401, "held_out": 23, "recipe.epochs": 7, "recipe.batch_size": 64,
    "recipe.learning_rate": 0.005, "recipe.schedule": "cosine",
}  # fmt: skip
FACTS = {
    "kinds": {kind: hook.noun for kind, hook in HOOKS.items()},
    **{kind: [] for kind in HOOKS},
    "scorings": [
        scoring("uniform"),
        scoring("gaussian", [WIDTH], learns=True),
        scoring("laplacian", [WIDTH], learns=True),
        scoring("additive", learns=True, drawn=True, sized=True),
        scoring("scaled_dot"),
        scoring("bilinear", learns=True, drawn=True),
        scoring(
            "odd",
            [
                parameter("learn", 2.0, 1.0, 3.0),
                parameter("epochs", 7, 1, 9),
                parameter("sharp", False),
                parameter("kind", "near", choices=["near", "far"]),
            ],
            learns=True,
        ),
    ],
    "normalisers": [
        normaliser("softmax"),
        normaliser("sparsemax"),
        normaliser("entmax", [parameter("alpha", 1.3, 1.05, 4.0, step=0.05, learnable=True)],
                   learns=True),
        normaliser("sigmoid", sums_to_one=False),
    ],
    "models": [
        named("nadaraya_watson", "regression", [parameter("hidden", 8, 1, 64)]),
        named("other_model", "regression", [parameter("depth", 3, 1, 5)]),
        named("bahdanau", "translation",
              [parameter("hidden", 32, 2, 1024), parameter("dropout", 0.1, 0.0, 0.9)]),
        named("convolution", "translation", [parameter("hidden", 32, 2, 1024)]),
        named("self_attention", "encoding"),
    ],
    "datasets": [
        named("sine", "regression", [POINTS, NOISE], formula="y = x"),
        named("step", "regression", [POINTS, NOISE], formula=""),
        named("clash", "regression", [parameter("seed", 3, 0, 9), parameter("a", 0.5, 0.0, 1.0)],
              formula=""),
        named("pairs", "translation", [parameter("pairs", 997, 101, 5003)]),
        named("more_pairs", "translation"),
    ],
    "checkpoints": [
        checkpoint("one", "bahdanau", "additive", "tatoeba"),
        checkpoint("two", "bahdanau", "scaled_dot", "tatoeba"),
        checkpoint("three", "bahdanau", "bilinear", "tatoeba"),
        checkpoint("twin_a", "bahdanau", "additive", "phrasebook"),
        checkpoint("twin_b", "bahdanau", "additive", "phrasebook"),
    ],
    "options": {
        "regression": [
            parameter("learn", False), parameter("standardise", False),
            parameter("epochs", 200, 1, 2000), parameter("lr", 0.0, 0.0, 100.0, step=0.1),
            parameter("loss", "mean", choices=["mean", "sum"]),
        ],
        "translation": [parameter("beam", 1, 1, 12)],
        "training": [
            parameter("pairs", 401, 0, 10**6), parameter("held_out", 23, 0, 10_000),
            parameter("recipe.epochs", 7, 1, 10_000),
            parameter("recipe.batch_size", 64, 1, 10_000),
            parameter("recipe.learning_rate", 0.005, 1e-7, 10.0, step=0.001),
            parameter("recipe.schedule", "cosine", choices=["constant", "cosine"]),
        ],
        **{
            name: [one.described() for one in offered(f"{_FEATURES}/{name}/task.py").OPTIONS]
            for name in ("alignment", "complexity", "language_models", "norms", "positions")
        },
        "swaps": [one.described() for one in swaps.OPTIONS],
    },
    "measured": {
        "regression": [asdict(metric) for metric in regression.METRICS],
        "training": [asdict(metric) for metric in training.METRICS],
    },
    "presets": {
        "quick": {
            "bahdanau": {
                **QUICK, "probe": "I am not tired.", "model.hidden": 62, "model.dropout": 0.3,
            },
            "convolution": {**QUICK, "probe": "I am not tired.", "model.hidden": 34},
        },
        "patient": {
            "bahdanau": {
                **QUICK, "pairs": 0, "recipe.epochs": 211, "probe": "I am not tired.",
                "model.hidden": 128, "model.dropout": 0.1,
            },
            "convolution": {**QUICK, "recipe.epochs": 223, "probe": "", "model.hidden": 36},
        },
    },
    "devices": ["auto", "cpu"],
    "failures": [],
}  # fmt: skip


_WRITTEN = json.dumps(FACTS)


@pytest.fixture
def facts():
    """The catalogue's facts, free to be changed by the test."""
    return json.loads(_WRITTEN)  # a fifteenth of the time of a deep copy


@pytest.fixture(scope="session")
def catalogue():
    """The same as a page reads it."""
    return Catalogue.of(copy.deepcopy(FACTS))
