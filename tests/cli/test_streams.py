"""Standard output that is closed, full, or in an encoding that lacks letters: a line, and never a traceback."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from kolmocli.paths import find_curriculum
from tests.conftest import KOLMO, Run, command_environment

SHOW = ("curriculum", "show", "digits")
ODD = {
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "ascii by name": {"PYTHONIOENCODING": "ascii:strict"},
}


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A curriculum whose family has letters that neither encoding has."""
    data = yaml.safe_load(find_curriculum("quickstart").read_text("utf-8"))
    data["families"] = {"−–±漢": next(iter(data["families"].values()))}
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return tmp_path / "c.yaml"


@pytest.mark.parametrize("environment", ODD.values(), ids=ODD)
def test_what_an_encoding_lacks_is_a_question_mark(kolmo: Run, named: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [KOLMO, "curriculum", "show", named], env=command_environment(environment), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout


@pytest.mark.parametrize("environment", ODD.values(), ids=ODD)
def test_json_loses_nothing(kolmo: Run, named: Path, environment: dict[str, str]) -> None:
    whole = kolmo("curriculum", "show", named, "--json")
    done = subprocess.run(
        [KOLMO, "curriculum", "show", named, "--json"], env=command_environment(environment), capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("ascii")) == json.loads(whole.stdout)


def shell(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", words], cwd=folder, env=command_environment(), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "before"),
    [(SHOW, ""), ((*SHOW, "--json"), ""), (("compress", "-c", "data"), "data: 4 → 14 bytes (350.0 %), -\n")],
)
def test_a_closed_stdout_is_a_line(tmp_path: Path, arguments: tuple[str, ...], before: str) -> None:
    (tmp_path / "data").write_bytes(b"data")
    done = shell(f"{shlex.join([str(KOLMO), *arguments])} >&-", tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"{before}kolmo: error: standard output is closed: what was to be printed is lost\n"


def test_who_prints_nothing_needs_no_stdout(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"data")
    done = shell(f"{KOLMO} compress -k -q data >&- 2>&-; echo $?", tmp_path)
    assert done.stdout == "0\n"
    assert (tmp_path / "data.klm").is_file()


@pytest.mark.parametrize("arguments", [SHOW, (*SHOW, "--json")])
def test_a_full_disk_behind_stdout_is_a_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = shell(f"{shlex.join([str(KOLMO), *arguments])} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr == ("kolmo: error: standard output: No space left on device; what was to be printed is lost\n")


@pytest.fixture(scope="module")
def usual() -> bytes:
    """What is shown where nothing says how wide."""
    unsaid = {key: value for key, value in command_environment().items() if key not in ("COLUMNS", "LINES")}
    return subprocess.run([KOLMO, *SHOW], env=unsaid, capture_output=True, check=True).stdout


@pytest.mark.parametrize("said", ["100000000", "0", "-5", "x", "²", "9" * 5_000])
def test_a_width_that_no_terminal_has_is_not_believed(said: str, usual: bytes) -> None:
    odd = command_environment({"COLUMNS": said, "LINES": said})
    done = subprocess.run([KOLMO, *SHOW], env=odd, capture_output=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", usual)
