"""Exercises of a class and what was handed in: two tables beside those of runs.

Ids and tokens are 128-bit random. Methods raise ``StorageError`` where the store cannot be read
or written, and ``KeyError`` where there is no exercise of that id.
"""

import math
import secrets
import time
import unicodedata
from collections import Counter, defaultdict
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, Field, ValidationError

from dashboard.language import gettext_noop
from dashboard.records.beside import beside
from dashboard.records.invalid import reason
from dashboard.records.text import one_line
from dashboard.storage.database import NUMBER, Database
from dashboard.storage.files import ID

_SAID = beside(__file__, "words.toml")["exercises"]
_WRONG = {"text": _SAID["text"], "choices": _SAID["choices"], "hints": _SAID["hints"]}
LONGEST_NAME, LONGEST_ANSWER, MOST_EXERCISES = 40, 500, 100  # characters; of one owner
MOST_STUDENTS, MOST_ANSWERS, MOST_NAMES = 500, 20, 5  # answers of a student, names of a browser
HOURS_OPEN, DAYS_KEPT = 12, 90  # after the last answer
COLUMNS = ("name", "found", "last", "answers", "hints")  # of a board
_SECONDS_BETWEEN, _SECONDS_BETWEEN_SWEEPS = 1.0, 600.0  # answers of one browser; sweeps

_tables = sa.MetaData()
_id, _text = partial(sa.Column, type_=sa.Text, primary_key=True), partial(sa.Column, type_=sa.Text)
_whole, _real = (partial(sa.Column, type_=kind) for kind in (sa.Integer, NUMBER))
_exercises = sa.Table(
    "exercises", _tables, _id("id"), _text("question"), _text("owner"), _text("teachers"),
    _text("token"), _whole("keep"), _real("active"), _whole("ended"), sqlite_strict=True,
)  # fmt: skip
_answers = sa.Table(
    "answers", _tables, _id("owner"), _id("name"), _whole("number", primary_key=True),
    sa.Column("exercise", sa.ForeignKey("exercises.id", ondelete="CASCADE"), primary_key=True),
    _text("answer"), _whole("correct"), _whole("hints"), _real("at"), sqlite_strict=True,
)  # fmt: skip
_ended, _first = _exercises.c.ended == 1, _answers.c.number == 1  # a student's first answer
_Line = Annotated[str, Field(min_length=1, max_length=120)]


class Exercise(BaseModel):
    """A state of a page as a question; ``right`` is the number, ± ``tolerance``, or the choice."""

    text: Annotated[str, Field(min_length=1, max_length=1000)]
    page: str
    query: dict[str, str]
    kind: Literal["number", "choice", "text", "poll"]
    right: str = ""
    tolerance: str = "0"
    choices: Annotated[list[_Line], Field(max_length=8)] = []
    hints: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=3)] = []
    keep: bool = False
    id: str = ""
    teachers: str = ""  # owners that see what was found
    token: str = ""
    ended: bool = False
    students: int = 0  # that have answered; of a list of an owner's exercises alone

    def judged(self, answer: str) -> bool | None:
        """Whether it is right, None where nothing is; ValueError for no number or choice."""
        if self.kind == "text":
            return None
        if self.kind == "number":  # 0.3 is within 0.1 of 0.2
            off = abs(number(self.right, _SAID["figure"]) - number(answer))
            most = abs(number(self.tolerance or "0", _SAID["tolerance"]))
            return off <= most * (1 + 1e-9) + 1e-12
        if answer not in self.choices:
            raise ValueError(_SAID["choice"])
        return answer == self.right if self.kind == "choice" else None


def number(text: str, said: str = _SAID["number"]) -> float:
    """A number as people type it, such as ``−0,25``; ValueError, with ``said``, if it is none."""
    with suppress(ValueError):
        text = unicodedata.normalize("NFKC", text)  # as a Chinese keyboard types it
        found = float(text.strip().replace("−", "-").replace(",", "."))
        if math.isfinite(found):
            return found
    raise ValueError(said)


