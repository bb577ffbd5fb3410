"""Whether a session's browser is connected."""

from __future__ import annotations

from streamlit import runtime


def connected(session: str) -> bool:
    """Whether the session with that id is connected; True where there is no server to ask.

    May be called from any thread.
    """
    return not runtime.exists() or runtime.get_instance().is_active_session(session)
