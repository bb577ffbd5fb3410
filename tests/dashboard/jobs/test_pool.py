import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from dashboard.jobs import crew, engine
from dashboard.jobs.backend import Capacity

PATIENCE = 120  # seconds; a busy machine may start a process slowly
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(crew.__file__)))


def until(condition, seconds=PATIENCE):
    """Wait for something that no event announces."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def stages(pool, job):
    return [event.stage for event in pool.events(job)]


@pytest.fixture(scope="module")
def patient(make_pool):
    """One worker that is not killed, with settings of its own."""
    return make_pool(grace=PATIENCE, environment={"FLAVOUR": "plain", "OMP_NUM_THREADS": "1"})


def started(pool, job):
    until(lambda: "started" in stages(pool, job))


# What a task may do


def test_a_job_goes_through_its_stages_and_brings_its_result(pool, request_for):
    job = pool.submit(request_for("echo", text="à l’œuvre", n=3))
    event = pool.wait(job, timeout=PATIENCE)
    assert stages(pool, job) == ["queued", "started", "done"]
    assert event.result.facts["echo"] == {"n": 3, "text": "à l’œuvre"}
    assert pool.events(job, after=1) == pool.events(job)[1:]
    assert pool.events(job, after=3) == []


def test_a_big_table_arrives_whole(outcome):
    column = outcome("table", rows=1_000_003).result.tables["numbers"]["n"]
    assert len(column) == 1_000_003
    assert column[-1].as_py() == 1_000_002


def test_printing_and_reading_do_not_touch_the_pipes(outcome):
    assert outcome("chatter").result.facts == {"stdin": ""}


def test_refused_input_is_shown_in_the_words_of_the_task(outcome):
    event = outcome("refuse")
    assert event.stage == "failed"
    assert event.note == 'need 2 <= n, got n=1 (field "training points")'
    assert event.facts == {"refused": True}


@pytest.mark.parametrize(
    ("task", "end"),
    [
        ("error", "RuntimeError: size 3 does not match size 5"),
        ("system_exit", "SystemExit: 3"),
        ("interrupt", "KeyboardInterrupt"),
        ("not_a_result", "AttributeError: 'dict' object has no attribute 'to_bytes'"),
        ("nan_facts", "ValueError: Out of range float values are not JSON compliant"),
    ],
)
def test_a_raising_task_fails_with_its_last_line(outcome, task, end):
    event = outcome(task)
    assert event.stage == "failed"
    assert event.note.startswith(f"{task} with gaussian: ")
    assert end in event.note
    assert "refused" not in event.facts
    assert end.rpartition(": ")[2] in event.facts["traceback"]


def test_a_raising_task_leaves_its_worker_alive_and_its_module_is_named(single, request_for):
    before = single.wait(single.submit(request_for("uncacheable")), PATIENCE).result.facts["pid"]
    event = single.wait(single.submit(request_for("error")), PATIENCE)
    assert event.facts["culprit"] == "fake_tasks"
    assert (
        single.wait(single.submit(request_for("uncacheable")), PATIENCE).result.facts["pid"]
        == before
    )


@pytest.mark.parametrize(
    ("task", "options", "end"),
    [
        (
            "segfault",
            {},
            r'was killed by SIGSEGV: File ".*fake_tasks\.py", line \d+ in segfault',
        ),
        ("oom", {}, "was killed by SIGKILL, most likely for lack of memory"),
        ("exit_now", {"words": "double free"}, "ended with exit code 7: double free"),
        ("exit_now", {"code": 0}, "ended with exit code 0"),
    ],
    ids=["segfault", "no memory", "last line", "exit code 0"],
)
def test_a_crash_costs_one_job_and_its_note_names_the_cause(outcome, task, options, end):
    event = outcome(task, **options)
    assert event.stage == "failed"
    assert re.search(f"{task} with gaussian: its process {end}", event.note)
    assert event.facts["culprit"] == "gaussian"
    assert outcome("echo", after=task).stage == "done"


def test_stderr_of_an_earlier_job_is_not_quoted(single, request_for):
    single.wait(single.submit(request_for("chatter")), PATIENCE)
    event = single.wait(single.submit(request_for("exit_now")), PATIENCE)
    assert event.note.endswith("ended with exit code 7")
    assert event.facts["stderr"] == ""


def test_too_much_memory_fails_one_job_and_the_worker_is_replaced(make_pool, request_for):
    pool = make_pool(memory=700)
    before = pool.wait(pool.submit(request_for("echo")), PATIENCE).result.facts["pid"]
    event = pool.wait(pool.submit(request_for("allocate", megabytes=20_000)), PATIENCE)
    assert event.note == (
        "allocate with gaussian: fake_tasks asked for more memory than a worker may use, 700 MB "
        "(ATTENTION_WORKER_MEMORY): MemoryError"
    )
    fine = pool.wait(pool.submit(request_for("allocate", megabytes=50)), PATIENCE)
    assert fine.result.facts["size"] == 50 * 2**20
    assert pool.wait(pool.submit(request_for("echo", n=2)), PATIENCE).result.facts["pid"] != before


def test_a_worker_out_of_memory_ends_even_with_a_thread_that_does_not(single, request_for):
    event = single.wait(single.submit(request_for("leave_thread")), PATIENCE)
    assert "MemoryError" in event.note
    event = single.wait(single.submit(request_for("uncacheable")), PATIENCE)
    assert event.stage == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_left_behind_does_not_hide_the_end_of_its_worker_and_ends_too(outcome, tmp_path):
    event = outcome("fork_and_die", file=str(tmp_path / "child"))
    assert event.note.endswith("ended with exit code 9")
    child = int((tmp_path / "child").read_text())
    until(lambda: not _lives(child))


def test_a_flood_of_progress_is_thinned_and_its_last_report_kept(pool, request_for):
    began = time.monotonic()
    job = pool.submit(request_for("flood", reports=30_011))
    assert pool.wait(job, PATIENCE).stage == "done"
    reports = [event for event in pool.events(job) if event.stage == "progress"]
    assert len(reports) <= 30 * (time.monotonic() - began) + 3
    assert reports[-1].facts == {"step": 30_010}
    assert reports[-1].note == "step 30010"
    assert [event.number for event in pool.events(job)] == list(range(1, len(reports) + 4))


def test_the_newest_report_is_seen_while_the_task_works_on(pool, request_for):
    job = pool.submit(request_for("pause", seconds=20))
    until(lambda: "second" in [event.note for event in pool.events(job)])
    assert pool.events(job)[-1].fraction == 0.2
    pool.cancel(job)
    assert pool.wait(job, PATIENCE).stage == "cancelled"


# Stopping


def test_a_cancelled_task_that_obeys_keeps_its_worker(patient, request_for):
    def worker():
        job = patient.submit(request_for("uncacheable"))
        return patient.wait(job, PATIENCE).result.facts["pid"]

    before = worker()
    job = patient.submit(request_for("sleep", seconds=60))
    started(patient, job)
    began = time.monotonic()
    patient.cancel(job)
    patient.cancel(job)
    assert patient.wait(job, PATIENCE).stage == "cancelled"
    assert time.monotonic() - began < 30
    assert worker() == before


def test_a_task_that_ignores_its_cancellation_is_killed_after_the_grace_period(pool, request_for):
    job = pool.submit(request_for("hang"))
    until(lambda: "progress" in stages(pool, job))
    began = time.monotonic()
    pool.cancel(job)
    assert pool.wait(job, PATIENCE).stage == "cancelled"
    assert time.monotonic() - began >= 0.5
    assert pool.wait(pool.submit(request_for("echo", after="hang")), PATIENCE).stage == "done"


def test_a_cancelled_job_ends_cancelled_even_if_its_task_finished(pool, request_for):
    job = pool.submit(request_for("ignore_stop"))
    started(pool, job)
    pool.cancel(job)
    event = pool.wait(job, PATIENCE)
    assert (event.stage, event.result) == ("cancelled", None)


def test_a_queued_job_is_cancelled_at_once(single, request_for):
    running = single.submit(request_for("sleep", seconds=60))
    started(single, running)
    queued = single.submit(request_for("uncacheable"))
    assert single.capacity() == Capacity(workers=1, running=1, queued=1)
    single.cancel(queued)
    assert stages(single, queued) == ["queued", "cancelled"]
    assert single.capacity().queued == 0
    single.cancel(running)
    assert single.wait(running, PATIENCE).stage == "cancelled"


@pytest.mark.parametrize("task", ["sleep", "hang", "hold_lock"])
def test_a_job_over_its_time_limit_fails_and_suggests_what_would_be_right(outcome, task):
    event = outcome(task, time_limit=0.2, seconds=60)
    assert event.stage == "failed"
    assert event.note.startswith(f"{task} with gaussian took longer than 0.2 s and was stopped; ")
    assert event.facts == {"time_limit": 0.2}
    assert outcome("echo", late=task).stage == "done"


def test_a_silent_job_is_stopped_and_its_line_named(make_pool, request_for):
    pool = make_pool(silence=0.7)
    for task in ("hang", "hold_lock"):
        event = pool.wait(pool.submit(request_for(task)), PATIENCE)
        assert event.stage == "failed"
        assert event.note.startswith(
            f"{task} with gaussian: it computed for 0.7 s without a sign of life and was stopped "
        )
        assert "(File" in event.note
        assert "; ATTENTION_SILENCE_LIMIT sets how long that may take" in event.note
        assert event.facts == {"silence": 0.7, "culprit": "gaussian"}


def test_a_time_limit_counts_running_not_waiting_and_no_idle_worker(single, patient, request_for):
    def idle(time_limit):
        job = patient.submit(request_for("uncacheable"), time_limit=time_limit)
        return patient.wait(job, PATIENCE).result.facts["pid"]

    idle(PATIENCE)
    before = idle(1.9)
    first = single.submit(request_for("sleep", seconds=2.3))
    second = single.submit(request_for("sleep", seconds=0.1), time_limit=1.9)
    assert single.wait(second, PATIENCE).stage == "done"
    assert single.wait(first, 0).stage == "done"
    assert idle(PATIENCE) == before


def test_a_job_that_joins_a_running_one_may_prolong_it(pool, request_for):
    request = request_for("sleep", seconds=1.7)
    first = pool.submit(request, time_limit=0.8)
    started(pool, first)
    second = pool.submit(request, time_limit=PATIENCE)
    for job in (first, second):
        assert pool.wait(job, PATIENCE).stage == "done"


def test_a_result_in_spite_of_the_time_limit_counts(patient, request_for):
    job = patient.submit(request_for("ignore_stop"), time_limit=0.1)
    assert patient.wait(job, PATIENCE).result.facts == {"late": True}


# Sharing


def test_jobs_run_in_the_order_of_their_submission(single, request_for):
    jobs = [single.submit(request_for("uncacheable", n=n)) for n in range(7)]
    times = [single.wait(job, PATIENCE).result.facts["time"] for job in jobs]
    assert times == sorted(times)


def test_two_workers_work_at_once(pool, request_for):
    jobs = [pool.submit(request_for("sleep", seconds=60, n=n)) for n in range(3)]
    for job in jobs[:2]:
        started(pool, job)
    assert pool.capacity() == Capacity(workers=2, running=2, queued=1)
    assert stages(pool, jobs[2]) == ["queued"]
    for job in reversed(jobs):
        pool.cancel(job)
    assert {pool.wait(job, PATIENCE).stage for job in jobs} == {"cancelled"}


def test_equal_requests_in_flight_are_computed_once(pool, request_for, tmp_path):
    request = request_for("count", file=str(tmp_path / "runs"), seconds=0.5)
    first = pool.submit(request)
    started(pool, first)
    second = pool.submit(request)
    assert first != second
    assert stages(pool, second) == ["queued", "started"]
    results = [pool.wait(job, PATIENCE).result for job in (first, second)]
    assert results[0] is results[1]
    assert (tmp_path / "runs").read_text() == "ran\n"


def test_a_finished_request_answers_from_memory(pool, request_for, tmp_path):
    request = request_for("count", file=str(tmp_path / "runs"), seconds=0)
    first = pool.wait(pool.submit(request), PATIENCE)
    job = pool.submit(request)
    assert pool.wait(job, 0).result is first.result
    assert (tmp_path / "runs").read_text() == "ran\n"


def test_a_result_that_is_not_cacheable_is_computed_again(pool, request_for):
    request = request_for("uncacheable")
    times = {pool.wait(pool.submit(request), PATIENCE).result.facts["time"] for _ in range(3)}
    assert len(times) == 3


@pytest.mark.parametrize("leaves", [0, 1])
def test_one_of_two_may_leave_without_stopping_the_other(pool, request_for, tmp_path, leaves):
    request = request_for("count", file=str(tmp_path / "runs"), seconds=0.4)
    jobs = [pool.submit(request), pool.submit(request)]
    started(pool, jobs[0])
    pool.cancel(jobs[leaves])
    assert pool.wait(jobs[leaves], 0).stage == "cancelled"
    assert pool.wait(jobs[1 - leaves], PATIENCE).stage == "done"
    assert stages(pool, jobs[leaves])[-1] == "cancelled"


def test_the_last_to_leave_stops_the_computation(pool, request_for):
    request = request_for("sleep", seconds=59)
    jobs = [pool.submit(request), pool.submit(request)]
    started(pool, jobs[0])
    for job in jobs:
        pool.cancel(job)
    assert pool.wait(jobs[1], PATIENCE).stage == "cancelled"


def test_a_request_is_not_joined_to_one_that_is_being_stopped(pool, request_for):
    request = request_for("hang", n=2)
    first = pool.submit(request)
    started(pool, first)
    pool.cancel(first)
    second = pool.submit(request)
    assert pool.wait(first, PATIENCE).stage == "cancelled"
    started(pool, second)
    assert pool.wait(second, 0) is None
    pool.cancel(second)
    assert pool.wait(second, PATIENCE).stage == "cancelled"


# Replacing workers


def test_reload_replaces_workers_and_forgets_results(single, request_for):
    request = request_for("echo", n="reload")
    before = single.wait(single.submit(request), PATIENCE).result.facts["pid"]
    single.reload()
    after = single.wait(single.submit(request), PATIENCE).result.facts["pid"]
    assert after != before
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_reload_lets_a_running_job_finish_but_does_not_cache_its_result(
    single, request_for, tmp_path
):
    request = request_for("count", file=str(tmp_path / "runs"), seconds=0.5)
    job = single.submit(request)
    started(single, job)
    single.reload()
    again = single.submit(request)
    assert single.wait(job, PATIENCE).stage == "done"
    assert single.wait(again, PATIENCE).stage == "done"
    assert (tmp_path / "runs").read_text() == "ran\nran\n"


def test_a_worker_that_dies_idle_is_replaced_unseen(single, request_for):
    before = single.wait(single.submit(request_for("uncacheable")), PATIENCE).result.facts["pid"]
    for _ in range(4):  # more often than starts are tried
        os.kill(before, signal.SIGKILL)
        event = single.wait(single.submit(request_for("uncacheable")), PATIENCE)
        assert event.stage == "done"
        assert event.result.facts["pid"] != before
        before = event.result.facts["pid"]


def test_workers_that_cannot_start_fail_the_queue_and_are_tried_again(
    make_pool, request_for, tmp_path
):
    tasks = tmp_path / "late_tasks.py"
    path = os.pathsep.join([os.path.dirname(__file__), str(tmp_path)])
    pool = make_pool(tasks="late_tasks", environment={"PYTHONPATH": path})
    event = pool.wait(pool.submit(request_for("echo")), PATIENCE)
    assert event.stage == "failed"
    assert event.note == (
        "no worker starts: ModuleNotFoundError: No module named 'late_tasks'; "
        "repair that, then ask again"
    )
    assert pool.capacity() == Capacity(workers=0, running=0, queued=0)
    tasks.write_text("from fake_tasks import perform\n")
    assert pool.wait(pool.submit(request_for("echo")), PATIENCE).stage == "done"


def test_starts_are_tried_three_times_and_three_times_more_for_a_new_job(
    make_local_pool, request_for, monkeypatch
):
    starts = []

    def refuse(*_):
        starts.append(time.monotonic())
        raise OSError("no more processes")

    monkeypatch.setattr(engine, "WorkerProcess", refuse)
    pool = make_local_pool()
    until(lambda: len(starts) == 3)
    time.sleep(0.2)
    assert len(starts) == 3
    event = pool.wait(pool.submit(request_for("echo")), PATIENCE)
    assert event.note == "no worker starts: no more processes; repair that, then ask again"
    time.sleep(0.2)
    assert len(starts) == 6


def test_a_program_that_cannot_be_run_fails_the_queue(make_local_pool, request_for, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    pool = make_local_pool()
    event = pool.wait(pool.submit(request_for("echo")), PATIENCE)
    assert "no worker starts: [Errno 2]" in event.note


def test_a_worker_that_hangs_while_starting_is_given_up(make_pool, request_for, tmp_path):
    (tmp_path / "slow_tasks.py").write_text("import time\ntime.sleep(60)\n")
    pool = make_pool(
        tasks="slow_tasks", environment={"PYTHONPATH": str(tmp_path)}, start_limit=0.5
    )
    event = pool.wait(pool.submit(request_for("echo")), PATIENCE)
    assert event.stage == "failed"
    assert re.match(
        "no worker starts: (it ended with exit code -9|no node .* started one in time, .*);",
        event.note,
    )


# The pool itself


def test_settings_reach_the_workers(patient, request_for):
    facts = patient.wait(patient.submit(request_for("environment")), PATIENCE).result.facts
    assert facts.items() >= {"FLAVOUR": "plain", "OMP_NUM_THREADS": "1"}.items()


def test_an_unknown_job_is_a_key_error(pool):
    for method in (pool.events, lambda job: pool.wait(job, 0)):
        with pytest.raises(KeyError, match="no job 'x'"):
            method("x")
    pool.cancel("x")


def test_wait_gives_up_in_time(pool, request_for):
    job = pool.submit(request_for("sleep", seconds=58))
    began = time.monotonic()
    assert pool.wait(job, 0.1) is None
    assert 0.1 <= time.monotonic() - began < 20
    pool.cancel(job)
    pool.wait(job, PATIENCE)


def test_a_closed_pool_has_ended_everything(make_pool, request_for):
    pool = make_pool()
    worker = pool.wait(pool.submit(request_for("echo")), PATIENCE).result.facts["pid"]
    running, queued = pool.submit(request_for("hang")), pool.submit(request_for("echo", n=2))
    started(pool, running)
    waiting = threading.Thread(target=pool.wait, args=(running, 60))
    waiting.start()
    pool.close()
    pool.close()
    waiting.join(5)
    assert not waiting.is_alive()
    for job in (running, queued):
        assert pool.wait(job, 0).stage == "cancelled"
        assert pool.wait(job, 0).note == "the dashboard was closed"
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(request_for("echo"))


def test_a_pool_closed_while_it_starts_leaves_no_process(make_pool):
    pool = make_pool(3)
    pool.close()
    assert pool.capacity() == Capacity(workers=0, running=0, queued=0)


def test_jobs_from_many_threads_all_end(pool, request_for):
    ends = []

    def session(number):
        for n in range(13):
            job = pool.submit(request_for("echo", n=n * number))
            if n % 5 == 4:
                pool.cancel(job)
            ends.append(pool.wait(job, PATIENCE).stage)

    sessions = [threading.Thread(target=session, args=(number,)) for number in range(11)]
    for thread in sessions:
        thread.start()
    for thread in sessions:
        thread.join(60)
    assert len(ends) == 143
    assert set(ends) <= {"done", "cancelled"}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts through /proc")
def test_jobs_and_crashes_leave_no_file_and_no_thread_behind(make_local_pool, request_for):
    pool = make_local_pool(2)

    def held():
        until(lambda: pool.capacity().workers == 2)
        time.sleep(0.1)
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    def all_end(task, count, stage):
        jobs = [pool.submit(request_for(task, n=n)) for n in range(count)]
        assert {pool.wait(job, PATIENCE).stage for job in jobs} == {stage}

    all_end("echo", 2, "done")
    before = held()
    all_end("uncacheable", 100, "done")
    all_end("segfault", 3, "failed")
    until(lambda: held() == before)
    pool.close()
    assert len(os.listdir("/proc/self/fd")) < before[0]
    assert threading.active_count() < before[1]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "end",
    [
        "os.kill(os.getpid(), 9)",
        pytest.param("sys.exit()", marks=pytest.mark.slow),
        pytest.param("os._exit(1)", marks=pytest.mark.slow),
    ],
)
def test_workers_end_with_the_page_however_it_ends(end):
    code = f"""
