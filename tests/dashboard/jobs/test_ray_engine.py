"""Workers on a Ray cluster whose nodes, servers and settings fail; see test_pool for the rest."""

import dataclasses
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.processes import alive
from support.ray_cluster import free_port, skip_without_ray

from attention_plugins.race import trials
from attention_plugins.race.records import Budget, Contestant, Plan
from attention_plugins.race.store import OUTCOMES, Race
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.jobs.racing import Racing
from dashboard.jobs.trainings import Trainings
from dashboard.records.request import Request

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]
PATIENCE = 120  # seconds; a busy machine may start a process slowly
LEASE = 3.0
WHOLE_NODE = 150  # CPUs: more than the cluster's first node has
FOLDER = os.path.dirname(__file__)


@pytest.fixture(autouse=True, scope="module")
def _installed():
    skip_without_ray()


def until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)


def started(pool, job, times=1):
    until(lambda: [event.stage for event in pool.events(job)].count("started") == times)


@pytest.fixture
def make(cluster):
    """Pools on the cluster, whose workers take so many CPUs each."""
    from dashboard.jobs.ray_engine import RayEngine

    pools = []

    def pool(cpus=1, gpus=0, workers=1, **settings):
        engine = RayEngine(cluster.address, cpus=cpus, gpus=gpus, lease=LEASE)
        chosen = {"tasks": "fake_tasks", "warm": False, "grace": 0.5, **settings}
        variables = {"PYTHONPATH": FOLDER, **chosen.pop("environment", {})}
        pools.append(
            LocalPool(PoolOptions(workers=workers, environment=variables, **chosen), engine)
        )
        return pools[-1]

    yield pool
    for each in pools:
        each.close()


@pytest.fixture
def add_node(cluster):
    """Nodes of the cluster that end with the test."""
    added = []

    def add(cpus=WHOLE_NODE, gpus=0):
        added.append(cluster.add_node(cpus, gpus))
        return added[-1]

    yield add
    for node in added:
        cluster.kill(node)


def test_a_job_whose_node_is_killed_is_done_on_another_and_others_go_on(
    make, cluster, add_node, request_for, tmp_path
):
    elsewhere = make()
    other = elsewhere.submit(request_for("count", file=str(tmp_path / "other"), seconds=12))
    started(elsewhere, other)
    node = add_node()
    pool = make(WHOLE_NODE)
    job = pool.submit(request_for("count", file=str(tmp_path / "ran"), seconds=3))
    waiting = pool.submit(request_for("echo", n=1))
    started(pool, job)
    cluster.kill(node)
    add_node()
    assert pool.wait(job, PATIENCE).stage == "done"
    stages = [event.stage for event in pool.events(job)]
    assert stages == ["queued", "started", "queued", "started", "done"]
    assert (tmp_path / "ran").read_text() == "ran\nran\n"
    assert pool.wait(waiting, PATIENCE).stage == "done"
    assert elsewhere.wait(other, PATIENCE).stage == "done"
    assert (tmp_path / "other").read_text() == "ran\n"


def test_a_job_whose_node_is_killed_twice_says_so(make, cluster, add_node, request_for):
    node = add_node()
    pool = make(WHOLE_NODE)
    job = pool.submit(request_for("sleep", seconds=PATIENCE))
    for attempt in (1, 2):
        started(pool, job, attempt)
        cluster.kill(node)
        node = add_node()
    event = pool.wait(job, PATIENCE)
    assert event.stage == "failed"
    assert event.note.startswith(
        "sleep with gaussian: the machine that computed it was lost, twice in a row; "
    )
    assert "culprit" not in event.facts
    assert pool.wait(pool.submit(request_for("echo", n=2)), PATIENCE).stage == "done"


def test_a_job_is_cancelled_while_its_node_is_dying(make, cluster, add_node, request_for):
    node = add_node()
    pool = make(WHOLE_NODE)
    job = pool.submit(request_for("sleep", seconds=PATIENCE))
    started(pool, job)
    cluster.kill(node)
    pool.cancel(job)
    assert pool.wait(job, PATIENCE).stage == "cancelled"


def test_new_workers_need_room_for_one_more_alone(make, add_node, request_for):
    add_node(cpus=3 * WHOLE_NODE)
    pool = make(WHOLE_NODE, workers=2)
    echoes = (request_for("echo", n=n) for n in range(10_000))

    def pid():
        return pool.wait(pool.submit(next(echoes)), PATIENCE).result.facts["pid"]

    old = pid()
    until(lambda: pool.capacity().workers == 2)
    assert pool.wait(pool.renew(next(echoes)), PATIENCE).stage == "done"
    assert old not in {pid() for _ in range(4)}
    until(lambda: pool.capacity().workers == 2)


