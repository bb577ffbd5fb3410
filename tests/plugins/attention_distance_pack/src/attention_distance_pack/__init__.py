"""Scorings that are distances, as a plugin of Attention Workbench."""

from attention_distance_pack.hyperbolic import lorentz
from attention_distance_pack.local import LOCAL_P
from attention_distance_pack.mahalanobis import MAHALANOBIS
from attention_distance_pack.shepard import shepard
from attention_plugins import hookimpl

ATTENTION_CONTRACT = "1.0"
ATTENTION_EXPECTED_FAILURES = {
    "local_p": {
        "moving_a_key_moves_its_scores": "a key's place counts: the window is over positions",
    },
}


@hookimpl
def attention_scorings():
    """The scorings, from the simplest to the one that knows positions."""
    yield from (shepard, MAHALANOBIS, lorentz, LOCAL_P)