import os, sys, time
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.records.request import Request
if __name__ == "__main__":
    pool = LocalPool(PoolOptions(workers=2, tasks="fake_tasks", warm=False))
    jobs = [pool.submit(Request.make("hold_lock", options={{"n": n}})) for n in range(2)]
    while pool.capacity().running < 2 or len(pool.events(jobs[1])) < 3:
        time.sleep(0.01)
    print(*[each.process.pid for each in pool._supervisor._setup.workers], flush=True)
    {end}
"""
    path = os.pathsep.join([ROOT, os.path.dirname(__file__)])
    page = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    workers = [int(word) for word in page.stdout.split()]
    assert len(workers) == 2, page.stderr
    until(lambda: not any(_lives(worker) for worker in workers))


def _lives(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_engine_loads_neither_torch_nor_plugins_nor_a_page():
    code = """
import sys
import dashboard.jobs
heavy = {"torch", "attention_plugins", "streamlit", "altair", "pandas", "multiprocessing"}
print(sorted(heavy & set(sys.modules)), "dashboard.jobs.tasks" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "[] False\n", done.stderr


def test_a_warm_worker_has_torch_at_its_first_job_and_no_compiler(
    make_pool, request_for, tmp_path
):
    (tmp_path / "torch_tasks.py").write_text(
        "import sys\n"
        "from dashboard.records.request import Result\n"
        "def perform(request, context):\n"
        "    heavy = [name for name in ('torch', 'torch._dynamo') if name in sys.modules]\n"
        "    return Result(facts={'heavy': heavy, 'cacheable': False})\n"
    )
    pool = make_pool(tasks="torch_tasks", warm=True, environment={"PYTHONPATH": str(tmp_path)})
    event = pool.wait(pool.submit(request_for("any")), PATIENCE)
    assert event.result.facts["heavy"] == ["torch"]


# Which workers start, and when


def test_the_first_worker_has_the_machine_to_itself_for_a_while(make_pool, request_for):
    pool = make_pool(3, head_start=1.5)
    until(lambda: pool.capacity().workers)
    time.sleep(0.3)
    assert pool.capacity().workers == 1  # without a job the others are not needed
    began = time.monotonic()
    assert pool.wait(pool.submit(request_for("echo", n=1)), PATIENCE).stage == "done"
    assert time.monotonic() - began > 1.5 or pool.capacity().workers == 1
    until(lambda: pool.capacity().workers == 3)
    assert time.monotonic() - began >= 1.5


def test_after_a_reload_a_busy_worker_keeps_nobody_waiting(make_pool, request_for):
    pool = make_pool(2, head_start=60.0)
    busy = pool.submit(request_for("sleep", seconds=PATIENCE))
    started(pool, busy)
    pool.reload()
    assert pool.wait(pool.submit(request_for("echo", n=2)), PATIENCE).stage == "done"
    pool.cancel(busy)
