"""Processes are killed under a whole server: its pages say what is so, and nothing is lost."""

import asyncio
import os
import re
import signal
import time

import pytest
from support import postgres
from support.processes import alive, command, descendants
from support.serving import ROOT, served
from support.visiting import Visit

from .links import PAGES

pytestmark = [pytest.mark.load, pytest.mark.timeout(900)]
APP = ROOT / "streamlit_app.py"
PATIENCE = 120.0  # seconds
STILL = 5.0  # seconds for which a training that is paused must not go on
SMALL = PAGES[0]
_STATE = re.compile(r"badge\[:material/\w+: (\w+)\]")
_EPOCHS = re.compile(r"(?:epoch )?(\d+) (?:of 1,000 epochs|of 1,000 · step)")


def workers(server, *, trainers=False):
    """Process ids of the workers for pages, or of those for trainings, which are nice."""
    found = [pid for pid in descendants(server.pid) if "dashboard.jobs.worker" in command(pid)]
    return [pid for pid in found if ("--nice" in command(pid)) == trainers]


def states(visit):
    """Of the trainings on the page, in its order."""
    return [match[1] for text in visit.texts() if (match := _STATE.search(text))]


def epochs(visit):
    """How many epochs the trainings on the page have reached, in its order."""
    plain = [text.replace("\\", "") for text in visit.texts()]
    return [int(match[1]) for text in plain if (match := _EPOCHS.match(text))]


async def until(visit, condition, what):
    """Look at the page Train again and again until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited for {what}: {visit.texts()}"
        await asyncio.sleep(0.3)
        await visit.run()


async def train(visit, count=1):
    """Start trainings that take long, and wait until the first has finished an epoch."""
    await visit.open("train", "scorings=additive&epochs=1000&pairs=500")
    for _ in range(count):
        await visit.press("train-start")
    await until(visit, lambda: max(epochs(visit), default=0) >= 2, "an epoch")


async def press(visit, label):
    """Press the first button of that name on a training's card."""
    key = next(each for each in visit.buttons() if each.endswith(f"-{label}"))
    await visit.press(key.split("-", 2)[2])


async def answers(visit, number):
    """See that the small page answers with its own result."""
    await visit.open(SMALL.path, SMALL.link(number))
    assert visit.errors() == []
    assert SMALL.follows(visit, number)


async def keep(visit, number):
    """Keep the small page's result; what the page then says, and where its links lead."""
    await answers(visit, number)
    await visit.unfold("page-keep")
    await visit.press("page-keep-now")
    return " ".join(visit.texts()).replace("\\", ""), visit.links()


def test_a_killed_worker_costs_its_panel_which_can_be_tried_again():
    async def happens(server):
        async with Visit(server.url) as visit, Visit(server.url) as other:
            await visit.open("alignment", "count=1000")
            await visit.press("begin-held")
            await asyncio.sleep(1)
            killed = workers(server)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            await answers(other, 1)
            await visit.finish()
            errors = visit.errors()
            assert errors
            assert all("This panel failed" in each for each in errors)
            while retries := [key for key in visit.buttons() if key.endswith("--retry")]:
                await visit.press(retries[0].split("-", 2)[2])
                await visit.finish()
            assert visit.errors() == []
            assert any("1,000 pairs" in text for text in visit.texts())
            assert workers(server)
            assert not set(workers(server)) & set(killed)

    with served(APP) as server:
        asyncio.run(happens(server))


def test_a_killed_trainer_fails_its_training_which_goes_on_from_its_snapshot():
    async def happens(server):
        async with Visit(server.url) as visit:
            await train(visit)
            (trainer,) = workers(server, trainers=True)
            (reached,) = epochs(visit)
            os.kill(trainer, signal.SIGKILL)
            await until(visit, lambda: states(visit) == ["failed"], "the failure")
            assert epochs(visit)[0] >= reached - 1  # the one that ran is not finished
            await press(visit, "resume")
            await until(visit, lambda: max(epochs(visit), default=0) > reached, "its next epochs")
            assert states(visit) == ["running"]

    with served(APP, ATTENTION_TRAINERS="1") as server:
        asyncio.run(happens(server))


def test_a_killed_server_loses_no_training_and_no_run_that_it_kept(tmp_path):
    kept, reached, orphans = [], [], []

    async def before(server):
        async with Visit(server.url) as visit, Visit(server.url) as keeper:
            await train(visit, 4)
            for number in range(3):
                _, links = await keep(keeper, number)
                kept.extend(link for link in links if "runs?id=" in link)
            await visit.run()
            assert sorted(states(visit)) == ["queued", "queued", "queued", "running"]
            reached.append(max(epochs(visit)))
            orphans.extend(descendants(server.pid))
            os.kill(server.pid, signal.SIGKILL)

    async def after(server):
        async with Visit(server.url) as visit:
            for link in kept:
                await visit.open("runs", link.partition("?")[2])
                assert visit.errors() == []
                assert visit.tables()
            await visit.show("train")
            await until(visit, lambda: "running" in states(visit), "the first that waited")
            assert sorted(states(visit)) == ["paused", "queued", "queued", "running"]
            assert max(epochs(visit)) >= reached[0] - 1

    with served(APP, tmp_path, ATTENTION_TRAINERS="1") as server:
        asyncio.run(before(server))
    assert len(kept) == 3
    assert len(orphans) >= 3  # two workers and a trainer
    end = time.monotonic() + STILL
    while any(map(alive, orphans)):
        assert time.monotonic() < end, "workers outlive their server"
        time.sleep(0.1)
    with served(APP, tmp_path, ATTENTION_TRAINERS="1") as server:
        asyncio.run(after(server))


def test_a_killed_database_is_said_and_used_again_once_it_is_back():
    async def happens(server, database):
        async with Visit(server.url) as visit:
            _, before = await keep(visit, 1)
            database.kill()
            said, links = await keep(visit, 2)
            assert "cannot be reached now" in said
            assert "try again soon" in said
            assert not any("runs?id=" in link for link in links)
            await visit.show("runs")
            assert "cannot be reached now" in " ".join(visit.texts()).replace("\\", "")
            database.start()
            _, after = await keep(visit, 2)
            for link in (*before, *after):
                await visit.open("runs", link.partition("?")[2])
                assert visit.errors() == []
                assert visit.tables()

    with postgres.server() as database, served(APP, ATTENTION_DATABASE=database.new()) as server:
        asyncio.run(happens(server, database))


def test_what_the_second_of_two_servers_says_of_the_firsts_trainings_is_true(tmp_path):
    async def happens(first, second):
        async with Visit(first.url) as here, Visit(second.url) as there:
            await train(here)
            await there.show("train")
            await until(there, lambda: states(there) == ["running"], "the other's training")
            await press(there, "pause")
            assert states(there) in (["pausing"], ["paused"])
            await until(there, lambda: states(there) == ["paused"], "the pause")
            await here.run()
            assert states(here) == ["paused"]
            (reached,) = epochs(here)
            await asyncio.sleep(STILL)
            await here.run()
            assert epochs(here) == [reached]
            await press(there, "resume")
            await until(there, lambda: max(epochs(there), default=0) > reached, "its next epochs")
            await here.run()
            assert states(here) == ["running"]
            await press(here, "cancel")
            await until(there, lambda: states(there) == ["cancelled"], "the end")
            (reached,) = epochs(there)
            await asyncio.sleep(STILL)
            await there.run()
            assert epochs(there) == [reached]

    with served(APP, tmp_path) as first, served(APP, tmp_path) as second:
        asyncio.run(happens(first, second))
