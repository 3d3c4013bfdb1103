"""Connections to the engine: one pool for all addresses, closed where nobody listens, and streams kept apart."""

from __future__ import annotations

import socket
import warnings
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException

from kolmocli.sandbox.docker.unix_socket import EngineAdapter, close_what_fails


@pytest.fixture
def adapter() -> EngineAdapter:
    return EngineAdapter("http+unix:///run/none.sock")


def test_addresses_share_their_connections(adapter: EngineAdapter) -> None:
    pools = {id(adapter.get_connection(f"http+docker://localhost/v1.41/containers/{n}/json")) for n in range(50)}
    assert len(pools) == 1
    assert len(adapter.pools) == 1


def test_the_stream_of_a_container_is_nobody_elses(adapter: EngineAdapter) -> None:
    common = adapter.get_connection("http+docker://localhost/v1.41/containers/a/json")
    streams = [
        adapter.get_connection(f"http+docker://localhost/v1.41/containers/{name}/attach?stdin=1") for name in "ab"
    ]
    assert len({id(common), *map(id, streams)}) == 3


def test_a_client_asks_through_it_and_leaves_no_socket_open(tmp_path: Path) -> None:
    nobody = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(nobody))  # it never listens
        client = docker.DockerClient(f"unix://{nobody}", version="1.41", timeout=1)
        close_what_fails(client)
        assert isinstance(client.api.adapters["http+docker://"], EngineAdapter)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            with pytest.raises((DockerException, OSError)):
                client.ping()
        client.close()
