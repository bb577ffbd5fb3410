"""What the page *Server* shows: the same for every address."""

from dataclasses import dataclass

from dashboard.links.link import Link


@dataclass(frozen=True, kw_only=True)
class ServerView:
    """Nothing can be set about it."""


LINK: Link[ServerView] = Link(default=lambda _: ServerView())
