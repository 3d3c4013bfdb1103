"""The command as a whole: help, spelling, exit codes, and what never reaches a user."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kolmocli import __version__
from kolmocli.cli import main as command
from kolmocli.errors import CheckError, EnvironmentMissing, KolmoError, UsageError
from tests.cli.conftest import refused
from tests.conftest import KOLMO, Run, command_environment

HEAVY = ("torch", "transformers", "docker", "pydantic_monty", "pydantic", "matplotlib", "numpy", "rich", "yaml")
COMMANDS = (
    "train", "eval", "solve", "watch", "report", "compress", "decompress", "worker", "doctor", "curriculum", "data", "model", "sandbox",
)  # fmt: skip


def test_help_lists_every_command_with_a_whole_line(kolmo: Run) -> None:
    done = kolmo("--help", env={"COLUMNS": "80"})
    assert done.returncode == 0
    assert done.stderr == ""
    listed = done.stdout[done.stdout.index("Commands:") :]
    assert re.findall(r"^  (\w+)  ", listed, re.M) == list(COMMANDS)
    assert "..." not in listed, "the first sentence of a command's help must fit into 80 columns"


def test_help_imports_nothing_heavy() -> None:
    """What makes `kolmo --help` fast, held by what is imported rather than by a clock."""
    script = (
        "import sys; from kolmocli.cli.main import main; code = main(['--help']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(kolmo: Run, name: str) -> None:
    done = kolmo(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: kolmo {name}")
    assert " None" not in done.stdout


def test_version(kolmo: Run) -> None:
    assert kolmo("--version").stdout == f"kolmo {__version__}\n"


def test_the_package_is_the_command_too() -> None:
    done = subprocess.run([sys.executable, "-m", "kolmocli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"kolmo {__version__}\n"


def test_no_command_shows_the_help(kolmo: Run) -> None:
    done = kolmo()
    assert done.returncode == 2
    assert "Commands:" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "No such command 'trian'"),
        (["train", "--stepz", "3"], "No such option: --stepz"),
        (["train", "--steps", "many"], "Invalid value for '--steps'"),
        (["train", "--steps"], "Option '--steps' requires an argument"),
        (["train", "a", "b"], "Got unexpected extra argument"),
        (["eval"], "evaluate one of"),
    ],
)
def test_wrong_arguments_are_one_line(kolmo: Run, arguments: list[str], said: str) -> None:
    line = refused(kolmo(*arguments), 2)
    assert line.startswith(said)
    assert line.endswith("--help")


@pytest.mark.parametrize(
    ("given_", "meant"),
    [
        (["train", "--model_name", "a_b", "--data_path=x_y"], ["train", "--model-name", "a_b", "--data-path=x_y"]),
        (["--set", "training.batch_size=3"], ["--set", "training.batch_size=3"]),
        (["--set=training.batch_size=3"], ["--set=training.batch_size=3"]),
        (["a_b", "-x_y", "--", "--c_d"], ["a_b", "-x_y", "--", "--c_d"]),
    ],
)
def test_both_spellings_of_an_option(given_: list[str], meant: list[str]) -> None:
    assert command.hyphenated(given_) == meant


@given(st.lists(st.text(max_size=12)))
def test_respelling_is_settled_after_once_and_keeps_values(arguments: list[str]) -> None:
    once = command.hyphenated(arguments)
    assert command.hyphenated(once) == once
    assert len(once) == len(arguments)
    for before, after in zip(arguments, once, strict=True):
        assert after == before or (before.startswith("--") and after.partition("=")[2] == before.partition("=")[2])


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KolmoError("a\n  b"), 1, "kolmo: error: a b\n"),
        (UsageError("a"), 2, "kolmo: error: a\n"),
        (CheckError("a"), 3, "kolmo: error: a\n"),
        (EnvironmentMissing("a"), 4, "kolmo: error: a\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    def fail(_arguments: list[str]) -> int:
        raise error

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr(command, "_run", fail)
    try:
        assert command.main(["train"]) == code
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    "arguments",
    [
        ["train"], ["eval"], ["compress"], ["report"], ["watch"], ["curriculum", "show"], ["solve", "--data"],
        ["train", "quickstart", "--dry-run", "--model"],
    ],
)  # fmt: skip
def test_a_name_that_is_too_long_for_a_file_is_one_line(kolmo: Run, arguments: list[str]) -> None:
    done = kolmo(*arguments, "a" * 5000)
    if sys.version_info < (3, 14):
        assert refused(done, 2) == "a" * 100 + "…: File name too long"
    else:  # pathlib takes such a name for that of no file, and each command says so in its own words
        assert done.returncode in (1, 2)
        assert refused(done, done.returncode)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_one_line(kolmo: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        assert refused(kolmo("report", tmp_path / "run"), 1).endswith(": Permission denied")
    finally:
        tmp_path.chmod(0o700)


def test_an_error_of_no_file_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_arguments: list[str]) -> int:
        raise OSError("a socket")

    monkeypatch.setattr(command, "_run", fail)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(OSError, match="a socket"):
            command.main([])
    finally:
        signal.signal(signal.SIGTERM, handler)


def test_a_defect_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only errors that a user can fix become one line."""

    def fail(_arguments: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(command, "_run", fail)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(ZeroDivisionError):
            command.main([])
    finally:
        signal.signal(signal.SIGTERM, handler)


def test_a_reader_that_leaves_is_no_traceback(tmp_path: Path) -> None:
    """`kolmo curriculum show quickstart | head -1`, with a pipe that is closed before anything is written."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [KOLMO, "curriculum", "show", "quickstart"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            env=command_environment(),
            cwd=tmp_path,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")
