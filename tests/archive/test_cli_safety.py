"""What is never lost or half-written: the historic mistakes of gzip, xz and zstd."""

import os
import random
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from kolmocli import files
from kolmocli.archive.packer import compress
from kolmocli.errors import KolmoError, UsageError

from . import samples

DATA = samples.SMALL["mixed"]


def names():
    return sorted(os.listdir("."))


def test_nothing_is_overwritten_silently(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    (tmp_path / "a.klm").write_bytes(b"precious")
    done = kolmo("compress", "a")
    assert (done.code, (tmp_path / "a.klm").read_bytes()) == (1, b"precious")
    assert "-f" in done.err
    assert kolmo("compress", "-f", "a").code == 0
    (tmp_path / "a").write_bytes(b"changed")
    assert kolmo("decompress", "a.klm").code == 1
    assert (tmp_path / "a").read_bytes() == b"changed"


def test_a_link_to_nothing_is_not_overwritten_silently(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    (tmp_path / "a.klm").symlink_to("elsewhere")
    done = kolmo("compress", "a")
    assert done.code == 1
    assert "-f" in done.err
    assert (tmp_path / "a.klm").is_symlink()
    assert kolmo("compress", "a", "-f").code == 0


def test_names_as_long_as_names_can_be(kolmo, tmp_path):
    longest = "n" * 251
    (tmp_path / longest).write_bytes(DATA)
    assert kolmo("compress", "--rm", longest).code == 0
    assert kolmo("decompress", "--rm", f"{longest}.klm").code == 0
    assert (tmp_path / longest).read_bytes() == DATA
    assert names() == [longest]


def test_the_input_is_never_the_output(kolmo, tmp_path):
    (tmp_path / "a.klm").write_bytes(compress(DATA))
    os.link("a.klm", "other")
    for target in ("a.klm", "other", "./a.klm"):
        for command in ("compress", "decompress"):
            done = kolmo(command, "-f", "a.klm", "-o", target)
            assert done.code == 2
            assert "is the input" in done.err
    assert (tmp_path / "a.klm").read_bytes() == compress(DATA)


def test_a_damaged_archive_leaves_a_good_file_alone(kolmo, tmp_path):
    archive = bytearray(compress(DATA))
    archive[-9] ^= 4
    (tmp_path / "a.klm").write_bytes(archive)
    (tmp_path / "a").write_bytes(b"good")
    done = kolmo("decompress", "-f", "--rm", "a.klm")
    assert done.code == 1
    assert done.err.startswith("kolmo: error: a.klm: ")
    assert (tmp_path / "a").read_bytes() == b"good"
    assert names() == ["a", "a.klm"]


def test_remove_and_keep(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    assert kolmo("compress", "--rm", "a").code == 0
    assert names() == ["a.klm"]
    assert kolmo("decompress", "--rm", "-k", "a.klm").code == 0
    assert names() == ["a", "a.klm"]
    assert kolmo("decompress", "--rm", "-f", "a.klm").code == 0
    assert names() == ["a"]


def test_remove_needs_the_output_to_read_back(tmp_path, monkeypatch):
    (tmp_path / "in").write_bytes(DATA)
    (tmp_path / "out").write_bytes(b"something else")
    with pytest.raises(KolmoError, match="kept"):
        files.remove_input(str(tmp_path / "in"), str(tmp_path / "out"), b"what was written")
    assert (tmp_path / "in").exists()


def test_test_touches_nothing(kolmo, tmp_path):
    (tmp_path / "a.klm").write_bytes(compress(DATA))
    (tmp_path / "no.klm").write_bytes(b"no archive")
    assert kolmo("decompress", "-t", "a.klm").code == 0
    assert kolmo("compress", "--test", "a.klm").code == 0
    assert kolmo("decompress", "-t", "no.klm").code == 1
    assert kolmo("decompress", "-t", "--rm", "a.klm").code == 2
    assert kolmo("decompress", "-t", "no.klm", "a.klm").code == 1
    assert names() == ["a.klm", "no.klm"]


def test_an_archive_is_not_read_from_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    with pytest.raises(UsageError, match="terminal"):
        files.read_archive("-")


def test_one_bad_file_does_not_stop_the_others(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    done = kolmo("compress", "-q", "missing", "a")
    assert done.code == 1
    assert names() == ["a", "a.klm"]


def test_times_and_permissions_go_along(kolmo, tmp_path):
    (tmp_path / "a").write_bytes(DATA)
    os.chmod("a", 0o640)
    os.utime("a", (1_000_000_000, 1_000_000_000))
    kolmo("compress", "-q", "a")
    found = os.stat("a.klm")
    assert (found.st_mode & 0o777, int(found.st_mtime)) == (0o640, 1_000_000_000)


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupted)
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        files.write_output(str(tmp_path / "a"), b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.slow
def test_interrupts_at_any_moment_leave_whole_files(tmp_path):
    seed = 3
    rng = random.Random(seed)
    (tmp_path / "a").write_bytes(samples.sampled(30_000))
    for _ in range(12):
        command = [sys.executable, "-m", "kolmocli", "compress", "-f", "-q", "a"]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0.2, 6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
        assert process.returncode in (0, 130, -signal.SIGINT), f"seed {seed}"
        assert {p.name for p in tmp_path.iterdir()} <= {"a", "a.klm"}, f"seed {seed}"
        if (tmp_path / "a.klm").exists():
            assert subprocess.run([*command[:3], "decompress", "-t", "-q", "a.klm"], cwd=tmp_path).returncode == 0
