"""Files and names of strangers at the border: what has an end is read, and what UTF-8 can write is a name."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from kolmocli.config.file import load_config
from kolmocli.console import LONGEST_NAME, unfit, writable
from kolmocli.curriculum.profile import read_profile
from kolmocli.errors import UsageError
from kolmocli.files import read_input, require_regular, require_utf8
from kolmocli.paths import find_curriculum
from kolmocli.plain import parsed
from kolmocli.policy.sizes import size_of_folder

ROOT = Path(__file__).parents[1] / "kolmocli"
OWN_WORDS = {"plain.py", "sandbox", "tester.py", "asserts.py", "formula_worker.py", "values.py"}
"""Who reads JSON that kolmo itself has written: between its processes, and of the sandbox, where the wire has limits of its own."""


def test_a_fifo_and_a_device_are_no_files(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(
        UsageError, match=r"fifo: not a regular file but a FIFO; for what another command writes use - or"
    ):
        read_input(str(fifo))
    with pytest.raises(UsageError, match="a FIFO"):
        read_input(f"{fifo}/")
    with pytest.raises(UsageError, match=r"/dev/zero: not a regular file but a device$"):
        require_regular("/dev/zero")


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    for name in ("config.json", "profile.json"):
        os.mkfifo(tmp_path / name)
    for reader in (
        lambda: size_of_folder(tmp_path),
        lambda: read_profile(str(tmp_path / "profile.json"), ["sums"]),
    ):
        with pytest.raises(UsageError, match=r"\.json: not a regular file but a FIFO$"):
            reader()


def test_a_socket_is_no_file(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(UsageError, match=r"but a socket$"):
            require_regular(tmp_path / "socket")


def test_files_folders_and_what_is_not_there_are_for_others_to_judge(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path, tmp_path / "file", tmp_path / "none", tmp_path / ("x" * 300), "a\0b"):
        require_regular(place)


def test_what_the_shell_opens_for_a_command_is_read() -> None:
    """`kolmo compress <(…)`"""
    reader, writer = os.pipe()
    os.write(writer, b"abc")
    os.close(writer)
    try:
        assert read_input(f"/dev/fd/{reader}") == b"abc"
    finally:
        os.close(reader)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ("9" * 5_000, "Exceeds the limit"),
        ("{", "Expecting property name"),
    ],
)
def test_json_that_cannot_be_read_is_one_kind_of_error(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        parsed(text)
    assert "\n" not in str(caught.value)
    assert "sys." not in str(caught.value)


def test_numbers_of_400_digits_are_read() -> None:
    assert parsed(b'{"a": ' + b"9" * 400 + b"}") == {"a": 10**400 - 1}


def test_there_is_one_reader_of_json() -> None:
    others = {
        str(file.relative_to(ROOT))
        for file in ROOT.rglob("*.py")
        if "json.loads(" in file.read_text() and not OWN_WORDS & {*file.relative_to(ROOT).parts}
    }
    assert not others


def test_names_that_can_be_shown_saved_and_drawn() -> None:
    assert [unfit(name) for name in ("ramps", "", "日本", "\x1b[31m", "x" * LONGEST_NAME)] == [""] * 5
    assert unfit("\ud800") == "holds half of a surrogate pair, which UTF-8 cannot write"
    assert unfit("x" * 100_000) == "has 100,000 characters; at most 200 are taken"
    assert writable("a\U0001f600") and not writable("a\udcff")


def test_commands_print_by_their_own_functions() -> None:
    """A bare `print` would show what a stranger wrote as it is."""
    bare = re.compile(r"(?<![\w.])print\(|typer\.(?:secho|echo)\(|sys\.std(?:out|err)\.write\(")
    found = {file.name for file in (ROOT / "cli").glob("*.py") if bare.search(file.read_text())}
    assert found <= {"output.py", "main.py", "app.py"}  # app.py prints the version, main.py the help


def test_a_run_goes_into_a_folder_whose_name_is_utf8(tmp_path: Path) -> None:
    require_utf8(tmp_path / "日本")
    with pytest.raises(UsageError, match="its name is not UTF-8"):
        require_utf8(tmp_path / os.fsdecode(b"r\xff"))
    from kolmocli.training.train import RunOptions, train

    with pytest.raises(UsageError, match="its name is not UTF-8"):
        train(load_config(find_curriculum("quickstart")), RunOptions(tmp_path / os.fsdecode(b"r\xff"), quiet=True))
    assert not list(tmp_path.iterdir())
