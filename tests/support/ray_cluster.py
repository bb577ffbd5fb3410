"""A Ray cluster on this machine, which only this machine can reach."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
_LOOPBACK = "127.0.0.2"  # Ray replaces 127.0.0.1 by an address that others can reach
_MEMORY = 80 * 2**20  # bytes of a node's object store, the least that Ray takes

# Ray reads these when it is imported.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(16))
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


class RayCluster:
    """A head without CPUs and any number of nodes, with authentication.

    A process of their own starts the nodes. Ray forks and then runs Python before the node's
    program; where threads of its client were in gRPC at that moment, the fork may hang for good.

    Args:
        address: what a server's ``ATTENTION_ENGINE`` would be.
        nodes: answers requests to start and kill them.
    """

    def __init__(self, address: str, nodes: Connection) -> None:
        self.address, self._nodes = address, nodes

    def add_node(self, cpus: int, gpus: int = 0) -> int:
        """Start one more node, which need not have what it is said to have; return its number."""
        return self._ask("add", cpus, gpus)

    def kill(self, node: int) -> None:
        """End a node as a power cut does; nothing happens if it has ended."""
        self._ask("kill", node)

    def _ask(self, *request: str | int) -> Any:
        self._nodes.send(request)
        answer = self._nodes.recv()
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer


def skip_without_ray() -> None:
    """Skip a test where Ray is not installed."""
    if not find_spec("ray"):
        pytest.skip("needs the extra `ray`")


@contextmanager
def ray_cluster(cpus: int) -> Iterator[RayCluster]:
    """Start a cluster with one node, and end it."""
    skip_without_ray()
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    port, context = free_port(), get_context("spawn")
    here, there = context.Pipe()
    keeper = context.Process(target=_keep_nodes, args=(there, port), name="Ray's nodes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        keeper.start()
    there.close()
    made = RayCluster(f"ray://{_LOOPBACK}:{port}", here)
    try:
        made.add_node(cpus)
        yield made
    finally:
        import ray

        ray.shutdown()
        here.close()
        keeper.join()


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.socket() as free:
        free.bind((_LOOPBACK, 0))
        return free.getsockname()[1]


def _keep_nodes(requests: Connection, port: int) -> None:
    """Start and kill nodes until the tests have closed their end, or have ended."""
    from ray.cluster_utils import Cluster

    common = {"node_ip_address": _LOOPBACK, "object_store_memory": _MEMORY}
    head = {
        "num_cpus": 0, "ray_client_server_port": port, "include_dashboard": False, **common,
    }  # fmt: skip
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes: list[Any] = []
    try:
        while True:
            what, *numbers = requests.recv()
            try:
                if what == "add":
                    cpus, gpus = numbers
                    nodes.append(cluster.add_node(num_cpus=cpus, num_gpus=gpus, **common))
                    requests.send(len(nodes) - 1)
                else:
                    node, nodes[numbers[0]] = nodes[numbers[0]], None
                    if node:
                        cluster.remove_node(node, allow_graceful=False)
                    requests.send(None)
            except Exception as error:
                requests.send(f"{what}: {error}")
    except EOFError:
        cluster.shutdown()
