import json
import traceback
import types

import pytest

from dashboard.jobs import errors
from dashboard.records.request import Request

REQUEST = Request.make("translation", model="bahdanau", scoring="cosine")


def raise_from(module, code="raise RuntimeError('no')"):
    """The exception of code that says it lives in a module."""
    space = types.ModuleType(module).__dict__
    exec(f"def call(inner=None):\n    inner() if inner else None\n    {code}", space)
    return space["call"]


def caught(call, *arguments):
    """What the call raises, without the frames of this file: it is outside the project too."""
    try:
        call(*arguments)
    except Exception as raised:
        error = raised
    kept = None
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if frame.f_globals is not globals():
            kept = types.TracebackType(kept, frame, frame.f_lasti, line)
    return error.with_traceback(kept)


def test_a_job_is_named_by_its_task_and_plugins():
    assert errors.job_name(REQUEST) == "translation with bahdanau and cosine"
    assert (
        errors.job_name(Request.make("regression", scoring="uniform")) == "regression with uniform"
    )
    assert errors.job_name(Request.make("catalogue")) == "catalogue"


def test_a_refusal_is_the_sentence_itself():
    assert errors.refused(REQUEST, ValueError("need 2 <= n")) == ("need 2 <= n", {"refused": True})
    assert errors.refused(REQUEST, ValueError())[0].startswith("translation with bahdanau")
    error = ValueError("need a number")
    error.facts = {"row": 3}
    assert errors.refused(REQUEST, error) == ("need a number", {"refused": True, "row": 3})


def test_an_exception_gives_its_type_and_last_line():
    note, facts = errors.raised(REQUEST, caught(raise_from("dashboard.x")), 0)
    assert note == "translation with bahdanau and cosine: RuntimeError: no"
    assert facts["traceback"].endswith("RuntimeError: no")
    assert "culprit" not in facts


def test_of_many_lines_the_last_says_it_without_the_folders_of_this_machine(tmp_path):
    note, _ = errors.raised(REQUEST, RuntimeError(f"loading\nno file {tmp_path}/a.bin\n"), 0)
    assert note.endswith("cosine: RuntimeError: no file …/a.bin")


def test_long_messages_are_cut_everywhere():
    note, facts = errors.raised(REQUEST, RuntimeError("x" * 10**6 + "\n" + "y" * 10**6), 0)
    assert len(note) < 700
    assert len(json.dumps(facts)) < 16 * 700
    assert errors.refused(REQUEST, ValueError("z" * 501))[0] == "z" * 500 + "…"
    assert errors.refused(REQUEST, ValueError("z" * 500))[0] == "z" * 500
    lost, no_worker = errors.lost(REQUEST, "y" * 501)[0], errors.no_worker("y" * 501)[0]
    assert f"({'y' * 500}…)" in lost
    assert f": {'y' * 500}…;" in no_worker


def test_no_folder_of_this_machine_is_named_where_none_starts_or_one_is_lost():
    said = "no file …/python"
    for describe in (errors.no_worker, lambda reason: errors.lost(REQUEST, reason)):
        assert said in describe("no file /home/ada/lab/python")[0]


def test_the_traceback_is_its_last_lines():
    code = "\n".join(f"def f{n}(): f{n + 1}()" for n in range(30)) + "\ndef f30(): 1 / 0"
    space = {}
    exec(code, space)
    _, facts = errors.raised(REQUEST, caught(space["f0"]), 0)
    assert len(facts["traceback"].splitlines()) == 15
    assert facts["traceback"].endswith("ZeroDivisionError: division by zero")


def test_the_culprit_is_the_first_caller_outside_the_project_not_the_library_it_used():
    library = raise_from("torch.nn.functional")
    plugin = raise_from("some_plugin.cosine", "pass")
    ours = raise_from("attention_plugins.attention", "pass")
    error = caught(ours, lambda: plugin(library))
    assert errors.raised(REQUEST, error, 0)[1]["culprit"] == "some_plugin"


@pytest.mark.parametrize("between", ["torch.nn.modules.module", "contextlib", "__main__"])
def test_torch_and_what_comes_with_python_are_no_culprits(between):
    caller, plugin = raise_from(between, "pass"), raise_from("some_plugin")
    error = caught(caller, plugin)
    assert errors.raised(REQUEST, error, 0)[1]["culprit"] == "some_plugin"


def test_of_two_callers_outside_the_project_the_first_is_the_culprit():
    error = caught(raise_from("some_plugin", "pass"), raise_from("another_plugin"))
    assert errors.raised(REQUEST, error, 0)[1]["culprit"] == "some_plugin"


def test_the_culprit_has_the_name_of_its_distribution():
    error = caught(raise_from("PIL.Image"))
    assert errors.raised(REQUEST, error, 0)[1]["culprit"] == "pillow"


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_lack_of_memory_names_the_limit(error):
    assert errors.out_of_memory(error)
    note = errors.raised(REQUEST, error, 1709)[0]
    assert "it asked for more memory than a worker may use, 1,709 MB (ATTENTION_W" in note
    assert note.endswith(str(error))
    assert "ATTENTION" not in errors.raised(REQUEST, error, 0)[0]  # which has no limit


