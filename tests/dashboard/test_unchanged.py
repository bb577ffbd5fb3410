"""What a browser shows already is not sent to it again; what it shows is always the page."""

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard import unchanged
from dashboard.unchanged import Unchanged

DONE, EARLY = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
PART = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
AROUND = {
    "logo": lambda told: f"logo {told.logo.image}",
    "navigation": lambda told: f"menu {told.navigation.page_script_hash}",
    "page_config_changed": lambda told: told.page_config_changed.title,
}


def begin(run="1", page="p", fragments=()):
    told = ForwardMsg()
    told.new_session.page_script_hash = page
    told.metadata.run.script_run_id = run
    told.metadata.run.fragment_ids.extend(fragments)
    return told


def end(status=DONE, fragments=()):
    told = ForwardMsg(script_finished=status)
    told.metadata.run.fragment_ids.extend(fragments)
    return told


def text(path, body, fragment=""):
    told = ForwardMsg()
    told.metadata.delta_path.extend([0, *path])
    told.delta.new_element.text.body = body
    told.delta.fragment_id = fragment
    return told


def block(path, tall=0):
    told = ForwardMsg()
    told.metadata.delta_path.extend([0, *path])
    told.delta.add_block.vertical.SetInParent()
    told.delta.add_block.height_config.pixel_height = tall
    return told


def slider(path, value, *, sets):
    told = ForwardMsg()
    told.metadata.delta_path.extend([0, *path])
    told.delta.new_element.slider.value.append(value)
    told.delta.new_element.slider.set_value = sets
    return told


class Screen:
    """A browser as Streamlit's: it keeps what a run has sent, and clears the rest at its end.

    Large messages are kept until a run of the whole page ends ``age`` runs after their last use.
    """

    def __init__(self):
        self.shown, self.got, self.run = {}, 0, None
        self.cache, self.runs, self.age = {}, 0, 2
        self.around = []

    async def __call__(self, message):
        told = ForwardMsg.FromString(message["bytes"])
        self.got += 1
        kind = told.WhichOneof("type")
        if told.metadata.cacheable:
            assert told.hash or told.ref_hash in self.cache, "Cached ForwardMsg MISS"
            self.cache[told.hash or told.ref_hash] = self.runs
        if kind == "script_finished" and told.script_finished != EARLY:
            self.runs += 1
            self.cache = {name: used for name, used in self.cache.items()
                          if self.run or self.runs - used <= self.age}  # fmt: skip
        if kind == "new_session":
            self.run, self.seen = [*told.metadata.run.fragment_ids], set()
            self.age = told.new_session.config.max_cached_message_age
        elif kind in AROUND:
            self.around.append(AROUND[kind](told))
        elif kind == "delta":
            self.draw(told)
        elif told.script_finished == DONE:
            self.shown = {path: it for path, it in self.shown.items() if path in self.seen}
        elif told.script_finished == PART:
            self.shown = {path: it for path, it in self.shown.items()
                          if path in self.seen or it.fragment_id not in self.run}  # fmt: skip

    def draw(self, told):
        path = tuple(told.metadata.delta_path)
        if told.delta.WhichOneof("type") == "add_block":
            inside = [one for one in self.shown if one[: len(path)] == path != one]
            if self.shown.get(path) != told.delta:
                for one in inside:
                    del self.shown[one]
        self.shown[path] = told.delta
        self.seen.add(path)

    @property
    def words(self):
        return {path[1:]: delta.new_element.text.body for path, delta in self.shown.items()
                if delta.new_element.WhichOneof("type") == "text"}  # fmt: skip


@pytest.fixture
def told():
    """Sends messages through; says how many came out, and what is on the screen."""
    screen = Screen()
    holder = {}

    async def keep(scope, receive, send):
        holder.update(receive=receive, send=send)

    async def back():
        return holder["back"]

    asyncio.run(Unchanged(keep)({"type": "websocket"}, back, screen))

    def tell(*messages):
        before = screen.got

        async def go():
            for each in messages:
                await holder["send"]({"type": "websocket.send", "bytes": each.SerializeToString()})

        asyncio.run(go())
        return screen.got - before, screen.words

    def ask(message):
        """What the app hears of what a browser says."""
        holder["back"] = message
        return asyncio.run(holder["receive"]())

    tell.ask, tell.screen = ask, screen
    return tell


