"""Weights in shared memory, and which addresses a worker may listen on: nothing of Monarch is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from kolmocli.engine.monarch.hosts import check_address
from kolmocli.engine.monarch.weights import WeightFile, take, trained
from kolmocli.errors import UsageError
from tests.policies import tiny


def test_what_was_put_is_taken_to_the_last_bit() -> None:
    weights, one, other = WeightFile(), tiny(1), tiny(2)
    try:
        weights.put(one)
        take(other, weights.file)
        weights.put_bytes(weights.file.read_bytes())
        take(other, weights.file)
    finally:
        weights.clear()
    pairs = list(zip(trained(one), trained(other), strict=True))
    assert len(pairs) > 10 and all(torch.equal(a, b) for (_, a), (_, b) in pairs)
    assert not weights.folder.exists()


def test_what_a_killed_trainer_left_is_swept_and_what_a_living_one_has_is_not() -> None:
    living = WeightFile()
    code = "import os\nfrom kolmocli.engine.monarch.weights import WeightFile\nprint(WeightFile().folder, flush=True)\nos._exit(9)"
    left = Path(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout.strip()
    )
    assert left.is_dir()
    WeightFile().clear()
    assert living.folder.is_dir() and not left.exists()
    living.clear()


ODD = [
    "tcp://127.0.0.1:1/@tcp://0.0.0.0:2", "tcp://1.2.3.4:99@127.0.0.1:4", "tcp://10.0.0.1\\@127.0.0.1:4", "tcp://a:1?b",
    "tcp://a:1#b", "tcp://a:1/", "tcp://a\n:1", "tcp://a:1\n", "tcp://[zz]:1", "tcp://\x1b[31m:1", "TCP://a:1", "tcp://a:+1",
]  # fmt: skip
"""Of some of these two programs find two hosts."""


@pytest.mark.parametrize(
    "address", ["", "a:1", "http://a:1", "tcp://a", "tcp://:4444", "tcp://a:0", "tcp://a:99999", *ODD]
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match=r"--listen: .* is no address; write tcp://host:port or tls://host:port"):
        check_address(address, insecure=True, place="--listen")


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:4444", "tcp://0.0.0.0:4444", "tcp://node-7:4444", "tcp://[::]:4444"]
)
def test_beyond_this_machine_it_takes_certificates_or_force(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="is open to everybody"):
        check_address(address, insecure=False, place="--listen")
    check_address(address, insecure=True, place="--listen")
    secure = address.replace("tcp", "tls")
    monkeypatch.delenv("HYPERACTOR_TLS_KEY", raising=False)
    with pytest.raises(UsageError, match="HYPERACTOR_TLS_"):
        check_address(secure, insecure=True, place="--listen")
    for name in ("CERT", "KEY", "CA"):
        (tmp_path / name).touch()
        monkeypatch.setenv(f"HYPERACTOR_TLS_{name}", str(tmp_path / name))
    check_address(secure, insecure=False, place="--listen")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:4444", "tcp://localhost:4444", "tcp://[::1]:4444"])
def test_on_this_machine_it_takes_nothing(address: str) -> None:
    check_address(address, insecure=False, place="--listen")
