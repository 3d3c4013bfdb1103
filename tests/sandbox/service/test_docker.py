"""A server with containers: the same answers, and none of them left when it is killed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from kolmocli.sandbox import Job, open_sandbox
from kolmocli.sandbox.docker.containers import LABEL_OWNER
from kolmocli.sandbox.docker.image import client as engine_client
from kolmocli.sandbox.docker.sweeper import sweep
from tests.sandbox.engines import assert_all_right, containers_of, numbered

from .servers import serving, wait_until


@pytest.mark.docker
def test_a_killed_server_leaves_no_container(tmp_path: Path) -> None:
    with closing(engine_client()) as engine, serving(tmp_path, "--workers", "2", backend="docker") as server:
        body = {"code": "import sys\nprint(sys.stdin.read()[::-1])", "stdin": "abc", "language": "python"}
        said = httpx2.post(f"{server.url}/run_code", json=body, timeout=60).json()
        assert (said["status"], said["run_result"]["stdout"]) == ("Success", "cba\n")
        body |= {"code": "print(open('data/a.txt').read()[::-1])", "files": {"data/a.txt": "YWJj"}}
        said = httpx2.post(f"{server.url}/run_code", json=body, timeout=60).json()
        assert (said["status"], said["run_result"]["stdout"]) == ("Success", "cba\n")
        with open_sandbox(server.url) as sandbox:
            files = Job("print(open('a').read())", inputs=("",), files=(("a", b"\xc3\xa9"),))
            assert sandbox.run(files)[0].trace == ("é\n",)
            assert sandbox.health().backend == "docker"
            assert_all_right(sandbox.run(numbered(200)))
        container = engine.api.inspect_container(f"kolmo-{said['executor_pod_name']}")
        owner = container["Config"]["Labels"][LABEL_OWNER]
        assert containers_of(engine, owner)
        server.process.kill()
        server.process.wait()
        running = {"label": f"{LABEL_OWNER}={owner}"}
        wait_until(lambda: not engine.api.containers(filters=running))  # they end by themselves
        sweep()
        assert containers_of(engine, owner) == set()