def chart(body, named=False, cacheable=False):
    made = ForwardMsg()
    made.metadata.delta_path.extend([0, 1])
    made.metadata.cacheable = cacheable
    if named:
        made.ref_hash = body
    else:
        made.hash = body
        made.delta.new_element.text.body = body
    return made


def page(*bodies):
    return [block([0]), *(text([0, i], body) for i, body in enumerate(bodies))]


def test_only_what_changed_is_sent_again(told):
    assert told(begin(), *page("a", "b", "c"), end())[0] == 6
    assert told(begin("2"), *page("a", "B", "c"), end()) == (
        3, {(0, 0): "a", (0, 1): "B", (0, 2): "c"},
    )  # fmt: skip
    assert told(begin("3"), *page("a", "B", "c"), end())[0] == 2
    assert told.screen.run == ["unchanged"], "for a fragment's, which leaves the rest as it is"


def around(*titles, logo="l", menu="p"):
    """What stands around a page, in the order of a run."""
    made = [ForwardMsg() for _ in range(2 + len(titles))]
    made[0].logo.image, made[1].navigation.page_script_hash = logo, menu
    for told, title in zip(made[2:], titles, strict=True):
        told.page_config_changed.title = title
    return made


def test_what_stands_around_a_page_waits_for_the_end_and_is_sent_where_it_changed(told):
    screen = told.screen

    def run(number, *frame, status=DONE):
        del screen.around[:]
        told(begin(number), *frame, *page("a"), end(status))
        return screen.around

    assert run("1", *around("page", "page, b")) == ["logo l", "menu p", "page", "page, b"]
    assert run("2", *around("page", "page, b")) == []
    assert run("3", *around("page", "page, c")) == ["page", "page, c"]
    assert run("4", *around("page")) == ["page"], "else the window keeps what no longer holds"
    assert run("5", *around("page", logo="other")) == ["logo other"]
    assert run("6", *around("page", "b", logo="other"), status=EARLY) == ["page", "b"]
    assert run("7", *around("page", "b", logo="other")) == []
    told(begin("8"), end(EARLY))  # before it said anything
    assert run("9", *around("page", "b", logo="other")) == []


def test_a_run_that_is_sent_whole_says_what_stands_around_the_page(told):
    """Streamlit's browser clears a logo that a run of the whole page does not bring."""
    screen = told.screen
    told(begin(), *around("page"), *page("a", "b"), end())
    del screen.around[:]
    told(begin("2"), *around("page"), *page("a"), end())  # something disappears
    assert screen.around == ["logo l", "menu p", "page"]
    timer = ForwardMsg()
    timer.auto_rerun.fragment_id = "f"
    del screen.around[:]
    told(begin("3"), *around("page"), *page("a"), timer, *around("late")[2:], end())
    assert screen.around == ["logo l", "menu p", "page", "late"]
    del screen.around[:]
    told(begin("4", page="other"), *around("page", menu="other"), *page("a"), end())
    assert screen.around == ["logo l", "menu other", "page"]


def test_what_disappears_is_cleared_and_everything_else_stays(told):
    told(begin(), *page("a", "b", "c"), end())
    assert told(begin("2"), *page("a", "b"), end())[1] == {(0, 0): "a", (0, 1): "b"}
    assert told(begin("3"), *page("a", "b", "c"), end())[1] == {
        (0, 0): "a", (0, 1): "b", (0, 2): "c",
    }  # fmt: skip


def test_a_run_that_was_interrupted_loses_nothing(told):
    told(begin(), *page("a", "b"), end())
    told(begin("2"), *page("A"), end(EARLY))
    assert told(begin("3"), *page("a", "b"), end())[1] == {(0, 0): "a", (0, 1): "b"}


def test_a_block_that_changes_gets_all_that_it_holds(told):
    told(begin(), *page("a", "b"), end())
    changed = [block([0], tall=9), text([0, 0], "a"), text([0, 1], "b")]
    assert told(begin("2"), *changed, end())[1] == {(0, 0): "a", (0, 1): "b"}


def test_another_page_is_sent_whole(told):
    told(begin(), *page("a", "b"), end())
    assert told(begin("2", page="other"), *page("a", "b"), end())[0] == 5


