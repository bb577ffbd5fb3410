import json
import os
import subprocess
import sys
import threading
import time

import pytest
from filelock import FileLock

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Budget, Contestant, Outcome, Plan, Trial
from attention_plugins.race.store import OUTCOMES, RACE, Race

WHO = Contestant(model="nadaraya_watson", scoring="gaussian")
PLAN = Plan(
    tasks={"sine": Budget(examples=20, epochs=5, batch_size=20, rates=(0.1,))},
    contestants=(WHO,), seeds=2,
)  # fmt: skip


def trial(seed=0):
    return Trial(task="sine", contestant=WHO, rate=0.1, seed=seed)


@pytest.fixture
def race(tmp_path):
    return Race.create(tmp_path / "race", PLAN, {"commit": "abc"})


def test_what_was_written_is_there_when_it_is_opened_again(race):
    race.add(Outcome(trial=trial(), quality=0.5))
    again = Race.open(race.folder)
    assert json.loads(json.dumps(again.plan.to_json())) == json.loads(json.dumps(PLAN.to_json()))
    assert again.facts == {"commit": "abc"}
    assert [one.quality for one in again.outcomes()] == [0.5]
    assert again.is_done(trial())
    assert not again.is_done(trial(1))


def test_a_line_that_another_process_adds_is_seen(race):
    assert not race.is_done(trial())
    Race.open(race.folder).add(Outcome(trial=trial(), quality=0.5))
    assert race.is_done(trial())


def test_half_a_line_costs_only_itself(race):
    race.add(Outcome(trial=trial(), quality=0.5))
    with (race.folder / OUTCOMES).open("ab") as file:
        file.write(b'{"trial": {"task": "si')
    race.add(Outcome(trial=trial(1), quality=0.7))
    assert [one.quality for one in race.outcomes()] == [0.5, 0.7]
    assert len(race.skipped) == 1
    assert race.skipped[0].startswith("line 2: ")
    assert Race.open(race.folder).is_done(trial(1))


def test_a_line_that_comes_in_two_halves_is_seen_once_it_is_whole(race):
    line = json.dumps(Outcome(trial=trial(), quality=0.5).to_json()).encode() + b"\n"
    for end, done in ((len(line) // 2, False), (len(line) - 1, False), (len(line), True)):
        (race.folder / OUTCOMES).write_bytes(line[:end])
        assert race.is_done(trial()) is done


def test_a_strange_line_separator_in_a_word_is_no_end_of_a_line(race):
    race.add(Outcome(trial=trial(), quality=0.5, problem="one\u2028word"))
    assert [one.problem for one in race.outcomes()] == ["one\u2028word"]
    assert not race.skipped


def test_of_a_trial_done_twice_the_first_counts(race):
    race.add(Outcome(trial=trial(), quality=0.5))
    race.add(Outcome(trial=trial(), quality=0.9))
    assert [one.quality for one in race.outcomes()] == [0.5]


def test_only_one_process_has_a_trial_and_its_end_frees_it(race):
    code = """
import sys, time
from pathlib import Path
from attention_plugins.race.store import Race
from attention_plugins.race.records import *
race = Race.open(Path(sys.argv[1]))
who = Contestant(model="nadaraya_watson", scoring="gaussian")
with race.claimed(Trial(task="sine", contestant=who, rate=0.1, seed=0)) as mine:
    print(mine, flush=True)
    time.sleep(60)
"""
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(race.folder)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout
    try:
        assert other.stdout.readline() == "True\n"
        with race.claimed(trial()) as mine, race.claimed(trial(1)) as another:
            assert (mine, another) == (False, True)
    finally:
        other.kill()
        other.communicate()
    end = time.monotonic() + 10
    mine = False
    while not mine and time.monotonic() < end:
        with race.claimed(trial()) as mine:
            pass
    assert mine
    race.tidy()
    assert sorted(os.listdir(race.folder)) == [RACE]


def test_tidying_beside_another_command_costs_nothing(race):
    race.tidy()  # nothing was ever claimed
    with race.claimed(trial()):
        (race.folder / "claims" / "of another").touch()
        race.tidy()
    race.add(Outcome(trial=trial(), quality=0.5))
    assert [one.quality for one in race.outcomes()] == [0.5]


def test_what_a_stopped_trial_goes_on_from_is_its_own_and_stays_when_locks_go(race):
    rests = [race.rest(trial(seed)) for seed in range(2)]
    assert len({*rests}) == 2
    rests[0].write_bytes(b"half done")
    with race.claimed(trial()):
        pass
    race.tidy()
    assert rests[0].read_bytes() == b"half done"
    assert [path.name for path in rests[0].parent.iterdir()] == [rests[0].name]


def test_who_writes_waits_for_whoever_writes(race):
    done = threading.Event()

    def add():
        race.add(Outcome(trial=trial(), quality=0.5))
        done.set()

    race.rest(trial())  # makes the folder of locks
    with FileLock(race.folder / "claims" / "outcomes.lock"):
        writer = threading.Thread(target=add)
        writer.start()
        assert not done.wait(0.2)
    writer.join()
    assert [one.quality for one in race.outcomes()] == [0.5]


def test_more_contestants_join_with_all_that_was_done(race, tmp_path):
    race.add(Outcome(trial=trial(), quality=0.5))
    new = Contestant(model="nadaraya_watson", scoring="laplacian")
    joined = race.joined(tmp_path / "mine", [WHO, new], {"commit": "def"})
    assert joined.plan.contestants == (WHO, new)
    assert joined.facts == {"commit": "def", "joined": "abc"}
    assert [one.quality for one in Race.open(tmp_path / "mine").outcomes()] == [0.5]
    assert race.plan.contestants == (WHO,)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "holds no race"), ("{", "cannot be read"), ("[]", "need an object"),
        ('{"plan": {"format": 9}}', "format 9"), ('{"plan": []}', "no plan of a race"),
    ],
)  # fmt: skip
def test_a_folder_without_a_race_says_so(tmp_path, text, why):
    if text is not None:
        (tmp_path / RACE).write_text(text)
    with pytest.raises(ContractError, match=why):
        Race.open(tmp_path)
