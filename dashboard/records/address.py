"""Addresses of pages: whether others can follow them."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_local(link: str) -> bool:
    """Whether an address leads elsewhere on every other machine, or outside this network.

    Such are those of this machine, of a private network, and names without a domain.
    """
    host = urlsplit(link).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local"))
