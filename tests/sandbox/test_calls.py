"""Functions that are called, scripts that read and print, and values of any plain type, on both backends."""

from __future__ import annotations

import pytest

from kolmocli.errors import UsageError
from kolmocli.sandbox import Job, Sandbox, Status, open_sandbox
from kolmocli.sandbox.base import Call, Opaque, Raised
from kolmocli.sandbox.wire.statements import MODULES, MORE_MODULES

FUNCTIONS = """
import math
def add(x, y=2):
    x.append(y)
    return x
def root(x):
    return math.sqrt(x)
class Point:
    pass
def point():
    return Point()
def nothing():
    print("into the void")
"""
ECHO = "n = int(input())\nfor i in range(n):\n    print(i, end=' ')\nprint()\nprint('end', n)"


def test_each_call_comes_to_something_of_its_own(sandbox: Sandbox) -> None:
    calls = [
        Call.of("add", [1]), Call.of("add", [1], y="é"), Call.of("root", -1), Call.of("root", 2.25), Call.of("point"),
        Call.of("nothing"),
    ]  # fmt: skip
    [verdict] = sandbox.run(Job(FUNCTIONS, calls=tuple(calls)))
    assert verdict.status is Status.OK
    assert verdict.trace == ([1, 2], [1, "é"], Raised("ValueError"), 1.5, Opaque("Point"), None)


def test_arguments_are_fresh_for_every_call(sandbox: Sandbox) -> None:
    call = Call.of("add", [1])
    [verdict] = sandbox.run(Job(FUNCTIONS, calls=(call, call)))
    assert verdict.trace == ([1, 2], [1, 2])


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("def add(:", Status.SYNTAX),
        ("1 / 0", Status.RUNTIME),
        ("import socket", Status.DENIED),
        ("def add(x):\n    while 1: pass", Status.TLE_CPU),
        ("def add(x):\n    return [0] * 100_000", Status.OLE),
    ],
)
def test_a_program_that_ends_as_a_whole(sandbox: Sandbox, program: str, status: Status) -> None:
    [verdict] = sandbox.run(Job(program, calls=(Call.of("add", [1]),)))
    assert (verdict.status, verdict.value) == (status, None)


def test_a_function_that_is_not_there(sandbox: Sandbox) -> None:
    [verdict] = sandbox.run(Job("add = 1\nother = 2", calls=(Call.of("add"), Call.of("other"))))
    assert verdict.trace == (Raised("TypeError"), Raised("TypeError"))


@pytest.mark.docker
def test_a_name_that_is_not_there(docker_sandbox: Sandbox) -> None:
    [verdict] = docker_sandbox.run(Job("x = 1", calls=(Call.of("add"),)))
    assert verdict.trace == (Raised("NameError"),)


def test_a_script_runs_once_for_each_input(sandbox: Sandbox) -> None:
    [verdict] = sandbox.run(Job(ECHO, inputs=("2\n", "0", "x")))
    assert verdict.trace == ("0 1 \nend 2\n", "\nend 0\n", Raised("ValueError"))


def test_a_run_of_a_script_leaves_nothing_to_the_next(sandbox: Sandbox) -> None:
    script = "seen = []\nseen.append(input())\nprint(seen)"
    [verdict] = sandbox.run(Job(script, inputs=("a", "b")))
    assert verdict.trace == ("['a']\n", "['b']\n")


@pytest.mark.docker
@pytest.mark.parametrize(
    "script",
    [
        "import sys\nfor line in sys.stdin: sys.stdout.write(line)",
        "from sys import stdin\nprint(stdin.read(), end='')",
        "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())",
        "print(open(0).read(), end='')\nexit()",
        "import sys\ninput = sys.stdin.readline\nwhile line := input(): print(line, end='')\nsys.exit(0)\n",
    ],
)
def test_scripts_read_as_scripts_do(docker_sandbox: Sandbox, script: str) -> None:
    [verdict] = docker_sandbox.run(Job(script, inputs=("é 1\n2\n",)))
    assert (verdict.status, verdict.trace) == (Status.OK, ("é 1\n2\n",))


@pytest.mark.docker
def test_a_script_that_ends_with_an_error_has_printed_nothing(docker_sandbox: Sandbox) -> None:
    [verdict] = docker_sandbox.run(Job("import sys\nprint(1)\nsys.exit(int(input()))", inputs=("0", "1")))
    assert verdict.trace == ("1\n", Raised("SystemExit"))


def test_plain_values_keep_their_types(sandbox: Sandbox) -> None:
    [verdict] = sandbox.run(Job("'abc'\n5\nx = 2.5\n(1, [x, None])\n{1: True}\nprint(1)", plain=True))
    assert verdict.trace == ("abc", 5, 2.5, (1, [2.5, None]), {1: True}, None)


@pytest.mark.docker
def test_every_published_module_is_there(docker_sandbox: Sandbox) -> None:
    imports = "\n".join(f"import {name}" for name in (*MODULES, *MORE_MODULES) if name != "__future__")
    probe = (
        "def f():\n    return hashlib.sha256(b'').hexdigest()[:4], statistics.mean([1, 2]), str(decimal.Decimal('.5'))"
    )
    [verdict] = docker_sandbox.run(Job(f"{imports}\n{probe}", calls=(Call.of("f"),)))
    assert (verdict.status, verdict.value) == (Status.OK, ("e3b0", 1.5, "0.5"))


