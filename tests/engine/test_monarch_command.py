"""Runs with generators as a user has them: ended by a signal and resumed, and on a worker behind TLS."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import KOLMO, command_environment
from tests.engine.test_monarch import SHORT, alive, metrics, written
from tests.engine.test_monarch_hosts import generators, wait_for
from tests.training.runs import CURRICULUM
from tests.warm import Command

pytestmark = pytest.mark.monarch

SETTINGS = [f"--set={section}.{key}={value}" for section, keys in SHORT.items() for key, value in keys.items()]


def start(folder: Path, *arguments: object, **environment: str) -> Command:
    (folder / "c.yaml").write_text(CURRICULUM)
    return Command(list(map(str, arguments)), folder, command_environment(environment))


@contextlib.contextmanager
def ended(process: Command | subprocess.Popen[str]) -> Iterator[None]:
    """Nothing of the process is left when this is left."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def pids(run: Path) -> list[int]:
    return [g["pid"] for r in metrics(run) if r["phase"] == "rl" for g in r["generators"].values() if g["pid"]]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_a_signal_saves_ends_every_process_and_the_run_goes_on_later(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    run = tmp_path / "run"
    first = start(tmp_path, "train", "c.yaml", *SETTINGS, "--steps", 500, "--num-generators", 2, "--run-dir", run)
    with ended(first):
        wait_for(lambda: generators(run))
        assert all(map(alive, pids(run)))
        # To the whole group for Ctrl-C, as a terminal does it: the generators must not die of it before the trainer.
        (os.killpg if number == signal.SIGINT else os.kill)(first.pid, number)
        told = first.communicate(timeout=300)[1]
    assert first.returncode == status, told
    assert "Traceback" not in told
    assert not any(map(alive, pids(run)))
    stopped = written(run)
    steps = max(r["step"] for r in stopped if r["phase"] == "rl")
    second = start(tmp_path, "train", "--resume", "--run-dir", run, "--stop-at", steps + 2, "--num-generators", 1)
    with ended(second):
        told = second.communicate(timeout=600)[1]
    assert second.returncode == 0, told
    assert written(run)[: len(stopped)] == stopped
    assert max(r["step"] for r in written(run) if r["phase"] == "rl") == steps + 2


# --- TLS


def certificate(folder: Path, authority: str, name: str) -> dict[str, str]:
    """What the environment of one end names: the authority's certificate and one by it for this machine."""
    made = folder / name
    made.mkdir()

    def openssl(*arguments: object) -> None:
        subprocess.run(["openssl", *map(str, arguments)], cwd=made, check=True, capture_output=True)

    if not (folder / f"{authority}.pem").exists():
        openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / f"{authority}.key",
            "-out", folder / f"{authority}.pem", "-days", 1, "-subj", f"/CN={authority}",
        )  # fmt: skip
    (made / "names").write_text(
        f"subjectAltName=DNS:{socket.gethostname()},DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n"
        "basicConstraints=CA:FALSE\n"
    )
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "request", "-subj", f"/CN={name}")
    openssl(
        "x509", "-req", "-in", "request", "-CA", folder / f"{authority}.pem", "-CAkey", folder / f"{authority}.key",
        "-CAcreateserial", "-days", 1, "-out", "pem", "-extfile", "names",
    )  # fmt: skip
    return {
        "HYPERACTOR_TLS_CA": str(folder / f"{authority}.pem"),
        "HYPERACTOR_TLS_CERT": str(made / "pem"),
        "HYPERACTOR_TLS_KEY": str(made / "key"),
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
def test_a_worker_behind_tls_serves_its_own_authority_and_nobody_else(tmp_path: Path) -> None:
    address = f"tls://localhost:{free_port()}"
    train: tuple[Any, ...] = ("train", "c.yaml", *SETTINGS, "--hosts", address)
    worker = subprocess.Popen(
        [KOLMO, "worker", "--listen", address], cwd=tmp_path, text=True, stderr=subprocess.PIPE, start_new_session=True,
        env=command_environment(certificate(tmp_path, "ours", "worker")),
    )  # fmt: skip
    with ended(worker):
        assert worker.stderr is not None
        assert worker.stderr.readline() == f"kolmo: listening on {address}\n"
        ours = start(tmp_path, *train, "--run-dir", "a", **certificate(tmp_path, "ours", "trainer"))
        with ended(ours):
            told = ours.communicate(timeout=600)[1]
            assert ours.returncode == 0, told
            assert {g["host"] for g in generators(tmp_path / "a").values()} == {address.removeprefix("tls://")}
        theirs = start(tmp_path, *train, "--run-dir", "b", **certificate(tmp_path, "theirs", "stranger"))
        with ended(theirs):
            told = theirs.communicate(timeout=600)[1]
            assert theirs.returncode == 1
            assert "did not answer in 30 s" in told.splitlines()[-1], told
            assert "Do the certificates name both hosts" in told.splitlines()[-1]