def test_a_renewal_without_room_says_so_and_the_old_worker_goes_on(
    make, add_node, request_for, monkeypatch
):
    add_node()
    pool = make(WHOLE_NODE)
    old = pool.wait(pool.submit(request_for("echo", n=1)), PATIENCE).result.facts["pid"]
    setup = pool._supervisor._setup
    hurried = dataclasses.replace(setup, timeouts=dataclasses.replace(setup.timeouts, start=0.5))
    monkeypatch.setattr(pool._supervisor, "_setup", hurried)
    event = pool.wait(pool.renew(request_for("echo", n=2)), PATIENCE)
    assert event.note == (
        "no worker starts: no node of the cluster started one in time, perhaps as none has the "
        "CPUs and GPUs free; repair that, then ask again"
    )
    echo = pool.submit(request_for("echo", n=3))
    assert pool.wait(echo, PATIENCE).result.facts["pid"] == old


def test_the_signal_that_ends_a_server_stays_its_own(cluster):
    code = """
import signal
from dashboard.jobs.pool import chosen_engine
before = signal.getsignal(signal.SIGTERM)
chosen_engine()
print(signal.getsignal(signal.SIGTERM) == before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "ATTENTION_ENGINE": cluster.address},
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_after_a_lost_connection_no_other_cluster_is_started_or_joined(cluster):
    import ray

    from dashboard.jobs.ray_engine import RayEngine

    RayEngine(cluster.address)
    ray.shutdown()
    with pytest.raises(ray.exceptions.RaySystemError, match="not been started"):
        ray.put(1)


def test_a_lost_connection_is_made_again(make, request_for):
    import ray

    pool = make()
    before = pool.wait(pool.submit(request_for("echo", n=1)), PATIENCE).result.facts["pid"]
    ray.shutdown()
    until(lambda: not alive(before))
    assert pool.wait(pool.submit(request_for("echo", n=2)), PATIENCE).stage == "done"


def test_workers_end_when_their_server_was_killed(cluster):
    code = f"""
import os
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.jobs.ray_engine import RayEngine
from dashboard.records.request import Request
engine = RayEngine({cluster.address!r}, lease={LEASE})
pool = LocalPool(PoolOptions(
    workers=1, tasks="fake_tasks", warm=False, environment={{"PYTHONPATH": {FOLDER!r}}}
), engine)
print(pool.wait(pool.submit(Request.make("echo")), {PATIENCE}).result.facts["pid"], flush=True)
job = pool.submit(Request.make("hold_lock"))
while len(pool.events(job)) < 3:
    pool.wait(job, 0.01)
