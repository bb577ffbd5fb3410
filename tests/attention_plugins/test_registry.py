"""Plugins installed as real ones are: a module and a ``.dist-info`` folder on the path."""

from __future__ import annotations

import importlib
import inspect
import signal
import sys
import textwrap

import pytest

import attention_plugins
from attention_plugins import ContractError, hookspecs, watching
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import Registry, installed, load

SCORING = """
    from attention_plugins import hookimpl, scoring

    @scoring("{name}", formula="q k", same_size=True)
    def product(queries, keys):
        return queries @ keys.mT

    @hookimpl
    def attention_scorings():
        yield product
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution with one module; undone after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = []

    def install(distribution, source, entries=None, version="1.2.3"):
        module = distribution.lower().replace("-", "_").replace(".", "_")
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source), "utf-8")
        info = tmp_path / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", "utf-8"
        )
        entries = {module: module} if entries is None else entries
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[attention_plugins]", *lines]), "utf-8")
        importlib.invalidate_caches()
        return module

    yield install
    for name in modules:
        sys.modules.pop(name, None)


def only_failure(registry: Registry):
    (failure,) = registry.failures
    return failure


BUILT_IN = load()


def assert_built_ins_are_whole(registry: Registry):
    for kind in HOOKS:
        assert set(BUILT_IN.records[kind]) <= set(registry.records[kind])


def test_the_built_ins_load_without_a_failure():
    assert BUILT_IN.failures == ()
    assert {"scaled_dot", "gaussian", "uniform"} <= set(BUILT_IN.scorings)
    assert {"nadaraya_watson", "bahdanau"} <= set(BUILT_IN.models)
    assert {"sine", "phrasebook", "tatoeba"} <= set(BUILT_IN.datasets)
    assert all(plugin.built_in for plugin in BUILT_IN.plugins)


def test_a_plugin_is_taken_in_with_where_it_came_from(install):
    install("My-Kernels", SCORING.format(name="mine"), {"kernels": "my_kernels"})
    registry = load()
    assert registry.failures == ()
    assert registry.scoring("mine").name == "mine"
    plugin = registry.provider("scorings", "mine")
    assert (plugin.name, plugin.distribution, plugin.version, plugin.module) == (
        "kernels", "My-Kernels", "1.2.3", "my_kernels",
    )  # fmt: skip
    assert plugin.offers == {"scorings": ("mine",)}
    assert not plugin.built_in
    assert registry.provider("scorings", "dot").distribution == "attention-workbench"


def test_an_entry_point_may_name_an_object_in_a_module(install):
    source = """
        from attention_plugins import hookimpl, scoring

        class Plugin:
            @hookimpl
            def attention_scorings(self):
                return [scoring("mine", formula="q k")(lambda queries, keys: queries @ keys.mT)]

        plugin = Plugin()
    """
    install("mine", source, {"mine": "mine:plugin"})
    assert "mine" in load().scorings


def test_a_plugin_may_implement_several_hooks(install):
    source = """
        from pathlib import Path
        from torch import nn
        from attention_plugins import (
            CheckpointSpec, DatasetSpec, ModelSpec, hookimpl, scoring
        )

        @hookimpl
        def attention_scorings():
            yield scoring("mine", formula="q k")(lambda queries, keys: queries @ keys.mT)

        @hookimpl
        def attention_models():
            yield ModelSpec(name="mine", title="Mine", task="regression",
                            build=lambda factory, sizes, values: nn.Identity())

        @hookimpl
        def attention_datasets():
            yield DatasetSpec(name="mine", title="Mine", task="regression",
                              load=lambda values, seed: None)

        @hookimpl
        def attention_checkpoints():
            yield CheckpointSpec(name="mine", path=Path("somewhere"))
    """
    install("mine", source)
    registry = load()
    assert registry.failures == ()
    for kind in ("scorings", "models", "datasets", "checkpoints"):
        assert registry.records[kind]["mine"].name == "mine"
        assert registry.provider(kind, "mine").distribution == "mine"


# Plugins that break


BROKEN = {
    "an import that is missing": (
        "import surely_not_installed", "import",
        "ModuleNotFoundError: No module named 'surely_not_installed' (broken.py, line 1)",
        "update or reinstall broken",
    ),
    "a name that torch does not have": (
        "import torch\ntorch.surely_not()", "import", "has no attribute 'surely_not'",
        'python -c "import broken" shows the whole traceback',
    ),
    "no Python": (
        "def f(:", "import", "SyntaxError: invalid syntax (broken.py, line 1)", "update",
    ),
    "an exit": (
        "import sys; sys.exit(3)", "import", "SystemExit: 3 (broken.py, line 1)", "update",
    ),
    "a record that cannot be": (
        SCORING.format(name="Two Words"), "import",
        "ContractError: a scoring's name is 1 to 40 of a-z, 0-9 and _, starting with a letter; "
        "got 'Two Words' (broken.py, line 4)", "update",
    ),
    "no hook": ("x = 1", "hooks", "broken implements no hook", "put @hookimpl above a function"),
    "a misspelt hook": (
        SCORING.format(name="mine").replace("attention_scorings", "atention_scoring"), "hooks",
        "there is no hook atention_scoring; did you mean attention_scorings?",
        "the hooks are attention_scorings, attention_normalisers, attention_layers, "
        "attention_models, attention_datasets, attention_tokenisers, attention_metrics, "
        "attention_translations, attention_checkpoints",
    ),
    "an argument that no hook gives": (
        SCORING.format(name="mine").replace("scorings()", "scorings(registry)"), "hooks",
        "Argument(s) {'registry'} are declared in the hookimpl", "the hooks take no arguments",
    ),
    "a wrapper around others": (
        SCORING.format(name="mine").replace("@hookimpl", "@hookimpl(wrapper=True)"),
        "hooks", "attention_scorings is a hook wrapper, which could change other plugins' records",
        "plain @hookimpl",
    ),
    "a hook that returns nothing": (
        SCORING.format(name="mine").replace("yield product", "product"), "record",
        "attention_scorings returned NoneType, need an iterable of ScoringSpec records",
        "yield each scoring, or return a list",
    ),
    "a hook that returns one record": (
        SCORING.format(name="mine").replace("yield product", "return product"), "record",
        "attention_scorings returned ScoringSpec, need an iterable", "yield each scoring",
    ),
    "a hook that raises": (
        SCORING.format(name="mine").replace("yield product", "return 1 / 0"), "call",
        "attention_scorings raised after 0 records: ZeroDivisionError: division by zero "
        "(broken.py, line 10)", "report it to the authors of broken",
    ),
    "an exit nobody catches": (
        "class Leave(BaseException): pass\nraise Leave('now')", "import",
        "Leave: now (broken.py, line 2)", "update",
    ),
    "a module that raises when it is looked at": (
        "def __getattr__(name): raise RuntimeError('do not look')", "hooks",
        "looking at broken raised RuntimeError: do not look (broken.py, line 1)",
        "name a plain module as the entry point",
    ),
    "a hook that is interrupted without anybody's Ctrl-C": (
        SCORING.format(name="mine").replace("yield product", "raise GeneratorExit"), "call",
        "attention_scorings raised after 0 records: GeneratorExit (broken.py, line 10)",
        "report it",
    ),
    "a hook that exits": (
        SCORING.format(name="mine").replace("yield product", "raise SystemExit"), "call",
        "attention_scorings raised after 0 records: SystemExit (broken.py, line 10)", "report it",
    ),
    "a contract of the future": (
        'ATTENTION_CONTRACT = "2"\n' + textwrap.dedent(SCORING.format(name="mine")), "contract",
        "it needs contract 2; this workbench has 1.2", "update attention-workbench",
    ),
    "a minor contract of the future": (
        'ATTENTION_CONTRACT = "1.7"\n' + textwrap.dedent(SCORING.format(name="mine")), "contract",
        "it needs contract 1.7; this workbench has 1.2", "update attention-workbench",
    ),
    "a contract of the past": (
        'ATTENTION_CONTRACT = "0.9"\n' + textwrap.dedent(SCORING.format(name="mine")), "contract",
        "it was written for contract 0.9; this workbench has 1.2", "update broken",
    ),
    "a contract that is no version": (
        "ATTENTION_CONTRACT = 1\n" + textwrap.dedent(SCORING.format(name="mine")), "contract",
        "ATTENTION_CONTRACT is 1, which is no version", 'write it like "1.2"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_plugin_costs_itself_alone(install, fault):
    source, stage, message, advice = BROKEN[fault]
    install("broken", source)
    install("fine", SCORING.format(name="healthy"))
    registry = load()
    failure = only_failure(registry)
    assert (failure.plugin, failure.distribution, failure.stage) == ("broken", "broken", stage)
    assert message in failure.message
    assert advice in failure.advice
    assert "\n" not in failure.message
    assert not failure.message.startswith("attention_plugins.")
    assert "healthy" in registry.scorings
    assert "mine" not in registry.scorings
    assert_built_ins_are_whole(registry)


def test_the_users_interrupt_passes_and_a_plugins_own_does_not(install, monkeypatch):
    install("broken", "raise KeyboardInterrupt('mine')")
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        load()
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    assert only_failure(load()).message == "KeyboardInterrupt: mine (broken.py, line 1)"


def test_a_plugin_in_quarantine_is_not_imported(install, monkeypatch):
    module = install("broken", SCORING.format(name="mine"))
    reasons = {(module, "broken"): "it was not loaded after 30 s"}
    monkeypatch.setattr(watching._Watch, "quarantined", reasons)
    failure = only_failure(load())
    assert module not in sys.modules
    assert (failure.stage, failure.message) == ("quarantine", "it was not loaded after 30 s")
    assert "Reload plugins" in failure.advice
    assert (failure.version, failure.module) == ("1.2.3", "broken")


def test_a_plugin_may_name_the_contract_that_it_needs(install):
    install("mine", 'ATTENTION_CONTRACT = "1.0"\n' + textwrap.dedent(SCORING.format(name="mine")))
    assert load().provider("scorings", "mine").contract == "1.0"
    assert load().provider("scorings", "dot").contract == ""


def test_a_built_in_that_breaks_costs_itself_too(monkeypatch):
    from attention_plugins.scorings import dot

    monkeypatch.delattr(dot, "average_pooling")
    monkeypatch.delitem(sys.modules, "attention_plugins.scorings")
    registry = load(allow=[])
    assert not registry.scorings
    assert "bahdanau" in registry.models
    failure = only_failure(registry)
    assert failure.stage == "import"
    assert "cannot import name 'average_pooling'" in failure.message
    assert "(__init__.py, line " in failure.message


def test_an_entry_point_to_nowhere_is_named(install):
    install("broken", "", {"broken": "surely_not_there"})
    failure = only_failure(load())
    assert failure.stage == "import"
    assert failure.message == "ModuleNotFoundError: No module named 'surely_not_there'"


def test_a_contract_of_today_is_fine(install):
    source = 'ATTENTION_CONTRACT = "1.0"\n' + textwrap.dedent(SCORING.format(name="mine"))
    install("mine", source)
    assert "mine" in load().scorings


def test_what_came_before_a_late_error_is_offered(install):
    source = SCORING.format(name="early") + "        raise OSError('too late')\n"
    install("broken", source)
    registry = load()
    assert "early" in registry.scorings
    failure = only_failure(registry)
    assert failure.stage == "call"
    assert failure.message.startswith("attention_scorings raised after 1 records: OSError: too la")


def test_a_record_of_the_wrong_type_costs_no_other(install):
    source = SCORING.format(name="mine").replace("yield product", "yield from ('x', product, 3)")
    install("broken", source)
    registry = load()
    assert "mine" in registry.scorings
    assert [failure.message for failure in registry.failures] == [
        "attention_scorings yielded str, need ScoringSpec records",
        "attention_scorings yielded int, need ScoringSpec records",
    ]


def test_a_hook_that_fails_does_not_cost_the_plugins_other_hooks(install):
    source = (
        SCORING.format(name="mine")
        + """
    @hookimpl
    def attention_models():
        raise OSError("no models today")
    """
    )
    install("broken", source)
    registry = load()
    assert "mine" in registry.scorings
    assert "OSError: no models today" in only_failure(registry).message


def test_a_generator_without_end_is_cut_off(install):
    source = SCORING.format(name="mine").replace("yield product", "while True: yield 1")
    install("broken", source)
    registry = load()
    assert registry.failures[-1].message == "attention_scorings yielded more than 1000 records"
    assert len(registry.failures) == 1001


def test_an_error_with_a_book_for_a_message_is_cut(install):
    install("broken", "raise RuntimeError('\\n'.join(['first', 'x' * 10_000]))")
    message = only_failure(load()).message
    assert len(message) < 400
    assert message.endswith("(broken.py, line 1)")


# Names


def test_a_built_ins_name_is_its_own(install):
    install("greedy", SCORING.format(name="dot"))
    registry = load()
    assert registry.scorings["dot"] is BUILT_IN.scorings["dot"]
    failure = only_failure(registry)
    assert (failure.distribution, failure.stage) == ("greedy", "clash")
    assert failure.message == (
        'greedy (greedy) offers scoring "dot", which is the name of a built-in'
    )
    assert failure.advice == 'give the scoring another name than "dot"'


def test_two_outsiders_of_one_name_are_both_refused_and_both_named(install):
    for name in ("first", "second"):
        source = (
            SCORING.format(name="shared")
            + """
    @hookimpl
    def attention_models():
        return ()
        """
        )
        install(
            name,
            source.replace(
                "yield product",
                f"""yield product
        yield scoring("of_{name}", formula="q k")(lambda queries, keys: queries @ keys.mT)""",
            ),
        )
    registry = load()
    assert "shared" not in registry.scorings
    assert {"of_first", "of_second"} <= set(registry.scorings)
    assert [(f.distribution, f.stage, f.message) for f in registry.failures] == [
        ("first", "clash",
         'scoring "shared" is claimed by first (first) and by second (second)'),
        ("second", "clash",
         'scoring "shared" is claimed by second (second) and by first (first)'),
    ]  # fmt: skip
    told = r'"shared" is claimed by first \(first\) and by second \(second\), so .* uninstall one'
    with pytest.raises(ContractError, match=told):
        registry.scoring("shared")


def test_a_plugin_that_uses_a_name_twice_is_refused_that_name(install):
    source = SCORING.format(name="twice").replace("yield product", "yield from [product, product]")
    install("mine", source)
    registry = load()
    assert "twice" not in registry.scorings
    assert only_failure(registry).message == 'mine (mine) offers scoring "twice" more than once'


def test_different_kinds_may_share_a_name(install):
    install("mine", SCORING.format(name="bahdanau"))
    registry = load()
    assert registry.failures == ()
    assert registry.provider("scorings", "bahdanau").distribution == "mine"
    assert registry.provider("models", "bahdanau").built_in


def test_a_module_that_two_entry_points_name_is_taken_once(install):
    install("mine", SCORING.format(name="mine"), {"one": "mine", "two": "mine"})
    registry = load()
    assert "mine" in registry.scorings
    failure = only_failure(registry)
    assert (failure.plugin, failure.stage) == ("two", "duplicate")
    assert failure.message == "mine is offered twice: as one by mine and as two by mine"


# The allow-list


def test_what_is_not_allowed_is_not_even_imported(install):
    module = install("Blocked.Plugin", SCORING.format(name="mine"))
    registry = load(allow=["something-else"])
    assert "mine" not in registry.scorings
    assert module not in sys.modules
    failure = only_failure(registry)
    assert (failure.distribution, failure.stage) == ("Blocked.Plugin", "blocked")
    assert failure.advice == "add Blocked.Plugin to ATTENTION_PLUGINS if you trust it"
    assert_built_ins_are_whole(registry)


@pytest.mark.parametrize(
    ("listed", "allowed"),
    [
        ("my-plugin", True), ("My.Plugin", True), ("other, MY_PLUGIN ,", True),
        ("other", False), ("", False), (" , ", False), ("my", False),
    ],
)  # fmt: skip
def test_the_environment_lists_what_is_allowed(install, monkeypatch, listed, allowed):
    install("my_Plugin", SCORING.format(name="mine"))
    monkeypatch.setenv("ATTENTION_PLUGINS", listed)
    assert ("mine" in load().scorings) == allowed
    assert "mine" in load(allow=["my.plugin"]).scorings  # what is asked for comes first


# Looking up


@pytest.mark.parametrize(
    ("look_up", "noun"),
    [("scoring", "scoring"), ("model", "model"), ("dataset", "data set"),
     ("checkpoint", "checkpoint")],
)  # fmt: skip
def test_a_name_that_is_missing_is_explained(look_up, noun):
    with pytest.raises(ContractError) as caught:
        getattr(BUILT_IN, look_up)("zzzz")
    message = str(caught.value)
    assert message.startswith(
        f'no {noun} "zzzz"; it may come from a plugin that is not installed here; offered: '
    )
    assert "did you mean" not in message


def test_a_near_name_is_suggested():
    with pytest.raises(ContractError, match=r'no scoring "gausian"; did you mean "gaussian"\?'):
        BUILT_IN.scoring("gausian")
    with pytest.raises(ContractError, match="offered: scaled_dot, dot, additive, mlp, bilinear"):
        BUILT_IN.scoring("gausian")


def test_a_normaliser_for_a_scoring_that_brings_its_own_is_refused_by_name_before_building():
    here = load(allow=[])
    for chosen in ("", "softmax"):
        assert here.scoring_factory("monotonic", None, chosen)
    with pytest.raises(ContractError, match=r"'monotonic' makes its weights .*not 'sparsemax'"):
        here.scoring_factory("monotonic", None, "sparsemax")


def test_an_empty_registry_offers_none():
    with pytest.raises(ContractError, match="offered: none"):
        Registry().model("bahdanau")


def test_a_registry_is_frozen():
    with pytest.raises(TypeError):
        BUILT_IN.scorings["mine"] = None
    with pytest.raises(AttributeError):
        BUILT_IN.scorings = {}
    with pytest.raises(TypeError):
        BUILT_IN.plugins[0].offers["scorings"] = ()


def test_a_process_loads_its_registry_once(install):
    first = installed()
    install("mine", SCORING.format(name="mine"))
    assert installed() is first
    assert "mine" in load().scorings


def test_loading_twice_gives_the_same():
    assert load() == BUILT_IN


def test_a_wrong_distribution_cannot_stop_the_others(install, tmp_path):
    install("fine", SCORING.format(name="healthy"))
    nameless = tmp_path / "nameless-1.0.dist-info"
    nameless.mkdir()
    (nameless / "entry_points.txt").write_text("[attention_plugins]\nx = 1nvalid !\n", "utf-8")
    registry = load()
    assert "healthy" in registry.scorings
    assert only_failure(registry).stage == "import"


# Structure


def test_every_hook_is_documented_and_known_to_the_registry():
    hooks = {
        name: function
        for name, function in vars(hookspecs).items()
        if hasattr(function, f"{hookspecs.PROJECT}_spec")
    }
    assert set(hooks) == {hook.name for hook in HOOKS.values()}
    for name, hook in hooks.items():
        assert inspect.getdoc(hook).startswith("Yield "), name
        assert not inspect.signature(hook).parameters
    assert list(HOOKS) == list(BUILT_IN.records)


def test_the_hooks_example_works(install):
    """The whole plugin in the documentation of the first hook."""
    example = inspect.getdoc(hookspecs.attention_scorings).partition("::\n")[2]
    install("example", textwrap.dedent(example))
    registry = load()
    assert registry.failures == ()
    assert "cosine_example" in registry.scorings


def test_the_public_names_are_there_once():
    assert len(set(attention_plugins.__all__)) == len(attention_plugins.__all__)
    assert all(hasattr(attention_plugins, name) for name in attention_plugins.__all__)


def test_a_scoring_may_be_named_by_its_formula():
    spec = BUILT_IN.scoring("=q @ k.T / √d")
    assert spec.name == "=dot(q, k) / sqrt(d)"
    assert BUILT_IN.scoring(spec.name).name == spec.name
    assert spec.name not in BUILT_IN.scorings
    assert BUILT_IN.offers("scorings", spec.name)
    assert not BUILT_IN.offers("models", spec.name)
    provider = BUILT_IN.provider("scorings", "=q.k/sqrt(d)")
    assert (provider.distribution, provider.offers) == (
        "attention-workbench", {"scorings": (spec.name,)}
    )  # fmt: skip
    assert provider.code
    with pytest.raises(ContractError, match='character 2: nothing is called "qk"'):
        BUILT_IN.scoring("=qk")
    with pytest.raises(ContractError, match=r'no model "=q\.k"'):
        BUILT_IN.model("=q.k")


def test_a_formula_may_stand_where_a_parameter_names_a_scoring():
    make = BUILT_IN.scoring_factory("combination", {"first": "=q.k", "second": "=-|i - j|"})
    assert make(attention_plugins.Sizes(5, 5, 5)).needs == ("positions",)
    with pytest.raises(ContractError, match="nothing is called"):
        BUILT_IN.scoring_factory("combination", {"first": "=os.k"})(
            attention_plugins.Sizes(5, 5, 5)
        )


def test_no_plugin_may_take_the_name_of_a_formula(install):
    install("mine", SCORING.format(name="=q.k"))
    registry = load()
    failure = only_failure(registry)
    assert failure.stage == "record"
    assert "yielded a scoring of the name =q.k" in failure.message
    assert "give it another name" in failure.advice
    assert registry.scoring("=q.k").reference == "Typed as a formula"