def test_a_death_names_the_signal_the_last_line_and_the_culprit():
    note, facts = errors.died(REQUEST, -11, "loading\nbad pointer\n\n")
    assert note.endswith("its process was killed by SIGSEGV: bad pointer")
    assert facts == {"culprit": "cosine", "stderr": "loading\nbad pointer\n"}
    assert "most likely for lack of memory" in errors.died(REQUEST, -9, "")[0]
    assert len(errors.died(REQUEST, 3, "x" * 8000)[0]) < 700
    assert errors.died(REQUEST, 3, "")[0].endswith("ended with exit code 3")
    assert errors.died(REQUEST, -63, "")[0].endswith("killed by signal 63")
    assert errors.died(Request.make("t", model="m"), 1, "")[1]["culprit"] == "m"
    assert "culprit" not in errors.died(Request.make("catalogue"), 1, "")[1]
    assert errors.died(REQUEST, -9, "loading\n")[0].endswith("for lack of memory: loading")
    printed = "\n".join(map(str, range(20)))
    assert errors.died(REQUEST, 1, printed)[1]["stderr"].split() == [*map(str, range(5, 20))]


def test_the_last_line_of_a_crash_is_where_it_happened():
    dump = (
        "Fatal Python error: Segmentation fault\n\n"
        "Current thread 0x00007f01 (most recent call first):\n"
        '  File "plugin.py", line 7 in forward\n  File "main.py", line 2 in main\n\n'
        "Extension modules: torch._C (total: 1)\n"
    )
    assert errors.last_line("warning\n" + dump) == 'File "plugin.py", line 7 in forward'
    assert errors.last_line("") == ""
    assert errors.last_line("(most recent call first):\n") == ""


DUMP = (
    "Stack (most recent call first):\n"
    '  File "/lib/numpy/core.py", line 3 in dot\n'
    '  File "/site/kernels/deep/inner.py", line 7 in forward\n'
    '  File "/site/models.py", line 11 in step\n'
    '  File "/app/worker.py", line 2 in main\n'
)
ORIGINS = {"of-models": ["/site/models.py"], "of-kernels": ["/site/kernels"]}


def test_the_innermost_plugin_of_a_stack_is_named_with_its_line():
    assert errors.plugin_call(DUMP, ORIGINS) == ("of-kernels", "inner.py, line 7, in forward")
    assert errors.plugin_call(DUMP, {"x": ["/site/kern", "/site/models"]}) == ("", "")
    assert errors.plugin_call('no stack: File "/site/models.py", line 1 in f', ORIGINS) == ("", "")
    assert errors.plugin_call(f"{DUMP}{DUMP[:32]}", ORIGINS) == ("", "")  # the last dump counts


def test_a_plugin_that_hangs_crashes_or_takes_too_long_is_named_by_the_stack():
    for note, facts in (
        errors.unresponsive(REQUEST, 2.5, DUMP, ORIGINS),
        errors.died(REQUEST, -11, DUMP, ORIGINS),
        errors.timed_out(REQUEST, 7, DUMP, ORIGINS),
    ):
        assert facts["culprit"] == "of-kernels"
        assert note.startswith("translation with bahdanau and cosine")
    note, _ = errors.unresponsive(REQUEST, 2.5, DUMP, ORIGINS)
    assert "it computed for 2.5 s without a sign of life in of-kernels and was stopped" in note
    assert "(inner.py, line 7, in forward)" in note
    assert errors.plugin_timed_out(3, DUMP, ORIGINS).startswith(
        "it was not loaded after 3 s (inner.py, line 7, in forward); ATTENTION_PLUGIN_LIMIT"
    )


def test_without_a_stack_no_line_is_named():
    note, facts = errors.unresponsive(REQUEST, 2.5, "")
    assert note.endswith(
        "cosine: it computed for 2.5 s without a sign of life and was stopped; "
        "ATTENTION_SILENCE_LIMIT sets how long that may take"
    )
    assert facts == {"silence": 2.5, "culprit": "cosine"}
    assert errors.plugin_timed_out(3, "", {}) == (
        "it was not loaded after 3 s; ATTENTION_PLUGIN_LIMIT sets how long that may take"
    )


@pytest.mark.parametrize(("options", "advice"), [
    ({}, "fewer rows or points take less time."),
    ({"validation.method": "leave-one-out", "validation.folds": 2}, "rows or points take less"),
    ({"validation.method": "folds"}, "fewer rows or folds take less time."),
    ({"learn": True}, "fewer rows or points or fewer epochs take less time, and without"),
    ({"learn": True, "validation.method": "folds"}, "fewer rows, epochs or folds take less"),
])  # fmt: skip
def test_a_fit_that_takes_too_long_is_told_what_it_has_less_of(options, advice):
    note, _ = errors.timed_out(Request.make("regression", options=options), 120.0)
    assert advice in note


def test_an_exception_in_a_plugin_is_its_distributions(tmp_path):
    path = tmp_path / "kernel.py"
    space = {"__name__": "kernel"}
    exec(compile("def call(): raise RuntimeError('no')", str(path), "exec"), space)
    error = caught(space["call"])
    origins = {"a-kernel": [str(path)]}
    assert errors.raised(REQUEST, error, 0, origins)[1]["culprit"] == "a-kernel"
    assert errors.raised(REQUEST, error, 0)[1]["culprit"] == "kernel"
    model = tmp_path / "model.py"  # which calls the kernel
    exec(compile("def step(kernel): kernel()", str(model), "exec"), space)
    error = caught(space["step"], space["call"])
    origins = {"a-model": [str(model)], **origins}
    assert errors.raised(REQUEST, error, 0, origins)[1]["culprit"] == "a-kernel"
