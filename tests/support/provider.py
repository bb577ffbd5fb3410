"""An OpenID provider of the tests' own, and browsers that log in there."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from support.documents import section

_SECONDS_TO_START = 60.0
_SECONDS = 20.0  # for one answer
_IN_THE_DOCUMENT = ("https://lab.example/", "https://accounts.google.com/")


@contextmanager
def provider(*users: dict[str, Any]) -> Iterator[str]:
    """Run a provider; yield its address.

    Args:
        users: the claims of those whom it knows, ``sub`` and ``email`` among them.

    Raises:
        RuntimeError: it did not answer in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    known = [word for one in users for word in ("--user-claims", json.dumps(one))]
    running = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *known],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{address}/.well-known/openid-configuration")
        yield address
    finally:
        running.terminate()
        running.wait(_SECONDS)


def _wait(address: str) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        try:
            httpx.get(address, timeout=2.0).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError(f"{address} did not answer within {_SECONDS_TO_START:.0f} s")


def write_secrets(home: Path, address: str) -> None:
    """Write hosting.md's example for a server with this home folder and a provider's address."""
    shown = section("hosting.md", "Who may do what")
    (text,) = re.findall(r"^```toml\n(\[auth\].*?)^```$", shown, re.S | re.M)
    # Streamlit puts its own port in.
    ours = "http://127.0.0.1:{port}/", f"{address}/"
    for example, own in zip(_IN_THE_DOCUMENT, ours, strict=True):
        assert example in text
        text = text.replace(example, own)
    (home / ".streamlit").mkdir(parents=True)
    (home / ".streamlit" / "secrets.toml").write_text(text, encoding="utf-8")


def browser(url: str) -> httpx.Client:
    """A browser that has opened a server's first page, with the cookies that it was given.

    Args:
        url: of the server.
    """
    client = httpx.Client(base_url=url, follow_redirects=True, timeout=_SECONDS)
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        client.get(path, headers={"Accept": "text/html"}).raise_for_status()
    return client


def log_in(client: httpx.Client, path: str, subject: str) -> httpx.Response:
    """Go where the page sends the browser, give a name there, and come back.

    Args:
        path: see :attr:`support.visiting.Visit.sent_to`.
        subject: whom the provider is to take the browser's user for.

    Returns:
        The server's answer to who came back.
    """
    form = client.get(path)
    form.raise_for_status()
    return client.post(form.url, data={"sub": subject})
