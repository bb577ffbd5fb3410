"""A lesson of 30 students on one server, each in a session of their own, beside one who floods.

Each moves a slider twice, hands in, and reloads the page, a step every :data:`PAUSE` seconds; the
teacher's board is open all the time. ``LOAD_SECONDS=1200`` is a lesson of 20 minutes.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import count
from urllib.parse import urlencode

import pytest
import websockets
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from support.serving import ROOT, served
from support.visiting import Visit, new_browser

from dashboard.storage.exercises import MOST_ANSWERS, MOST_NAMES
from dashboard.storage.runs import Runs

from .crowd import Footprint
from .links import regressed
from .tables import percentiles, table

pytestmark = [pytest.mark.load, pytest.mark.timeout(3600)]
STUDENTS = int(os.environ.get("LOAD_STUDENTS", "30"))
SECONDS = float(os.environ.get("LOAD_SECONDS", "180"))
PAUSE = float(os.environ.get("LOAD_PAUSE", "5"))  # seconds between two steps of a student
ANSWERS = 15  # of a student to one exercise, before the class goes on to the next; 20 are taken
WIDTH = "panel-a-gaussian-width"  # the slider
NUMBER = {
    "text": "Which number?", "page": "regression", "query": {"a": "gaussian"}, "kind": "number",
    "right": "7", "tolerance": "0",
}  # fmt: skip


@dataclass
class Lesson:
    """What its students saw.

    Attributes:
        seconds: to each result, by what was done.
        given: the answers that a student was told of, by exercise and name.
        wrong: what was not as it must be.
        floods: how often the one who floods was told what.
    """

    ids: list[str]
    tokens: list[str]
    end: float
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    given: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    wrong: Counter[str] = field(default_factory=Counter)
    floods: Counter[str] = field(default_factory=Counter)
    loads: list[float] = field(default_factory=list)


def _ending(visit, kind, key):
    """The id of the element of a kind whose id ends in a key, and its fragment."""
    for one in visit.shown.values():
        if one.element.WhichOneof("type") == kind and getattr(one.element, kind).id.endswith(key):
            return getattr(one.element, kind).id, one.fragment
    raise LookupError(f"no {kind} {key!r} on this page")


async def slide(visit, width):
    moved = WidgetStates()
    moved.widgets.add(id=_ending(visit, "slider", WIDTH)[0]).double_array_value.data[:] = [width]
    began = time.perf_counter()
    await visit.run(moved)
    await visit.finish()
    return time.perf_counter() - began


async def hand_in(visit, id, name, answer):
    """Fill the form and press its button, as one message of a browser; what the page says."""
    typed, (field, fragment) = WidgetStates(), _ending(visit, "text_input", f"-exercise-name-{id}")
    typed.widgets.add(id=field, string_value=name)
    field, _ = _ending(visit, "text_input", f"-exercise-answer-{id}")
    typed.widgets.add(id=field, string_value=answer)
    (button,) = [one.element.button.id for one in visit.shown.values()
                 if one.element.button.is_form_submitter]  # fmt: skip
    typed.widgets.add(id=button, trigger_value=True)
    began = time.perf_counter()
    await visit.run(typed, fragment=fragment)
    return time.perf_counter() - began, "\n".join(visit.texts())


def _width(number):
    return (20 + number * 37 % 979) / 100  # what is drawn is rounded: not narrower


async def student(server, lesson, place):
    name, cookies = f"student {place}", await asyncio.to_thread(new_browser, server.url)
    numbers, next_step = count(place * 13), time.monotonic() + PAUSE * place / STUDENTS

    async def step():
        nonlocal next_step
        next_step = max(next_step + PAUSE, time.monotonic())
        await asyncio.sleep(next_step - time.monotonic())

    async def take(turn):
        id = lesson.ids[min(turn // ANSWERS, len(lesson.ids) - 1)]
        async with Visit(server.url, cookies, afar=True) as visit:
            width = _width(next(numbers))
            # Points of their own: nobody is given what another one has had computed.
            query = {"a": "gaussian", "a.width": width, "seed": place, "exercise": id}
            lesson.seconds["page opened"].append(await visit.open("regression", urlencode(query)))
            _check(lesson, visit, width)
            if NUMBER["text"] not in visit.texts():
                lesson.wrong["no question"] += 1
            for _ in range(2):
                await step()
                width = _width(next(numbers))
                lesson.seconds["slider moved"].append(await slide(visit, width))
                _check(lesson, visit, width)
            await step()
            answer = "7" if turn % 3 == 2 else str(100 + turn)
            took, said = await hand_in(visit, id, name, answer)
            lesson.seconds["handed in"].append(took)
            if ("Right." if answer == "7" else "Not right yet.") in said:
                lesson.given[id, name].append(answer)
            else:
                lesson.wrong[f"told of {answer}: {said[-200:]}"] += 1
            await step()

    for turn in range(ANSWERS * len(lesson.ids)):
        if time.monotonic() < lesson.end:
            try:
                await take(turn)
            except (OSError, TimeoutError, websockets.WebSocketException) as error:
                lesson.wrong[f"{type(error).__name__}: {error}"] += 1


def _check(lesson, visit, width):
    lesson.wrong.update(visit.errors())
    try:
        own = regressed(visit, width)
    except (LookupError, ValueError) as error:
        lesson.wrong[str(error)] += 1
        return
    lesson.wrong[f"not the curve of width {width}"] += not own


async def flood(server, lesson):
    """Hand in again and again without a pause, under ever other names."""
    cookies = await asyncio.to_thread(new_browser, server.url)
    async with Visit(server.url, cookies, afar=True) as visit:
        await visit.open("regression", urlencode({"a": "gaussian", "exercise": lesson.ids[0]}))
        for number in count():
            if time.monotonic() >= lesson.end:
                return
            _, said = await hand_in(visit, lesson.ids[0], f"flood {number % 9}", str(number))
            kinds = ("Not right yet.", "That was quick.", "No more answers")
            lesson.floods[next((one for one in kinds if one in said), said[-100:])] += 1


async def teacher(server, lesson):
    """Look at the board as often as the page asks for it."""
    cookies = await asyncio.to_thread(new_browser, server.url)
    async with Visit(server.url, cookies, afar=True) as visit:
        for id, token in zip(lesson.ids, lesson.tokens, strict=True):
            await visit.show("exercise", urlencode({"id": id, "teacher": token}))
        await visit.show("exercise", urlencode({"id": lesson.ids[0]}))
        while time.monotonic() < lesson.end:
            await asyncio.sleep(min(visit.polled.values()))
            began = time.perf_counter()
            await visit.look()
            lesson.seconds["board"].append(time.perf_counter() - began)
            lesson.loads.append(os.getloadavg()[0])
        lesson.wrong.update(visit.errors())


async def hold(server, made):
    async with Visit(server.url, afar=True) as visit:  # the teacher has prepared: workers are warm
        await visit.open("regression", "a=gaussian")
    lesson = Lesson(*map(list, zip(*made, strict=True)), time.monotonic() + SECONDS)
    everybody = [student(server, lesson, place) for place in range(STUDENTS)]
    async with asyncio.TaskGroup() as group:
        for each in (*everybody, flood(server, lesson), teacher(server, lesson)):
            group.create_task(each)
    return lesson


def test_a_class_of_thirty_loses_nothing_beside_one_who_floods():
    variables = {"ATTENTION_TRUST_LOCAL": "0", "ATTENTION_CLASSROOM": "1"}
    with served(ROOT / "streamlit_app.py", **variables) as server:
        store = Runs(server.home).exercises
        exercises = 1 + int(SECONDS / (4 * PAUSE * ANSWERS))
        made = [store.make("nobody", **NUMBER) for _ in range(exercises)]
        lesson = asyncio.run(hold(server, made))
        size, boards = Footprint.of(server), {id: store.board(id) for id in lesson.ids}
    rows = [(what, len(one), *percentiles(one)) for what, one in sorted(lesson.seconds.items())]
    head = (f"{STUDENTS} students, {SECONDS:.0f} s, a step every {PAUSE:g} s", "n", "p50", "p95")
    load = f"{min(lesson.loads):.1f} to {max(lesson.loads):.1f} on {os.cpu_count()} cores"
    more = [
        ("told the one who floods", dict(lesson.floods), "", ""), ("load average", load, "", ""),
        ("server; workers", f"{size.server:.0f} MB; {size.workers:.0f} MB", "", ""),
    ]  # fmt: skip
    print(table(head, [*rows, *more]))
    for id, board in boards.items():
        own = {one["name"]: one for one in board if not one["name"].startswith("flood")}
        given = {name: said for (of, name), said in lesson.given.items() if of == id}
        assert {name: (one["answers"], one["last"]) for name, one in own.items()} == {
            name: (len(said), said[-1]) for name, said in given.items()
        }
        for name, said in given.items():
            found = "now" if said[-1] == "7" else "before" if "7" in said else "never"
            assert own[name]["found"] == found
        flooded = [one["answers"] for one in board if one["name"].startswith("flood")]
        assert len(flooded) <= MOST_NAMES
        assert max(flooded, default=0) <= MOST_ANSWERS
    assert dict(+lesson.wrong) == {}
    assert lesson.floods["That was quick."] + lesson.floods["No more answers"] > 0