@pytest.mark.docker
def test_a_class_of_data_works(docker_sandbox: Sandbox) -> None:
    program = "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\ndef f(x):\n    return repr(P(x))"
    [verdict] = docker_sandbox.run(Job(program, calls=(Call.of("f", 3),)))
    assert verdict.value == "P(x=3)"


def test_jobs_of_all_kinds_in_one_batch(sandbox: Sandbox) -> None:
    jobs = [
        Job("output = [1]"), Job("output = [1]", plain=True), Job("def f(): return [1]", calls=(Call.of("f"),)),
        Job("print(1)", inputs=("",)), Job("output = set_list([1])", "dsl"),
    ]  # fmt: skip
    assert [v.value for v in sandbox.run(jobs * 8)] == [(1,), [1], [1], "1\n", (1,)] * 8


@pytest.mark.docker
@pytest.mark.packages
def test_packages_are_in_an_image_of_their_own() -> None:
    program = """
import numpy as np
def f(n):
    a = np.arange(n * n).reshape(n, n)
    noise = np.random.default_rng(0).integers(0, 9, 3).tolist()
    return (a @ a.T).tolist(), noise, float(np.linalg.det(np.eye(n)))
"""
    with open_sandbox("docker", packages=["numpy"], workers=1) as sandbox:
        assert all(finding["ok"] for finding in sandbox.check())
        call = Call.of("f", 2)
        first, again = sandbox.run([Job(program, calls=(call, call)), Job("import numpy\n[int(numpy.sum([1, 2]))]")])
    assert first.trace == (([[1, 3], [3, 13]], [7, 5, 4], 1.0),) * 2
    assert again.value == (3,)


@pytest.mark.docker
def test_a_name_of_a_type_is_cut_off(docker_sandbox: Sandbox) -> None:
    program = (
        f"class {'X' * 100}(Exception):\n    pass\ndef f():\n    raise {'X' * 100}\ndef g():\n    return {'X' * 100}()"
    )
    [verdict] = docker_sandbox.run(Job(program, calls=(Call.of("f"), Call.of("g"))))
    assert verdict.trace == (Raised(f"{'X' * 49}(Exception)"), Opaque("X" * 60))


@pytest.mark.docker
def test_the_classes_that_an_exception_inherits_from_come_along(docker_sandbox: Sandbox) -> None:
    program = (
        "import json\nclass Mine(ValueError, KeyError): pass\nclass Last(Mine): pass\nclass OSError(Exception): pass\n"
        f"class {'X' * 40}(Last): pass\n"
        f"def f(x):\n    if x == 0: raise OSError\n    if x == 1: raise Last\n    if x == 4: raise {'X' * 40}\n    if x == 2: b'\\xff'.decode()\n    json.loads(']')"
    )
    [verdict] = docker_sandbox.run(Job(program, calls=tuple(Call.of("f", x) for x in range(5))))
    names = (
        "own.OSError(Exception)", "Last(Mine, ValueError, KeyError)", "UnicodeDecodeError", "JSONDecodeError(ValueError)",
        f"{'X' * 40}(Last, KeyError)",
    )  # fmt: skip
    assert verdict.trace == tuple(map(Raised, names))
    assert [raised.names for raised in verdict.trace] == [
        ("own.OSError", "Exception"), ("Last", "Mine", "ValueError", "KeyError"), ("UnicodeDecodeError",),
        ("JSONDecodeError", "ValueError"), ("X" * 40, "Last", "KeyError"),
    ]  # fmt: skip


def test_packages_that_the_sandbox_does_not_have() -> None:
    with pytest.raises(UsageError, match="the sandbox has no package 'left-pad'; it can have numpy"):
        open_sandbox(packages=["left-pad"])
    with pytest.raises(UsageError, match="the embedded sandbox has no numpy"):
        open_sandbox("embedded", packages=["numpy"])


@pytest.mark.docker
@pytest.mark.parametrize(
    "program",
    [
        "from __future__ import annotations\ndef f():\n    return 1",
        "from datetime import datetime\ndef f():\n    return datetime.strptime('03-31-2020', '%m-%d-%Y').day - 30",
        "def f():\n    return getattr(__import__('deci' 'mal'), 'Decimal')(1) + 0 == 1 and 1",
        "import typing as t\ndef f() -> t.Optional[int]:\n    return 1",
    ],
)
def test_what_programs_often_import(docker_sandbox: Sandbox, program: str) -> None:
    [verdict] = docker_sandbox.run(Job(program, calls=(Call.of("f"),)))
    assert verdict.trace == (1,)


def test_a_result_may_be_longer_than_a_value_of_a_trace(sandbox: Sandbox) -> None:
    call, most = Call.of("f", 1), 16 * sandbox.limits.max_items
    for items, status in ((most - 1, Status.OK), (most + 1, Status.OLE)):
        [verdict] = sandbox.run(Job(f"def f(x):\n    return [x] * {items}", calls=(call,)))
        assert verdict.status is status and verdict.trace == (([1] * items,) if status is Status.OK else ())
