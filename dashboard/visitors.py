"""Who a visitor is, and what they may do: a visitor, an author or an administrator."""

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from streamlit import config, net_util

from dashboard.language import gettext, gettext_noop, translated
from dashboard.owners import owner_of, signature
from dashboard.settings import Settings, variable

Role = Literal["visitor", "author", "administrator"]

LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_OF_PROXIES = ("x-forwarded-for", "x-forwarded-host", "forwarded", "via", "x-real-ip")
_NOBODY = re.compile(r"\s*\Z")


class NotAllowed(ValueError):
    """Something that a visitor may not do; the sentence says why, and what would let them."""


@dataclass(frozen=True, kw_only=True)
class Browser:
    """What is known of a visitor's browser.

    Args:
        cookies, headers: of its connection, headers by their names in lower case.
        local: whether the connection comes from this machine.
        user: the claims of whoever logged in, empty while nobody did; None where nobody can here.
        token: whether it has given the administrator's token.
        address: it connects from, in numbers; empty for this machine.
    """

    session: str
    cookies: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    local: bool = False
    user: Mapping[str, Any] | None = None
    token: bool = False
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """Whom a session belongs to.

    ``owner`` has what they make, and is empty for the user of this machine. A visitor sees, an
    author makes, an administrator runs the server, which in ``classroom`` mode is set to show
    only. ``address`` is a digest of the network they come from; empty for this machine.
    """

    owner: str
    role: Role
    classroom: bool = False
    logged_in: bool = False
    address: str = ""

    @property
    def administers(self) -> bool:
        """Whether they may reload plugins and see the work of all."""
        return self.role == "administrator"

    @property
    def makes(self) -> bool:
        """Whether they may train, upload and keep."""
        return self.administers or (self.role == "author" and not self.classroom)

    @property
    def presents(self) -> bool:
        """Whether pages are shown with their controls folded away."""
        return self.classroom and not self.administers

    def see_that_it_makes(self, what: str) -> None:
        """Raise :class:`NotAllowed` unless the visitor may make ``what``, such as ``Training``."""
        if self.makes:
            return
        what = translated(what)
        if self.classroom:
            why = gettext("{what} is switched off on this server", what=what)
        elif self.logged_in:
            why = gettext(
                "{what} is for those whom {setting} of this server names by a verified "
                "e-mail address; yours is not, so ask who runs it",
                what=what, setting=variable("logins"),
            )  # fmt: skip
        else:
            why = gettext("{what} is for those who have logged in, on the page Server", what=what)
        raise NotAllowed(why)

    def see_that_it_owns(self, owner: str, what: str) -> None:
        """Raise :class:`NotAllowed` unless the visitor owns something, and may change it."""
        if self.administers:
            return
        if owner != self.owner:
            form = gettext_noop("{what} belongs to somebody else, who alone may change it")
            raise NotAllowed(gettext(form, what=translated(what)))
        self.see_that_it_makes(gettext_noop("Changing it"))

    def see_that_it_administers(self, what: str) -> None:
        """Raise :class:`NotAllowed` unless the visitor runs this server."""
        if not self.administers:
            form = gettext_noop("{what} is for administrators of this server; see the page Server")
            raise NotAllowed(gettext(form, what=translated(what)))


def identify(browser: Browser, chosen: Settings) -> Visitor:
    """Say who a visitor is.

    Where one can log in, who has is known by issuer and subject, may make things if the setting
    ``logins`` lets them, and administers if ``administrators`` names them. Elsewhere a browser is
    known by its cookie, or for as long as its session lasts, and everybody may make things; who
    comes from this machine itself administers, and so does who gave the token.
    """
    role: Role = "author" if browser.user is None else _role_of(browser.user, chosen)
    local = chosen.trust_local and browser.user is None and from_this_machine(browser)
    if local or browser.token:
        role = "administrator"
    owner = "" if local or not chosen.owners else _owner_of(browser)
    logged_in = bool(browser.user and browser.user.get("is_logged_in"))
    address = signature(network(browser.address)) if owner and browser.address else ""
    return Visitor(
        owner=owner, role=role, classroom=chosen.classroom, logged_in=logged_in, address=address
    )


def from_this_machine(browser: Browser) -> bool:
    """Whether a browser runs on this machine and asks for it by a name of its own.

    What a proxy on this machine passes on comes from here too, but carries a proxy's headers or
    another name in ``Host`` or ``Origin``.
    """
    headers = browser.headers
    names = [f"//{headers.get('host', '')}"]
    if "origin" in headers:
        names.append(headers["origin"])
    own = LOOPBACK.issuperset(map(_name, names))
    return browser.local and own and headers.keys().isdisjoint(_OF_PROXIES)


def for_others(link: str) -> str:
    """A link as other devices can open it: with this machine's address in its network.

    It stays as it is where this machine alone is listened to, or where it was opened by a name.
    """
    parts, host = urlsplit(link), net_util.get_internal_ip() if everywhere() else None
    if parts.hostname not in LOOPBACK or not host:
        return link
    port = f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=f"{host}{port}").geturl()


def everywhere() -> bool:
    """Whether the server listens at all of this machine's addresses."""
    return config.get_option("server.address") in (None, "", "0.0.0.0", "::")  # nosec B104


def network(address: str) -> str:
    """The address by which visitors are counted: of IPv6 the network of a house, a /64."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return str(ipaddress.ip_network((found, 64), strict=False))
        found = found.ipv4_mapped
    return str(found)


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _role_of(user: Mapping[str, Any], chosen: Settings) -> Role:
    email = str(user.get("email", "")).lower()
    if not user.get("is_logged_in") or user.get("email_verified") is False:
        return "visitor"
    if _listed(email, chosen.administrators):
        return "administrator"
    return "author" if _NOBODY.match(chosen.logins) or _listed(email, chosen.logins) else "visitor"


def _listed(email: str, listed: str) -> bool:
    """Whether an address is named, or its domain as ``@school.example``."""
    names = listed.lower().split()
    return bool(email) and (email in names or f"@{email.rpartition('@')[2]}" in names)


def _owner_of(browser: Browser) -> str:
    user = browser.user or {}
    if user.get("is_logged_in"):
        return f"login-{_digest(user.get('iss', ''), user.get('sub') or user.get('email', ''))}"
    return owner_of(browser.cookies) or f"session-{_digest(browser.session)}"


def _digest(*parts: object) -> str:
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()[:32]