def test_a_visitors_first_run_learns_its_page_from_the_menu(told):
    menu = ForwardMsg()
    menu.navigation.page_script_hash = "p"
    told(begin(page=""), menu, *page("a", "b"), end())
    assert told.screen.run == [], "there is nothing yet that a fragment could leave as it is"
    assert told(begin("2"), *page("a", "b"), end())[0] == 2


def test_what_a_fragment_cleared_is_sent_when_it_comes_back(told):
    told(begin(), block([0]), text([0, 0], "a", "f"), text([0, 1], "b", "f"), end())
    told(begin("2", fragments=["f"]), text([0, 0], "a", "f"), end(PART, ["f"]))
    assert told(begin("3"), block([0]), text([0, 0], "a", "f"), text([0, 1], "b", "f"), end())[
        1
    ] == {(0, 0): "a", (0, 1): "b"}


def test_what_a_fragment_sent_again_is_known(told):
    parts = text([0, 0], "a", "f"), text([0, 1], "b", "f")
    told(begin(), block([0]), *parts, end())
    told(begin("2", fragments=["f"]), *parts, end(PART, ["f"]))
    assert told(begin("3"), block([0]), *parts, end())[0] == 2


def test_what_is_only_named_belongs_to_the_fragment_of_what_was_here_before(told):
    told(begin(), text([0], "a"), text([1], "b", "f"), end())
    told(begin("2"), text([0], "a"), chart("long ago", named=True), end())
    told(begin("3", fragments=["f"]), end(PART, ["f"]))  # without it
    assert told(begin("4"), text([0], "a"), chart("long ago", named=True), end())[0] == 3


def test_a_value_that_is_set_is_always_sent(told):
    told(begin(), slider([0], 0.5, sets=True), end())
    assert told(begin("2"), slider([0], 0.5, sets=True), end())[0] == 3
    told(begin("3"), slider([0], 0.5, sets=False), end())
    assert told(begin("4"), slider([0], 0.5, sets=False), end())[0] == 2


def test_while_timers_run_a_page_is_sent_whole(told):
    timer = ForwardMsg()
    timer.auto_rerun.fragment_id = "f"
    told(begin(), *page("a"), timer, end())
    told(begin("2", fragments=["f"]), end(PART, ["f"]))
    assert told(begin("3"), *page("a"), end())[0] == 4
    assert told(begin("4"), *page("a"), end())[0] == 2


def test_what_is_shown_only_while_a_run_lasts_makes_the_next_one_whole(told):
    transient = ForwardMsg()
    transient.metadata.delta_path.extend([0, 1])
    transient.delta.new_transient.SetInParent()
    told(begin(), text([0], "a"), transient, end())
    assert told(begin("2"), text([0], "a"), transient, end())[0] == 4


def test_after_a_run_that_could_not_begin_all_is_sent(told):
    told(begin(), *page("a", "b"), end())
    told(begin("2"), end(ForwardMsg.FINISHED_WITH_COMPILE_ERROR))
    assert told(begin("3"), *page("a", "b"), end())[0] == 5


def test_what_a_browser_was_sent_long_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr(unchanged, "_MOST_SENT", 3)
    browser = unchanged._Browser(None, Screen())

    async def go():
        for number in range(7):
            told = text([number], f"{number}")
            told.hash = f"hash {number}"
            await browser.send({"type": "websocket.send", "bytes": told.SerializeToString()})

    browser._send.seen = set()
    asyncio.run(go())
    assert [*browser._sent] == ["hash 4", "hash 5", "hash 6"]


def test_a_run_that_starts_a_timer_is_sent_whole(told):
    """Else a browser would end the timer of a page that goes on."""
    timer = ForwardMsg()
    timer.auto_rerun.fragment_id = "f"
    told(begin(), *page("a", "b"), end())
    # As a fragment's begin, then the whole run from its begin, and the timer.
    assert told(begin("2"), *page("a", "b"), timer, end())[0] == 1 + 4 + 2
    told(begin("3"), *page("a", "b"), end())
    nowhere = text([], "")
    del nowhere.metadata.delta_path[:]
    assert told(begin("4"), *page("a", "b"), nowhere, end())[0] == 1 + 4 + 2, "another such"


