"""The commands in an empty folder, in this process."""

import io
import signal
import sys
from types import SimpleNamespace

import pytest

from kolmocli.cli.main import main
from tests.workers import workers_stay

__all__ = ["workers_stay"]


@pytest.fixture
def kolmo(tmp_path, monkeypatch, capfdbinary):
    """Runs a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    handlers = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin), isatty=lambda: False))
        code = main(list(arguments))
        out, err = capfdbinary.readouterr()
        return SimpleNamespace(code=code, out=out, err=err.decode())

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