class Exercises:
    """All exercises of a store of runs. Any number of threads and processes may share them."""

    def __init__(self, database: Database) -> None:
        self._base, self._swept = database, -math.inf

    def make(self, owner: str, **question: Any) -> tuple[str, str]:
        """Add an :class:`Exercise`; its id and a teacher's token, or a ValueError why not."""
        id, token = secrets.token_hex(16), secrets.token_hex(16)
        try:
            made = Exercise(**question)
        except ValidationError as error:
            said = _WRONG.get(str(error.errors()[0]["loc"][0]), reason(error))
            raise ValueError(said) from error
        if made.kind in ("choice", "poll") and not 1 < len({*made.choices}) == len(made.choices):
            raise ValueError(_SAID["choices"])
        if made.kind != "poll":
            made.judged(made.right)
        with self._open().writing() as connection:
            if len(_found(connection, _exercises.c.owner == owner)) >= MOST_EXERCISES:
                raise ValueError(gettext_noop(_SAID["exercises"], count=MOST_EXERCISES))
            connection.execute(sa.insert(_exercises).values(
                id=id, question=made.model_dump_json(), owner=owner, teachers=owner, token=token,
                keep=int(made.keep), active=time.time(), ended=0,
            ))  # fmt: skip
        return id, token

    def find(self, id: str) -> Exercise:
        """Return an exercise, whoever made it."""
        with self._open().reading() as connection:
            return _one(connection, id)

    def own(self, owner: str) -> list[Exercise]:
        """Return the exercises that an owner made, last used first."""
        with self._open().reading() as connection:
            found = _found(connection, _exercises.c.owner == owner)
            of = _answers.c.exercise.in_([one.id for one in found])
            asked = sa.select(_answers.c.exercise, sa.func.count()).where(of, _first)
            counts = dict(iter(connection.execute(asked.group_by(_answers.c.exercise))))
        return [one.model_copy(update={"students": counts.get(one.id, 0)}) for one in found]

    def join(self, id: str, token: str, owner: str) -> bool:
        """Make another browser a teacher's; whether the token is right."""
        with self._open().writing() as connection:
            found = _one(connection, id)
            right = secrets.compare_digest(found.token.encode(), token.encode(errors="replace"))
            if right and owner not in found.teachers.split(" "):
                _set(connection, id, teachers=f"{found.teachers} {owner}")
        return right

    def hand_in(self, id: str, owner: str, name: str, answer: str, hints: int = 0) -> bool | None:
        """Store an answer, once if it is repeated; whether it is right, or ValueError why not."""
        if len(answer) > LONGEST_ANSWER or len(name) > LONGEST_NAME:
            raise ValueError(gettext_noop(_SAID["long"], name=LONGEST_NAME, answer=LONGEST_ANSWER))
        name, answer = one_line(name), answer.replace("\0", "").strip()
        if not name or not answer:
            raise ValueError(_SAID["answerless" if name else "nameless"])
        with self._open().reading() as connection:  # where a flood ends, and waits for nobody
            _room(connection, id, owner, name, answer)
        with self._base.writing() as connection:
            right, count = _room(connection, id, owner, name, answer)
            if count is not None:
                key, judged = (owner, name, count + 1, id), None if right is None else int(right)
                row = (*key, answer, judged, hints, time.time())
                connection.execute(sa.insert(_answers).values(row))
                _set(connection, id, active=time.time())
        return right

    def board(self, id: str) -> list[dict[str, Any]]:
        """Return what every student handed in, in order.

        ``found`` is ``now`` where the last answer is right, ``before`` where only an earlier one
        was, ``never``, or None where nothing is judged.
        """
        asked = sa.select(_answers).where(_answers.c.exercise == id)
        students, called = defaultdict[tuple[str, str], list[Any]](list), Counter[str]()
        with self._open().reading() as connection:
            order = (_answers.c[one] for one in ("at", "number", "name", "owner"))
            for row in connection.execute(asked.order_by(*order)):
                students[row.owner, row.name].append(row)
        found = []
        for (_, name), rows in students.items():
            called[name] += 1
            title = name if called[name] == 1 else f"{name} ({called[name]})"
            hints, last = max(row.hints for row in rows), rows[-1]
            ever = "before" if any(row.correct for row in rows) else "never"
            state = None if last.correct is None else "now" if last.correct else ever
            row = (title, state, last.answer, len(rows), hints)
            found.append(dict(zip(COLUMNS, row, strict=True)))
        return found

    def last(self, id: str, owner: str) -> tuple[str, str, bool | None, int]:
        """Name, answer, whether it is right, and hints; empty where no browser is told apart.

        Of a browser that answered other exercises alone, the name that it gave last.
        """
        here = _answers.c.exercise == id
        asked = sa.select(_answers).where((_answers.c.owner == owner) & (owner != ""))
        with self._open().reading() as connection:
            row = connection.execute(asked.order_by(here.desc(), -_answers.c.at)).first()
        if row and row.exercise == id:
            return row.name, row.answer, row.correct, row.hints
        return row.name if row else "", "", None, 0

    def took_hint(self, id: str, owner: str, name: str, hints: int) -> None:
        """Note how many hints were seen by whom, where they handed something in."""
        of = (_answers.c.exercise == id) & (_answers.c.owner == owner) & (_answers.c.name == name)
        with self._open().writing() as connection:
            connection.execute(sa.update(_answers).where(of).values(hints=hints))

    def end(self, id: str) -> None:
        """Take no more answers, and forget them unless they are kept; forget one that ended."""
        with self._open().writing() as connection:
            connection.execute(sa.delete(_exercises).where(_ended, _exercises.c.id == id))
            _end(connection, _exercises.c.id == id)

    def sweep(self, now: float) -> None:
        """End what nobody answered for 12 hours, and forget after 90 days what is not kept."""
        ago = now - _exercises.c.active
        answered = _exercises.c.id.in_(sa.select(_answers.c.exercise))
        old = (_exercises.c.keep == 0) & (ago > DAYS_KEPT * 86_400)
        with self._base.writing() as connection:
            _end(connection, answered & (ago > HOURS_OPEN * 3600))
            connection.execute(sa.delete(_exercises).where(old))

    def _open(self) -> Database:
        now = time.time()
        if now - self._swept >= _SECONDS_BETWEEN_SWEEPS:
            self._base.add_tables(_tables)
            self.sweep(now)
            self._swept = now
        return self._base


