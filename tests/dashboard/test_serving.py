"""How a server is started: by ``streamlit run`` or by the command, it is the same one."""

import argparse
import sys

import pytest
import streamlit as st
from streamlit import config

import streamlit_app
from dashboard import serving


def test_the_checkouts_own_settings_are_found():
    assert (serving.root() / ".streamlit/config.toml").is_file()


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
    for name in ("_main_script_path", "_server_mode", "_config_options"):
        monkeypatch.setattr(config, name, getattr(config, name))


def test_it_is_served_with_the_settings_beside_the_script(
    settings_of_streamlit, monkeypatch, tmp_path
):
    from streamlit.web import bootstrap
    from streamlit.web.server.starlette import starlette_server

    seen = {}

    class Runner:
        def __init__(self, app):
            seen["app"] = app

        def run(self):
            names = ("server.address", "server.port", "runner.postScriptGC")
            seen.update({name: config.get_option(name) for name in names})

    monkeypatch.setattr(starlette_server, "UvicornRunner", Runner)
    monkeypatch.setattr(bootstrap, "_install_config_watchers", lambda flags: None)
    monkeypatch.chdir(tmp_path)
    serving.run(argparse.Namespace(host="127.0.0.1", port=8765))
    assert isinstance(seen.pop("app"), st.App)
    assert seen == {
        "server.address": "127.0.0.1", "server.port": 8765, "runner.postScriptGC": False,
    }  # fmt: skip
