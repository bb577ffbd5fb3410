"""Open connections have limits: those that say nothing end, and those too many are refused."""

import asyncio
import logging
import time
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn
import websockets
from starlette.responses import PlainTextResponse
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus

from dashboard import limits, sockets
from dashboard.settings import settings
from dashboard.sockets import Patience, Sockets
from dashboard.visitors import network

SHORT = Patience(head=0.3, body=0.3, first=0.3)
HALF = b"GET / HTTP/1.1\r\nHost: local"
WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


class App:
    """Answers requests at once, and WebSockets with what they say."""

    def __init__(self):
        self.sessions = 0

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
        elif scope["type"] == "http":
            while (await receive()).get("more_body"):
                pass
            await PlainTextResponse("here")(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.accept"})
            self.sessions += 1
            while (message := await receive())["type"] == "websocket.receive":
                await send({"type": "websocket.send", "text": message["text"]})


@asynccontextmanager
async def server(app=None, patience=SHORT, proxies="192.0.2.200", **chosen):
    """A server on this machine, which counts connections by their address; its port."""
    bounded = Sockets(app or App(), settings(**chosen), patience)
    config = uvicorn.Config(
        bounded, port=0, log_level="critical", ws="websockets-sansio", forwarded_allow_ips=proxies
    )
    running = uvicorn.Server(config)
    serving = asyncio.create_task(running._serve())
    while not running.started:
        await asyncio.sleep(0.01)
    try:
        yield running.servers[0].sockets[0].getsockname()[1]
    finally:
        running.should_exit = running.force_exit = True
        await serving


async def said(port, text):
    """All that the server answers to these bytes until it closes, and after how many seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    began = time.monotonic()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer.decode(), time.monotonic() - began


@pytest.mark.parametrize(
    "half", [b"", HALF, WHOLE.replace(b"GET", b"PUT")[:-2] + b"Content-Length: 9\r\n\r\nhal"],
    ids=["nothing", "a head", "a body"],
)  # fmt: skip
def test_a_request_whose_rest_does_not_come_ends(half):
    async def happens():
        async with server() as port:
            return await said(port, half)

    answer, seconds = asyncio.run(happens())
    assert answer == "" or answer.startswith("HTTP/1.1 408 ")
    assert 0.25 < seconds < 5


def test_a_head_that_comes_byte_by_byte_has_no_more_time():
    async def happens():
        async with server() as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            began, answer = time.monotonic(), asyncio.create_task(reader.read(1))
            while not answer.done() and time.monotonic() - began < 5:
                writer.write(b"G")
                await asyncio.wait([answer], timeout=0.05)
            assert await answer == b"H"
            writer.close()
            return time.monotonic() - began

    assert asyncio.run(happens()) < 2


def test_an_answer_that_takes_long_is_waited_for():
    async def slow(scope, receive, send):
        if scope["type"] == "http":
            await asyncio.sleep(1)
        await App()(scope, receive, send)

    async def happens():
        async with server(slow) as port:
            return await said(port, WHOLE)

    assert asyncio.run(happens())[0].endswith("here")


def test_a_websocket_that_says_nothing_ends_and_makes_no_session():
    app = App()

    async def happens():
        async with server(app) as port:
            silent = await websockets.connect(f"ws://127.0.0.1:{port}")
            speaks = await websockets.connect(f"ws://127.0.0.1:{port}")
            await speaks.send("I am here")
            assert await speaks.recv() == "I am here"
            with pytest.raises(ConnectionClosed):
                await asyncio.wait_for(silent.recv(), 5)
            assert silent.close_code == 1008
            await asyncio.sleep(0.5)
            await speaks.send("still")  # it may be silent for as long as it likes now
            assert await speaks.recv() == "still"
            await speaks.close()

    asyncio.run(happens())
    assert app.sessions == 1


def test_a_websocket_that_goes_on_with_its_session_may_say_nothing(monkeypatch):
    monkeypatch.setattr(sockets, "_resumes", lambda scope: scope["subprotocols"][2:] == ["mine"])
    app = App()

    async def happens():
        async with server(app) as port:
            names = [*map(websockets.Subprotocol, ("streamlit", "token", "mine"))]
            async with websockets.connect(f"ws://127.0.0.1:{port}", subprotocols=names) as socket:
                await asyncio.sleep(0.6)
                await socket.send("back")
                assert await socket.recv() == "back"

    asyncio.run(happens())
    assert app.sessions == 1


def test_a_browser_whose_server_has_died_is_asked_for_its_whole_page():
    heard = []

    async def app(scope, receive, send):
        if scope["type"] != "websocket":
            await App()(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.accept"})
        heard.append(BackMsg.FromString((await receive())["bytes"]).rerun_script)

    async def happens():
        async with server(app, Patience()) as port:
            names = [*map(websockets.Subprotocol, ("streamlit", "token", "another's"))]
            async with websockets.connect(f"ws://127.0.0.1:{port}", subprotocols=names) as page:
                asked = ForwardMsg.FromString(await page.recv()).auto_rerun
                assert 0 < asked.interval < 1
                said = BackMsg()
                said.rerun_script.fragment_id = asked.fragment_id
                said.rerun_script.is_auto_rerun = True
                said.rerun_script.query_string = "a=gaussian"
                await page.send(said.SerializeToString())
                stopped = ForwardMsg.FromString(await page.recv()).stop_auto_rerun
                assert [*stopped.fragment_ids] == [asked.fragment_id]

    asyncio.run(happens())
    (run,) = heard
    assert (run.fragment_id, run.is_auto_rerun, run.query_string) == ("", False, "a=gaussian")


def test_one_address_has_so_many_connections_and_the_next_is_told_why():
    async def happens():
        async with server(patience=Patience(), connections_per_address=2) as port:
            others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            answer, _ = await said(port, WHOLE)
            others[0][1].close()
            await asyncio.sleep(0.1)
            again, _ = await said(port, WHOLE)
            others[1][1].close()
        return answer, again

    answer, again = asyncio.run(happens())
    assert answer.startswith("HTTP/1.1 503 ")
    assert "\r\nRetry-After: 60\r\n" in answer
    assert "2 connections are open from your network" in answer
    assert "ATTENTION_CONNECTIONS_PER_ADDRESS" in answer
    assert again.endswith("here")


def test_behind_a_proxy_each_visitors_websockets_are_counted():
    async def happens():
        async with server(proxies="127.0.0.1", connections_per_address=2) as port:

            async def opened(address):
                socket = await websockets.connect(
                    f"ws://127.0.0.1:{port}", additional_headers={"X-Forwarded-For": address}
                )
                await socket.send(address)
                return socket

            two = [await opened("192.0.2.1") for _ in range(2)]
            with pytest.raises(InvalidStatus) as refused:
                await opened("192.0.2.1")
            other = await opened("192.0.2.2")
            await two[0].close()
            third = await opened("192.0.2.1")
            for each in (two[1], other, third):
                await each.close()
        return refused.value.response

    response = asyncio.run(happens())
    assert response.status_code == 503
    assert b"from your network" in response.body


def test_who_is_no_trusted_proxy_is_not_believed():
    async def happens():
        async with server(patience=Patience(), connections_per_address=1) as port:
            address = f"ws://127.0.0.1:{port}"
            async with websockets.connect(address) as first:
                await first.send("here")
                with pytest.raises(InvalidStatus) as refused:
                    await websockets.connect(
                        address, additional_headers={"X-Forwarded-For": "192.0.2.9"}
                    )
        return refused.value.response.status_code

    assert asyncio.run(happens()) == 503


def test_all_together_have_so_many_connections_as_there_are_files_for(monkeypatch, caplog):
    monkeypatch.setattr(limits, "raise_open_files", lambda: 215)  # room for three

    async def happens():
        async with server(patience=Patience(), proxies="*") as port:
            others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            answer, _ = await said(port, WHOLE)
            for _, writer in others:
                writer.close()
        return answer

    with caplog.at_level(logging.WARNING, "dashboard.sockets"):
        answer = asyncio.run(happens())
    assert answer.startswith("HTTP/1.1 503 ")
    assert "as many connections open as it takes" in answer
    assert "3 connections instead of 1000 (ATTENTION_CONNECTIONS)" in caplog.text


def test_the_setting_says_how_many_there_are_together():
    async def happens():
        async with server(patience=Patience(), proxies="*", connections=2) as port:
            others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            answer, _ = await said(port, WHOLE)
            for _, writer in others:
                writer.close()
        return answer

    assert "as many connections open as it takes" in asyncio.run(happens())


def test_further_ones_are_closed_without_a_word(monkeypatch):
    monkeypatch.setattr(limits, "raise_open_files", lambda: 205)  # room for one
    monkeypatch.setattr(sockets, "_BEING_REFUSED", 1)

    async def happens():
        async with server(patience=Patience(), proxies="*") as port:
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            with suppress(ConnectionResetError):
                assert await asyncio.wait_for(opened[2][0].read(), 10) == b""
            opened[1][1].write(WHOLE)
            refused = await asyncio.wait_for(opened[1][0].read(), 10)
            for _, writer in opened:
                writer.close()
        return refused

    assert asyncio.run(happens()).startswith(b"HTTP/1.1 503 ")


def test_an_address_without_connections_is_forgotten():
    async def app(scope, receive, send):
        assert bounded._open == {"192.0.2.1": 1}

    bounded = Sockets(app, settings())
    scope = {"type": "websocket", "client": ("192.0.2.1", 1234), "subprotocols": []}
    asyncio.run(bounded(scope, None, None))
    assert not bounded._open.keys()


def test_another_server_is_said_to_have_no_limits(caplog):
    async def receive():
        return {"type": "lifespan.shutdown"}

    async def send(_message):
        pass

    asyncio.run(Sockets(App(), settings())({"type": "lifespan"}, receive, send))
    assert "connections have no limits here" in caplog.text


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"), ("testclient", "testclient"), ("", ""),
    ],
)  # fmt: skip
def test_visitors_are_counted_by_their_network(address, counted):
    assert network(address) == counted


def test_this_process_may_open_as_many_files_as_it_is_let():
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
        raised = limits.raise_open_files()
        assert raised == resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(hard, 65_536)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