def _set(connection: sa.Connection, id: str, **values: Any) -> None:
    connection.execute(sa.update(_exercises).where(_exercises.c.id == id).values(**values))


def _found(connection: sa.Connection, which: sa.ColumnElement[bool]) -> list[Exercise]:
    asked = sa.select(_exercises).where(which).order_by(_exercises.c.active.desc())
    return [
        Exercise.model_validate_json(row.question).model_copy(update=row._asdict())
        for row in connection.execute(asked)
    ]


def _one(connection: sa.Connection, id: str) -> Exercise:
    for found in _found(connection, _exercises.c.id == id) if ID.match(id) else ():
        return found  # what is no id may hold what PostgreSQL refuses
    raise KeyError(id)


def _end(connection: sa.Connection, which: sa.ColumnElement[bool]) -> None:
    connection.execute(sa.update(_exercises).where(which).values(ended=1))
    gone = sa.select(_exercises.c.id).where(_ended, _exercises.c.keep == 0)
    connection.execute(sa.delete(_answers).where(_answers.c.exercise.in_(gone)))


def _room(
    connection: sa.Connection, id: str, owner: str, name: str, answer: str
) -> tuple[bool | None, int | None]:
    """Whether an answer is right, and how many its student gave; None if it was just given."""
    found, of = _one(connection, id), _answers.c.exercise == id
    if found.ended:
        raise ValueError(_SAID["ended"])
    right = found.judged(answer)
    asked = sa.select(_answers).where(of, _answers.c.owner == owner).order_by(_answers.c.number)
    if not owner:  # the user of this machine, or everybody where browsers are not told apart
        asked = asked.where(_answers.c.name == name)
    rows = connection.execute(asked).all()
    own = [row for row in rows if row.name == name]
    if own and own[-1].answer == answer:
        return right, None
    if rows and time.time() - max(row.at for row in rows) < _SECONDS_BETWEEN:
        raise ValueError(_SAID["quick"])
    students = sa.select(sa.func.count()).where(of, _first)
    others = len({row.name for row in rows}) >= MOST_NAMES
    others = others or (connection.scalar(students) or 0) >= MOST_STUDENTS
    if len(own) >= MOST_ANSWERS if own else others:
        most = {"answers": MOST_ANSWERS, "names": MOST_NAMES, "students": MOST_STUDENTS}
        raise ValueError(gettext_noop(_SAID["full"], **most))
    return right, len(own)
