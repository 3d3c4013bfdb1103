"""What programs are often written with comes to the same in a container as here: as functions that are called, and as scripts."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kolmocli.sandbox import Call, Job, Sandbox, Status

PROGRAMS = Path(__file__).with_name("idioms.txt").read_text("utf-8").rstrip("\n").split("\n---\n")


def value_here(program: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("solution")
    monkeypatch.setitem(sys.modules, "solution", module)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(program, "<program>", "exec", dont_inherit=True), module.__dict__)
        return module.f()


@pytest.mark.docker
def test_idioms_of_python(docker_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    called = docker_sandbox.run([Job(program, calls=(Call.of("f"),)) for program in PROGRAMS])
    scripts = docker_sandbox.run([Job(f"{program}\nprint(repr(f()))\n", inputs=("",)) for program in PROGRAMS])
    for program, one, other in zip(PROGRAMS, called, scripts, strict=True):
        with monkeypatch.context() as patch:
            here = value_here(program, patch)
        assert (one.status, one.trace) == (Status.OK, (here,)), program
        assert other.status is Status.OK and other.value.splitlines()[-1] == repr(here), program


@pytest.mark.docker
def test_a_class_of_what_is_absent_has_no_objects(docker_sandbox: Sandbox) -> None:
    program = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\ndef f(): return T()"
    [verdict] = docker_sandbox.run(Job(program, calls=(Call.of("f"),)))
    assert verdict.trace[0].error == "Refused(PermissionError)"
