"""Where the embedded interpreter comes from, and what is said of a worker process that ends."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from kolmocli.errors import EnvironmentMissing, KolmoError
from kolmocli.sandbox import Status, open_sandbox
from kolmocli.sandbox.embedded import processes, runtime
from kolmocli.sandbox.pool.stderr import KEPT, Tail

RUN = "import kolmocli; print(kolmocli.open_sandbox('embedded', workers=1).run(['output = 6 * 7'])[0].value)"


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_packages_borrowed_from_another_environment_bring_their_interpreter(tmp_path: Path) -> None:
    """The scripts folder of the running environment is empty, and a stranger's `monty` is the only one on PATH."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = python.parents[1] / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    checkout = Path(__file__).parents[2]
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n{checkout}\n")
    ran = tmp_path / "ran"
    script(tmp_path / "bin" / "monty", f"touch {ran}; exit 1")
    bare = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "MONTY_BIN": str(tmp_path / "bin" / "monty")}
    done = subprocess.run([python, "-c", RUN], cwd=tmp_path, env=bare, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("(42,)\n", "")
    assert not ran.exists()


class Installed(metadata.PathDistribution):
    """The distribution, as `pip install --target` leaves it in this folder."""

    def __init__(self, folder: Path, record: str = "../../bin/monty,,") -> None:
        info = folder / "pydantic_monty_runtime-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Name: pydantic-monty-runtime\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{record}\n")
        super().__init__(info)


def test_it_is_found_where_a_target_folder_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = Installed(tmp_path / "a" / "b")
    monkeypatch.setattr(metadata, "distribution", lambda name: installed)
    here = script(tmp_path / "a" / "b" / "bin" / "monty", "exit")
    assert runtime.find_interpreter() == here
    recorded = script(tmp_path / "bin" / "monty", "exit")  # the record goes first
    assert runtime.find_interpreter() == recorded


@pytest.mark.parametrize("lack, words", [
    ("distribution", "the embedded sandbox needs pydantic-monty-runtime"),
    ("record", "does not say where its interpreter is"),
    ("file", "is not at "),
    ("permission", "may not be run"),
])  # fmt: skip
def test_one_that_is_missing_is_a_line_with_the_command(
    lack: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = Installed(tmp_path / "a" / "b", "METADATA,," if lack == "record" else "../../bin/monty,,")
    if lack == "permission":
        script(tmp_path / "bin" / "monty", "exit").chmod(stat.S_IRUSR)
        monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may run what has no permission
    monkeypatch.setattr(metadata, "distribution", lambda name: installed)
    if lack == "distribution":
        monkeypatch.undo()
        monkeypatch.setattr(runtime, "DISTRIBUTION", "kolmo-no-such-distribution")
        words = "the embedded sandbox needs kolmo-no-such-distribution"
    monkeypatch.setenv("PATH", str(script(tmp_path / "path" / "monty", "exit").parent))
    with pytest.raises(EnvironmentMissing) as raised:
        open_sandbox("embedded", workers=1)
    assert words in str(raised.value)
    assert str(raised.value).endswith(runtime.MEND)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", ["#!/bin/sh\necho no such thing >&2; exit 3", "", "\x7fELF"])
def test_one_that_is_damaged_is_a_line_with_the_command(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = script(tmp_path / "monty", "")
    damaged.write_text(content)
    monkeypatch.setattr(processes, "find_interpreter", lambda: damaged)
    with pytest.raises(KolmoError) as raised:
        open_sandbox("embedded", workers=1)
    assert str(raised.value).startswith(
        "the embedded sandbox does not start: a worker process ended while it was greeted"
    )
    assert ": its interpreter does not start: " in str(raised.value)
    assert str(raised.value).endswith(runtime.MEND)


DEFECT = """
import os, sys
from kolmocli.sandbox.embedded import worker
run = worker.Interpreter.run
def broken(self, payload):
    if b"bad" in payload:
        print("a traceback", "no \\033[31mluck", "", sep="\\n", file=sys.stderr, flush=True)
        os._exit(5)
    return run(self, payload)
worker.Interpreter.run = broken
worker.main()
"""


def test_the_last_words_of_a_worker_are_in_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker with a defect: it ends at certain programs."""
    (tmp_path / "defect.py").write_text(DEFECT)
    python = script(tmp_path / "python", f'shift 2; exec {sys.executable} {tmp_path / "defect.py"} "$@"')
    monkeypatch.setattr(sys, "executable", str(python))
    with open_sandbox("embedded", workers=1) as sandbox:
        good, bad = sandbox.run(["output = 1", "bad = 1"])
    assert (good.status, good.value) == (Status.OK, (1,))
    assert (bad.status, bad.detail) == (Status.POISON, r"ended 2 containers alone: no \x1b[31mluck")


def test_a_worker_that_says_much_is_not_held_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a pipe holds, before every answer."""
    noisy = (
        DEFECT.replace("os._exit(5)", "")
        .replace('if b"bad" in payload:', "if True:")
        .replace('"a traceback"', '"x" * 200_000')
    )
    (tmp_path / "defect.py").write_text(noisy)
    python = script(tmp_path / "python", f'shift 2; exec {sys.executable} {tmp_path / "defect.py"} "$@"')
    monkeypatch.setattr(sys, "executable", str(python))
    with open_sandbox("embedded", workers=1) as sandbox:
        verdicts = sandbox.run([f"output = {i}" for i in range(20)])
        assert [verdict.value for verdict in verdicts] == [(i,) for i in range(20)]
        assert sandbox.health().replaced == 0


def test_of_what_is_said_the_last_4_kib_are_kept() -> None:
    tail = Tail()
    assert tail.line() == ""
    for number in range(2_000):
        tail.add(f"line {number}\n".encode())
    assert len(tail.text()) == KEPT
    assert tail.line() == "line 1999"
    tail.add(b"\n \n\xff\x00" + b"x" * 5_000)
    assert tail.line() == "x" * 500


FORGETFUL = """
from dataclasses import asdict
from kolmocli.sandbox.base import Limits
from kolmocli.sandbox.embedded import promises, runtime, worker
from kolmocli.sandbox.wire.frames import PROGRAM

limits = asdict(Limits(memory_mb=64))
interpreter = worker.Interpreter(limits, runtime.find_interpreter())


def forgetful(payload):
    kind, cpu_ms, wall_ms, _ = PROGRAM.unpack_from(payload)
    return interpreter.run(PROGRAM.pack(kind, cpu_ms, wall_ms, 256) + payload[PROGRAM.size:])


print(*(promises.memory(run, limits)["ok"] for run in (interpreter.run, forgetful)), flush=True)
"""


def test_a_worker_that_forgets_the_memory_limit_of_a_program_is_found_out() -> None:
    done = subprocess.run([sys.executable, "-c", FORGETFUL], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "True False\n", done.stderr
