"""A race at rest: a folder with its plan, and a line for every trial that is done.

``race.json`` holds the plan and where it was run, ``outcomes.jsonl`` an outcome a line. Any number
of processes may work on one race: each trial is claimed by a lock that its process's end frees.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from attention_plugins.contract import ContractError
from attention_plugins.home import SHIPPED, read_bounded, write_whole
from attention_plugins.race.records import Contestant, Outcome, Plan, Trial

RACE, OUTCOMES = "race.json", "outcomes.jsonl"
SHIPPED_RACE = SHIPPED / "race"
_CLAIMS = "claims"
_MOST_PLAN_BYTES, _MOST_BYTES = 1 << 20, 256 << 20


class Race:
    """A race's folder, its plan, and ``facts`` of where it was run, as texts."""

    def __init__(self, folder: Path, plan: Plan, facts: Mapping[str, str]) -> None:
        self.folder, self.plan, self.facts = folder, plan, facts
        self.skipped: list[str] = []  # lines that are no outcomes, and why, as last read
        self._done: set[str] = set()
        self._read_to = 0  # bytes

    @classmethod
    def open(cls, folder: Path) -> "Race":
        """A race that is there; raises :class:`ContractError` where none can be read."""
        path = folder / RACE
        try:
            found = json.loads(read_bounded(path, _MOST_PLAN_BYTES))
        except FileNotFoundError:
            raise ContractError(f"{folder} holds no race: there is no {RACE}") from None
        except (OSError, ValueError, RecursionError) as error:
            raise ContractError(f"{path} cannot be read: {error}") from error
        if not isinstance(found, dict):
            raise ContractError(f"{path} is no race: need an object")
        facts = found.get("facts")
        plan = Plan.from_json(found.get("plan") or {})
        texts = facts.items() if isinstance(facts, dict) else ()
        return cls(folder, plan, {str(name): str(text) for name, text in texts})

    @classmethod
    def create(cls, folder: Path, plan: Plan, facts: Mapping[str, str]) -> "Race":
        """A race in a folder that may not be there yet; another plan replaces the one there."""
        folder.mkdir(parents=True, exist_ok=True)
        race = cls(folder, plan, facts)
        text = json.dumps({"plan": plan.to_json(), "facts": dict(facts)}, indent=1)
        write_whole(folder / RACE, f"{text}\n".encode())
        return race

    def outcomes(self) -> list[Outcome]:
        """What is done so far, each trial once; lines that are none are skipped."""
        self.skipped = []
        path = self.folder / OUTCOMES
        try:
            text = read_bounded(path, _MOST_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ContractError(f"{path} cannot be read: {error}") from error
        found: dict[str, Outcome] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if line and (outcome := self._parsed(line, f"line {number}")):
                found.setdefault(outcome.trial.id, outcome)
        return [*found.values()]

    def is_done(self, trial: Trial) -> bool:
        """Whether some process has written this trial's outcome; reads only what is new."""
        try:
            with (self.folder / OUTCOMES).open("rb") as file:
                file.seek(self._read_to)
                new = file.read()
        except FileNotFoundError:
            return False
        whole = new[: new.rfind(b"\n") + 1]
        self._read_to += len(whole)
        found = map(self._parsed, whole.splitlines())
        self._done |= {outcome.trial.id for outcome in found if outcome}
        return trial.id in self._done

    def add(self, outcome: Outcome) -> None:
        """Write an outcome to the end, so that it survives a power loss."""
        line = json.dumps(outcome.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
        path = self.folder / OUTCOMES
        with FileLock(self._claims() / "outcomes.lock"), path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")  # a process was killed in the middle of a line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    @contextmanager
    def claimed(self, trial: Trial) -> Iterator[bool]:
        """Whether this process may do a trial; False where another one does it just now."""
        lock = FileLock(self.rest(trial).with_suffix(".lock"), timeout=0)
        try:
            held = lock.acquire()
        except Timeout:
            yield False
            return
        with held:
            yield True

    def rest(self, trial: Trial) -> Path:
        """The file from which a trial that was stopped goes on, for whoever has claimed it."""
        name = hashlib.sha256(trial.id.encode()).hexdigest()[:32]
        return self._claims() / f"{name}.safetensors"

    def tidy(self) -> None:
        """Remove the locks, once no process works on the race."""
        folder = self.folder / _CLAIMS
        for path in folder.glob("*.lock"):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # it was never there, or another command works on the race
            folder.rmdir()

    def joined(self, folder: Path, new: list[Contestant], facts: Mapping[str, str]) -> "Race":
        """A copy of this race in another folder, with more contestants."""
        known = [one for one in new if one not in self.plan.contestants]
        plan = replace(self.plan, contestants=(*self.plan.contestants, *known))
        race = Race.create(folder, plan, {**facts, "joined": self.facts.get("commit", "")})
        kept = [json.dumps(o.to_json(), ensure_ascii=False) for o in self.outcomes()]
        write_whole(folder / OUTCOMES, "".join(line + "\n" for line in kept).encode())
        return race

    def _claims(self) -> Path:
        folder = self.folder / _CLAIMS
        folder.mkdir(exist_ok=True)
        return folder

    def _parsed(self, line: str | bytes, place: str = "") -> Outcome | None:
        try:
            return Outcome.from_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            if place:
                self.skipped.append(f"{place}: {error}")
            return None
