"""How a server is started: by ``streamlit run`` or by the command, it is the same one."""

import argparse
import asyncio
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit import config, net_util
from streamlit.web import bootstrap
from streamlit.web.server.starlette import starlette_server

import streamlit_app
from dashboard import serving
from dashboard.serving import welcome
from dashboard.settings import settings

HERE = "127.0.0.1"


def test_the_checkouts_own_settings_are_found():
    settings = serving.root() / ".streamlit/config.toml"
    assert "headless = true" in settings.read_text("utf-8")  # "It opens no browser"


def test_a_wheels_settings_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "_SHIPPED", tmp_path)
    assert serving.root() == tmp_path


def test_streamlits_own_command_serves_the_same():
    assert streamlit_app.app.script_path == serving.SCRIPT
    assert serving.SCRIPT.is_file()
    assert streamlit_app.app._user_lifespan is serving.options()["lifespan"]


@pytest.fixture
def settings_of_streamlit(monkeypatch):
    """Streamlit keeps its settings for the whole process."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("_main_script_path", "_server_mode"):
        monkeypatch.setattr(config, name, getattr(config, name))
    monkeypatch.setattr(config, "_config_options", None)  # what is set now is forgotten afterwards


def test_it_is_served_with_the_settings_beside_the_script(
    settings_of_streamlit, monkeypatch, tmp_path
):
    seen = {}

    class Runner:
        def __init__(self, app):
            seen["app"] = app

        def run(self):
            bootstrap._print_url(is_running_hello=False)
            names = (
                "server.address", "server.port", "runner.postScriptGC", "client.allowedOrigins",
            )  # fmt: skip
            seen.update({name: config.get_option(name) for name in names})

    monkeypatch.setattr(starlette_server, "UvicornRunner", Runner)
    monkeypatch.setattr(bootstrap, "_install_config_watchers", lambda flags: None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", pytest.fail)
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: "192.0.2.7")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTENTION_LOGS", "")
    serving.run(argparse.Namespace(host="0.0.0.0", port=8765, logs="logs", processes=1))
    assert settings().logs == str(tmp_path / "logs")
    assert isinstance(seen.pop("app"), st.App)
    assert seen == {
        "server.address": "0.0.0.0", "server.port": 8765, "runner.postScriptGC": False,
        "client.allowedOrigins": [],
    }  # fmt: skip
    assert "  URL: http://localhost:8765/\n  Network URL: http://192.0.2.7:8765/\n" in welcome()


def test_several_processes_are_served_where_one_would_be(settings_of_streamlit, monkeypatch):
    asked = []
    monkeypatch.setattr(serving.servers, "run", lambda *given: asked.append(given) or 3)
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: "192.0.2.7")
    given = argparse.Namespace(host="0.0.0.0", port=8765, logs=None, processes=2)
    with pytest.raises(SystemExit) as ended:
        serving.run(given)
    assert ended.value.code == 3
    ((passed, said),) = asked
    assert passed is given
    assert "URL: http://localhost:8765/\n  Network URL: http://192.0.2.7:8765/\n" in said


@pytest.fixture
def bench(monkeypatch):
    """A workbench without workers, whose ``calls`` say what a server had it do."""
    calls = []

    def adopt(patient=False):
        calls.append("looks" if patient else "adopts")
        if patient and calls.count("looks") == 1:
            raise OSError("the disk is gone for a moment")

    made = SimpleNamespace(
        calls=calls, catalogue=lambda: calls.append("lists"), close=lambda: calls.append("closes"),
        trainings=SimpleNamespace(adopt=adopt),
    )  # fmt: skip
    monkeypatch.setattr(serving, "workbench", lambda: made)
    monkeypatch.setattr(serving, "_SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(serving, "gc", Mock())
    monkeypatch.setattr(serving.logs, "start", lambda chosen: calls.append("logs"))
    monkeypatch.setattr(serving.navigation, "import_first", lambda: calls.append("imports"))
    monkeypatch.setattr(serving.upload, "expire", lambda: calls.append("expires"))
    monkeypatch.setattr(serving, "run_store", lambda: calls.append("opens"))
    return made


@pytest.mark.parametrize("database", ["", "sqlite:///x.db"])
def test_a_server_begins_with_what_waited_and_ends_what_it_began(
    bench, monkeypatch, capsys, database
):
    monkeypatch.setenv("ATTENTION_DATABASE", database)

    async def happens():
        async with serving.lifespan(None):
            assert "Open in the browser" in capsys.readouterr().out
            while bench.calls.count("looks") < 2 or "expires" not in bench.calls:
                await asyncio.sleep(0.01)  # it looks again after an error
            assert "closes" not in bench.calls
        ended = [*bench.calls]
        await asyncio.sleep(0.1)
        assert bench.calls == ended

    asyncio.run(asyncio.wait_for(happens(), 20))
    assert bench.calls[:3] == ["logs", "lists", "adopts"]
    assert bench.calls[-1] == "closes"
    assert bench.calls.index("imports") < bench.calls.index("expires")
    assert ("opens" in bench.calls) == bool(database)


def test_streamlits_command_answers_this_machine_alone_unless_told_otherwise(
    settings_of_streamlit, monkeypatch
):
    monkeypatch.setattr(config, "_main_script_path", str(serving.root() / "streamlit_app.py"))
    monkeypatch.setattr(net_util, "_make_blocking_http_get", pytest.fail)
    bootstrap.load_config_options({})
    assert starlette_server._get_bind_address(starlette_server._get_server_address()) == HERE
    assert f"  URL: http://{HERE}:8501/\n" in welcome()
    assert "Network" not in welcome()
    assert "Open in the browser, and press Ctrl+C here to stop:" in welcome()
    for flags in ({}, {"server_address": "0.0.0.0"}):
        bootstrap.load_config_options(flags)
        bootstrap._print_url(is_running_hello=False)
    assert starlette_server._get_server_address() == "0.0.0.0"
