"""Display: which one is opened, what it writes, and that the terminal is whole again afterwards."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from monitor_samples import bucket, snapshot, step_record
from rich.console import Console

from kolmocli.monitor import display as live
from kolmocli.monitor.display import Display, LiveTable, PlainLines, open_display
from kolmocli.monitor.records import WarmRecord
from kolmocli.pace import Reached

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    # Not sys.stderr itself: pytest puts its own back between a fixture and the test.
    monkeypatch.setattr(live, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


def test_a_terminal_gets_the_table(terminal: Terminal) -> None:
    assert isinstance(open_display(quiet=False), LiveTable)
    assert type(open_display(quiet=True)) is Display


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_that_asks_for_less_gets_lines(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert isinstance(open_display(quiet=False), PlainLines)


def test_a_terminal_that_cannot_draw_gets_lines(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Terminal, "encoding", "latin-1")
    assert isinstance(open_display(quiet=False), PlainLines)


def test_a_pipe_gets_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(open_display(quiet=False), PlainLines)


def test_plain_lines_say_each_step_once_with_the_numbers_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = step_record(42, loss=0.0123, pass_rate=0.48, buckets={"ramps": bucket(ci=[0.34, 0.61])})
    with PlainLines() as display:
        display.update(snapshot(metrics=None, state="warm start"))
        display.update(snapshot(metrics=None, state="warm start"))
        display.update(snapshot(metrics=metrics, state="rollout"))
        display.update(snapshot(metrics=metrics, state="learn"))
        display.update(snapshot(metrics=replace(metrics, step=43), step=43))
        display.update(snapshot(metrics=replace(metrics, step=43), step=43, state="evaluate"))
        display.note("stopped\x1b[2J\nsaved")
    out, err = capsys.readouterr()
    assert out == ""
    first, second, third, *rest = err.splitlines()
    assert first == "quickstart-7: warm start"
    assert second.startswith("step 42/100 0:31 left 1:13 pass .48 reward")
    assert "loss 0.0123 dead 3 infra 0 | ramps 4.3/8 .48 [.34,.61] U .25 w 12%" in second
    assert third.startswith("step 43/100")
    assert rest == ["quickstart-7: evaluate", "stopped\\x1b[2J", "saved"]


def test_plain_lines_say_now_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainLines()
    for state, seconds in (("evaluate", 60), ("evaluate", 10), ("learn", 20)):
        for second in range(seconds + 1):
            display.update(snapshot(metrics=None, state=state, reached=Reached(second, 60, "rollouts", float(second))))
    assert capsys.readouterr().err.splitlines() == [
        "quickstart-7: evaluate",
        *(f"quickstart-7: evaluate {n}/60 rollouts, 1.0/s, 0:{60 - n:02} left" for n in (15, 30, 45, 60)),
        "quickstart-7: learn 15/60 rollouts, 1.0/s, 0:45 left",
    ]


def test_of_the_warm_start_the_measured_steps_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    display = PlainLines()
    for step in range(1, 51):
        record = WarmRecord(step=step, loss=2.5, pass_rate=0.1 if step % 25 == 0 else None)
        display.update(snapshot(metrics=record, state="warm start"))
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "quickstart-7: warm start"
    assert [line.split(" 0:31")[0] for line in told[1:]] == ["warm-up step 25", "warm-up step 50"]


def test_plain_lines_tell_states_of_families(capsys: pytest.CaptureFixture[str]) -> None:
    PlainLines().update(snapshot(metrics=step_record(1, buckets={"a": bucket(0.01, state="out of reach")})))
    assert "a 4.3/8 .01" in (line := capsys.readouterr().err) and "(out of reach)" in line


def test_the_table_is_drawn_to_stderr_and_the_cursor_comes_back(terminal: Terminal) -> None:
    display = LiveTable(Console(file=terminal, width=80, height=24, force_terminal=True))
    with display:
        display.update(snapshot())
        display.note("a :key: [was] written")
        display.update(replace(snapshot(), step=43))
    drawn = terminal.getvalue()
    assert "step \x1b[1m43/100" in drawn and "a :key: [was] written" in drawn
    assert drawn.count(HIDE) == 1 and drawn.rindex(SHOW) > drawn.rindex("43/100")
    display.update(snapshot())  # after the end it shows nothing more
    assert terminal.getvalue() == drawn


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_the_cursor_comes_back_after_any_exit(terminal: Terminal, error: type[BaseException]) -> None:
    with (
        pytest.raises(error),
        LiveTable(Console(file=terminal, width=80, height=24, force_terminal=True)) as display,
    ):
        display.update(snapshot())
        raise error
    assert terminal.getvalue().rindex(SHOW) > terminal.getvalue().rindex(HIDE)


def test_one_console_is_shared() -> None:
    assert live.shared_console() is live.shared_console()
    assert live.shared_console().stderr


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Display() as display:
        display.update(snapshot())
        display.note("x")
    assert capsys.readouterr() == ("", "")


def test_rich_is_not_loaded_until_something_is_drawn() -> None:
    code = "import sys, kolmocli.monitor.display as m; m.open_display(False); print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_on_a_real_terminal_nothing_reaches_stdout(tmp_path: Path) -> None:
    """A child with a pseudo-terminal as stderr and a file as stdout, interrupted while it draws."""
    script = tmp_path / "child.py"
    script.write_text(
        "import signal, os\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job\n"
        "from monitor_samples import snapshot\n"
        "from kolmocli.monitor.display import open_display\n"
        "with open_display(False) as display:\n"
        "    display.update(snapshot())\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    signal.pause()\n"
    )
    master, slave = pty.openpty()
    root = Path(live.__file__).parents[2]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root}:{Path(__file__).parent}",
        "TERM": "xterm",
        "COLUMNS": "80",
    }
    environment.pop("NO_COLOR", None)
    with open(tmp_path / "out", "wb") as out:
        child = subprocess.Popen([sys.executable, str(script)], stdout=out, stderr=slave, env=environment)
        os.close(slave)
        drawn = b""
        while chunk := _read(master):
            drawn += chunk
        child.wait()
    os.close(master)
    assert child.returncode != 0
    assert (tmp_path / "out").read_bytes() == b""
    assert b"quickstart-7" in drawn
    assert drawn.rindex(SHOW.encode()) > drawn.rindex(HIDE.encode())


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # what a pseudo-terminal gives when its last writer has gone
        return b""