def test_a_message_is_shown_as_often_as_it_is_sent(told):
    toast = text([0], "Kept")
    toast.metadata.delta_path[0] = 2
    told(begin(), *page("a"), toast, end())
    assert told(begin("2"), *page("a"), toast, end())[0] == 3
    style = text([0], "")
    style.metadata.delta_path[0] = 2
    style.delta.new_element.html.body = "<style></style>"
    told(begin("3"), *page("a"), style, end())
    assert told(begin("4"), *page("a"), style, end())[0] == 2, "but a style stays"


@pytest.mark.parametrize("kind", ["a widget", "a block that opens"])
def test_what_takes_the_place_of_another_widget_is_sent_in_a_whole_run(told, kind):
    """Streamlit's browser shows the one before until a run of the whole page ends."""

    def field(id):
        made = ForwardMsg()
        made.metadata.delta_path.extend([0, 1])
        if kind == "a widget":
            made.delta.new_element.text_input.id = id
        else:
            made.delta.add_block.expandable.id = id
        return made

    told(begin(), text([0], "a"), field("one"), text([2], "c"), end())
    changed = [begin("2"), text([0], "a"), field("other"), text([2], "c"), end()]
    # As a fragment's begin, then the run from its begin.
    assert told(*changed)[0] == 6
    assert told(begin("3"), text([0], "a"), field("other"), text([2], "c"), end())[0] == 2


def test_what_was_here_before_is_sent_alone_by_its_hash(told):
    """Streamlit names a large message that the browser has, instead of sending it again."""

    def run(number, middle):
        return told(begin(number), text([0], "a"), middle, text([2], "c"), end())

    run("1", chart("one"))
    assert run("2", chart("two"))[0] == 3  # begin, chart, end
    assert run("3", chart("one", named=True))[0] == 3
    assert run("4", chart("two", named=True))[0] == 3
    assert run("5", chart("long ago", named=True))[0] == 6  # it may be of another widget
    assert run("6", chart("long ago", named=True))[0] == 2
    for number in range(7, 200):
        assert run(f"{number}", chart("of no cache" if number < 20 else f"{number}"))[0] == (
            2 if 7 < number < 20 else 3
        )
    assert run("200", chart("two", named=True))[0] == 3, "it was among the last thousand"


def test_a_browser_has_every_large_message_that_is_named_to_it(told):
    """Also one that was shown through many runs, and is asked back before it is forgotten."""

    def asked():
        back = BackMsg()
        back.rerun_script.cached_message_hashes.extend(told.screen.cache)
        heard = told.ask({"type": "websocket.receive", "bytes": back.SerializeToString()})
        return BackMsg.FromString(heard["bytes"]).rerun_script.cached_message_hashes

    def run(number, body, known, *more):
        middle = chart(body, named=body in known, cacheable=True)
        return told(begin(str(number)), text([0], str(number)), middle, *more, end())[0]

    run(0, "old", [])
    long = [run(number, "old", asked(), text([2], "last")) for number in range(1, 60)]
    named = [number for number, count in enumerate(long, 1) if count == 4]
    assert named == [1, *range(11, 60, 11)], "it is named to the browser now and then"
    early = asked()  # before the browser has forgotten at the end of the next run
    assert [*early] == ["old"]
    for number in range(60, 76):  # whole runs, for something disappears
        run(number, f"new {number}", asked(), *[text([2], "")] * (number % 2))
    run(76, "old", early)
    kept = []
    for number in range(77, 106):
        run(number, "new", asked(), *[text([2], "")] * (number % 2))
        kept.append("old" in asked())
    assert kept == [True] * 18 + [False] * 11, "it may be forgotten before it is named"
    assert "old" in told.screen.cache


def test_what_is_no_message_of_a_browser_s_is_passed_on(told):
    for message in (
        {"type": "websocket.disconnect"}, {"type": "websocket.receive", "text": "?"},
        {"type": "websocket.receive", "bytes": b"\xff\xff", "text": None},
        {"type": "websocket.receive", "bytes": None, "text": ""},
    ):  # fmt: skip
        assert told.ask(message) == message


@pytest.mark.parametrize("message", [
    {"type": "websocket.accept", "headers": []}, {"type": "websocket.close", "code": 1000},
    {"type": "websocket.send", "text": "?"}, {"type": "websocket.send", "bytes": None},
])  # fmt: skip
def test_what_is_no_message_to_a_browser_s_page_is_passed_on(message):
    got = []

    async def take(each):
        got.append(each)

    asyncio.run(unchanged._Browser(None, take).send(message))
    assert got == [message]