os.kill(os.getpid(), 9)
"""
    page = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert page.stdout, page.stderr
    until(lambda: not alive(int(page.stdout)))


def test_a_node_without_the_servers_data_folder_says_so(make, request_for, monkeypatch):
    monkeypatch.setattr("dashboard.storage.files.folder_id", lambda place, make: "of another")
    pool = make()
    event = pool.wait(pool.submit(request_for("echo")), PATIENCE)
    assert event.note.startswith(
        f"no worker starts: the node {os.uname().nodename} does not have the server's data folder "
    )


def test_workers_share_a_gpu_and_one_without_a_share_waits(make, add_node, request_for):
    add_node(cpus=3, gpus=1)
    pools = [make(gpus=0.5) for _ in range(3)]
    jobs = [pool.submit(request_for("environment", n=n)) for n, pool in enumerate(pools)]
    ends = lambda: [pool.wait(job, 0) for pool, job in zip(pools, jobs, strict=True)]  # noqa: E731
    until(lambda: sum(end is not None for end in ends()) == 2)
    time.sleep(2.0)
    found = [end for end in ends() if end]
    assert [end.result.facts["CUDA_VISIBLE_DEVICES"] for end in found] == ["0", "0"]
    pools[[bool(end) for end in ends()].index(True)].close()
    until(lambda: all(ends()))


# Trainings


def test_a_training_goes_on_elsewhere_and_another_server_pauses_it(cluster, add_node, tmp_path):
    from dashboard.jobs.ray_engine import RayEngine

    def server():
        engine = RayEngine(cluster.address, cpus=WHOLE_NODE, lease=LEASE)
        return Trainings(tmp_path, make_backend=lambda: LocalPool(PoolOptions(
            workers=1, time_limit=math.inf, grace=60.0, cache=0,
            environment={"ATTENTION_WORKBENCH_HOME": str(tmp_path)},
        ), engine))  # fmt: skip

    first, second = server(), server()
    node = add_node()
    options = {
        "recipe.epochs": 900, "recipe.batch_size": 64, "pairs": 40, "held_out": 3,
        "model.embed": 6, "model.hidden": 10, "model.layers": 1,
    }  # fmt: skip
    request = Request.make(
        "training", model="bahdanau", scoring="additive", data="phrasebook", options=options,
        device="cpu",
    )  # fmt: skip
    try:
        id = first.start(request)
        until(lambda: len(first.get(id).epochs) >= 3)
        kept = first.get(id).epochs
        cluster.kill(node)
        add_node()
        until(lambda: len(first.get(id).epochs) > len(kept) + 3)
        found = first.get(id)
        assert found.epochs[: len(kept)] == kept
        assert [each.epoch for each in found.epochs] == list(range(1, len(found.epochs) + 1))
        second.pause(id)
        until(lambda: second.get(id).state == "paused")
        assert first.get(id).state == "paused"
        second.remove(id)
        assert first.list() == second.list() == []
    finally:
        first.close()
        second.close()


# Races


def test_a_race_on_two_nodes_of_which_one_is_lost_has_every_outcome_once(
    cluster, add_node, tmp_path, monkeypatch
):
    from dashboard.jobs.ray_engine import RayEngine

    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("ATTENTION_TRAINERS", "2")
    budget = Budget(examples=50, epochs=120, batch_size=50, rates=(0.03, 0.3))
    who = [Contestant(model="nadaraya_watson", scoring=name)
           for name in ("gaussian", "laplacian", "cosine", "uniform", "additive")]  # fmt: skip
    plan = Plan(tasks={"sine": budget}, contestants=who, seeds=38)
    assert trials.count(plan) == 200
    race = Race.create(tmp_path / "races" / "mine", plan, {})
    nodes = [add_node(), add_node()]
    engine = RayEngine(cluster.address, cpus=WHOLE_NODE, lease=LEASE)
    pool = LocalPool(PoolOptions(
        workers=2, time_limit=math.inf, grace=60.0, cache=0,
        environment={"ATTENTION_WORKBENCH_HOME": str(tmp_path)},
    ), engine)  # fmt: skip
    racing = Racing(lambda: pool)
    try:
        racing.start("mine")
        both = racing._of("mine")
        assert len(both) == 2
        for id in both:
            started(pool, id)
        until(lambda: len(race.outcomes()) >= 20)
        cluster.kill(nodes[0])
        done = len(race.outcomes())
        assert done < 200, "it was too late to lose a node"
        until(lambda: not racing.running("mine"), 3 * PATIENCE)
        stages = [[event.stage for event in pool.events(id)] for id in both]
        assert sorted(each.count("queued") for each in stages) == [1, 2]  # one was lost, not both
        assert [each[-1] for each in stages] == ["done", "done"]
    finally:
        pool.close()
    lines = (race.folder / OUTCOMES).read_text("utf-8").splitlines()
    found = Race.open(race.folder).outcomes()
    assert len(lines) == len(found) == len({one.trial for one in found}) == 200
    assert not [*trials.pending(plan, found)]
    assert not any(one.problem for one in found)


# What a server says when it starts


def refusal(address, **variables):
    """What a server says that is started with this engine; its last line."""
    code = "from dashboard.jobs.pool import chosen_engine; chosen_engine()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ATTENTION_ENGINE": address, **variables},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1].removeprefix("dashboard.jobs.engine.EngineError: ")


def test_a_cluster_that_does_not_answer_is_named_at_once():
    address = f"ray://127.0.0.2:{free_port()}"
    began = time.monotonic()
    assert refusal(address) == (
        f"the engine {address} (ATTENTION_ENGINE) does not answer: Connection refused"
    )
    assert time.monotonic() - began < 20


def test_without_authentication_no_cluster_is_used(cluster):
    assert "needs RAY_AUTH_MODE=token" in refusal(cluster.address, RAY_AUTH_MODE="disabled")


def test_a_wrong_token_lets_no_server_in(cluster):
    text = refusal(cluster.address, RAY_AUTH_TOKEN="w" * 32)
    assert "was reached, but did not let this server in; is its token the one" in text


def test_ray_is_imported_by_servers_that_use_it_alone():
    code = "import sys, dashboard.ui.workbench; print('ray' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(FOLDER).parents[2],
    )  # fmt: skip
    assert done.stdout == "False\n"
