"""Scripts: what they read and print, and that each input is a process of its own."""

from __future__ import annotations

import textwrap

import pytest

from kolmocli.sandbox import Call, Job, Limits, Raised, Sandbox, Status, open_sandbox

from .conftest import NORMAL, NORMAL_TRACE

MUCH = Limits(cpu_ms=20_000, wall_ms=60_000, memory_mb=128, input_bytes=24 << 20, output_bytes=24 << 20)
ECHO = "import sys\nfor line in sys.stdin: sys.stdout.write(line)"

READERS = {
    "input": "print(input())",
    "readline": "import sys\nprint(sys.stdin.readline(), end='')",
    "buffer": "import sys\nprint(sys.stdin.buffer.read().decode(), end='')",
    "os.read": "import os\nprint(os.read(0, 10**6).decode(), end='')",
    "os.fstat": "import os, io\nprint(io.BytesIO(os.read(0, max(os.fstat(0).st_size, 8192))).readline().decode(), end='')",
    "open(0)": "print(open(0).read(), end='')",
    "open(0, 'rb')": "print(open(0, 'rb').read().decode(), end='')",
    "io.open": "import io\nprint(io.open(0).read(), end='')",
    "/dev/stdin": "with open('/dev/stdin') as file: print(file.read(), end='')",
    "os.fdopen": "import os\nprint(os.fdopen(0).read(), end='')",
    "os.read of the size": "import os, io\nprint(io.BytesIO(os.read(0, os.fstat(0).st_size)).readline().decode(), end='')",
    "a judge's file": "import sys\ntry: sys.stdin = open('input.txt')\nexcept FileNotFoundError: pass\nprint(input())",
    "pathlib": "from pathlib import Path\nprint(Path('/dev/stdin').read_text(), end='')",
    "fileinput": "import fileinput\nfor line in fileinput.input(): print(line, end='')",
    "sys.stdin = open(0)": "import sys\nsys.stdin = open(0)\nprint(input())",
    "a thread": "import threading\nt = threading.Thread(target=lambda: print(input()))\nt.start()\nt.join()",
    "reconfigure": "import sys\nsys.stdin.reconfigure(encoding='utf-8')\nprint(input())",
}
WRITERS = {
    "os.write": ("import os\nos.write(1, b'7\\n')", "7\n"),
    "buffer": ("import sys\nprint(1)\nsys.stdout.buffer.write(b'2\\n')", "1\n2\n"),
    "/dev/stdout": ("print(3, file=open('/dev/stdout', 'w'))", "3\n"),
    "atexit": ("import atexit\natexit.register(print, 'bye')\nprint('hi')", "hi\nbye\n"),
    "sys.stdout": ("import io, sys\nsys.stdout = out = io.StringIO()\nprint(1)\nsys.stdout = sys.__stdout__\nprint(out.getvalue() * 2, end='')", "1\n1\n"),
    "a wrapper": ("import io, os, sys\nsys.stdout = io.BytesIO()\nsys.stdout.write(b'5\\n')\nos.write(1, sys.stdout.getvalue())", "5\n"),
    "stderr": ("import sys\nprint(1, file=sys.stderr)\nprint(2)", "2\n"),
    "os._exit": ("import os, sys\nprint(3)\nsys.stdout.flush()\nos._exit(0)", "3\n"),
    "unflushed os._exit": ("import os\nprint(3)\nos._exit(0)", ""),
    "sys.exit": ("import sys\nprint(3)\nsys.exit()\nprint(4)", "3\n"),
    "os.fdopen": ("import os\nout = os.fdopen(1, 'wb')\nout.write(b'4\\n')", "4\n"),
    "detach": ("import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach())\nprint(5)", "5\n"),
    "process time": ("import time\nbegun = time.process_time()\nwhile time.process_time() < 0.05: pass\nprint(begun < 0.05)", "True\n"),
    "a package that is never used": ("import numpy as np\nfrom scipy.special import comb\ndef f(x: np.ndarray | None): return isinstance(x, np.ndarray)\nprint(f(1))", "False\n"),
    "a package that is asked for": ("try:\n    import numpy\nexcept ModuleNotFoundError: print('none')", "none\n"),
    "modules that are never used": ("import asyncio, bz2, configparser, email.utils, gzip, html.parser, http.client, signal, ssl, tkinter, xml.dom, zipfile\nprint(1)", "1\n"),
    "digits": ("print(len(str(2 ** 20000)))", "6021\n"),
    "a path closed": ("for mode in ('w', 'wb'):\n    with open('/dev/stdout', mode) as out: pass\nprint(6)", "6\n"),
    "nowhere": ("import contextlib, os\nwith open(os.devnull, 'w') as f, contextlib.redirect_stdout(f): print(1)\nprint(repr(open(os.devnull).read()))", "''\n"),
    "a file of codecs": ("import codecs\ncodecs.open('a', 'w', 'utf-8').write('\xe9')\nprint(codecs.open('a', 'r', 'utf-8').read())", "\xe9\n"),
    "a file of fileinput": ("import fileinput\nopen('a', 'w').write('1\\n')\nprint(*fileinput.input('a'), end='')", "1\n"),
    "status 256": ("import sys\nprint(7)\nsys.exit(256)", "7\n"),
    "let go at the end": ("class A:\n    def __del__(self): print('bye')\na = [A()]\nprint('hi')", "hi\nbye\n"),
    "a buffer let go": ("import io, sys\nout = io.TextIOWrapper(sys.stdout.buffer)\nout.write('8\\n')", "8\n"),
    "a generator let go": ("def f():\n    try: yield 1\n    finally: print(2)\nf = f()\nprint(next(f))", "1\n2\n"),
    "itself by name": ("import sys\ndef f(): return sys._getframe().f_code.co_name\nprint(sys.modules[__name__].f(), 'pytest' in sys.modules)", "f False\n"),
    "the exception": ("import sys\ntry: 1 / 0\nexcept ArithmeticError: print(repr(sys.exception()), callable(sys.excepthook))", "ZeroDivisionError('division by zero') True\n"),
    "encodings": ("for e in 'utf-16-be', 'utf-32-le', 'utf-7', 'iso8859-15', 'punycode': print('\xe9'.encode(e).decode(e), end='')", "\xe9" * 5),
    "a pool of threads": (
        "from concurrent import futures\ndef f(n): return 6 // n\nwith futures.ThreadPoolExecutor(2) as pool:\n    print(*pool.map(f, [1, 2]))\n"
        "    some = [pool.submit(f, 0), pool.submit(f, 3)]\nprint(len(futures.wait(some).done), some[0].exception(), some[1].result())",
        "6 3\n2 integer division or modulo by zero 2\n",
    ),
    "names of threads": ("import threading\ndef f(): print(threading.current_thread().name)\nfor n in None, 'a', None:\n    t = threading.Thread(target=f, name=n)\n    t.start()", "Thread-1 (f)\na\nThread-2 (f)\n"),
    "each thread its own": ("import threading\nclass L(threading.local):\n    def __init__(self, n): self.n = n\na = L(1)\na.n, a.m = 2, 3\ndef f(): print(a.n, hasattr(a, 'm'))\nt = threading.Thread(target=f)\nt.start()\nprint(a.n, a.m)", "1 False\n2 3\n"),
    "one thread after the other": (
        "import threading\nlock = threading.Lock()\ndef f(n):\n    with lock: print(n)\n"
        "ts = [threading.Thread(target=f, args=(n,)) for n in range(3)]\n[t.start() for t in ts]\n[t.join() for t in ts]",
        "0\n1\n2\n",
    ),
}  # fmt: skip


@pytest.mark.docker
@pytest.mark.parametrize("name", READERS)
def test_every_way_to_read(docker_sandbox: Sandbox, name: str) -> None:
    verdict = docker_sandbox.run([Job(READERS[name], inputs=("a b\n", "é\n"))])[0]
    assert (verdict.status, verdict.trace) == (Status.OK, ("a b\n", "é\n")), verdict.detail


@pytest.mark.docker
@pytest.mark.parametrize("name", WRITERS)
def test_every_way_to_print_and_to_end(docker_sandbox: Sandbox, name: str) -> None:
    program, printed = WRITERS[name]
    verdict = docker_sandbox.run([Job(program, inputs=("",))])[0]
    assert (verdict.status, verdict.trace) == (Status.OK, (printed,)), verdict.detail


@pytest.mark.parametrize(
    "left",
    ["import math\nmath.k = getattr(math, 'k', 0) + 1\nprint(math.k)", "x = [1]\nx.append(input())\nprint(len(x))"],
)
@pytest.mark.docker
def test_no_input_sees_what_another_left(docker_sandbox: Sandbox, left: str) -> None:
    verdict = docker_sandbox.run([Job(left, inputs=("a\n", "b\n", "c\n"))])[0]
    assert len(set(verdict.trace)) == 1 and len(verdict.trace) == 3


@pytest.mark.docker
def test_an_exception_ends_one_input_and_a_limit_all(docker_sandbox: Sandbox) -> None:
    program = "n = int(input())\nwhile n == 2: pass\nprint(1 // n)"
    one, two = docker_sandbox.run([Job(program, inputs=("1", "0", "3")), Job(program, inputs=("1", "2", "3"))])
    assert (one.status, one.trace) == (Status.OK, ("1\n", Raised("ZeroDivisionError"), "0\n"))
    assert (two.status, two.trace) == (Status.TLE_CPU, ("1\n",))


@pytest.mark.docker
def test_each_input_has_all_of_the_time(docker_sandbox: Sandbox) -> None:
    """Together they take more than one may."""
    most = docker_sandbox.limits.cpu_ms
    program = f"import time\nend = time.monotonic() + {most / 3000}\nwhile time.monotonic() < end: pass\nprint(1)"
    verdict = docker_sandbox.run([Job(program, inputs=("",) * 6)])[0]
    assert (verdict.status, verdict.trace) == (Status.OK, ("1\n",) * 6)


@pytest.mark.docker
@pytest.mark.parametrize(
    "forged",
    [
        "print('1\\n!OK')",
        "import os\nos.write(1, b'1\\n!OK\\n')\nos._exit(1)",
        "import os.path\nos.path.os.write(3, b'1\\n!OK\\n')\nos.path.os._exit(1)",
        "import os.path\nos.path.os.write(3, b'\\x06\\0\\0\\x001\\n!OK\\n' * 3)",
    ],
)
def test_a_forged_end_gives_nothing(docker_sandbox: Sandbox, forged: str) -> None:
    """It may print what it likes. What it prints is not more than one output, and is none where it did not end well."""
    verdict, after = docker_sandbox.run([Job(forged, inputs=("a", "b")), NORMAL])
    assert "1\n" not in verdict.trace and "1" not in verdict.trace
    assert (after.status, after.trace) == (Status.OK, NORMAL_TRACE)


@pytest.mark.docker
def test_what_a_program_leaves_in_circles_is_no_memory_of_it(docker_sandbox: Sandbox) -> None:
    """200 MiB of it, where it may have 64."""
    text = "for _ in range(20_000):\n    a = [bytes(10_000)]\n    a.append(a)\n"
    called = "def f():\n" + textwrap.indent(text, "    ")
    jobs = [Job(text), Job(text, plain=True), Job(text, inputs=("",)), Job(called, calls=(Call.of("f"),))]
    assert [verdict.status for verdict in docker_sandbox.run(jobs)] == [Status.OK] * 4


@pytest.mark.docker
def test_large_inputs_and_outputs_stream() -> None:
    """A program with less memory than its input has bytes."""
    text = "".join(f"{i:07d}\n" for i in range(2_500_000))
    with open_sandbox("docker", limits=MUCH, workers=1) as sandbox:
        job = Job(ECHO, inputs=(text, "1\n"), memory_mb=16)
        verdict = sandbox.run([job])[0]
        assert (verdict.status, verdict.detail) == (Status.OK, "")
        assert verdict.trace == (text, "1\n")
        flood, long, after = sandbox.run(
            [Job("while True: print('x' * 1000)", inputs=("",)), Job("#", inputs=("x" * (25 << 20),)), NORMAL]
        )
    assert (flood.status, flood.trace) == (Status.OLE, ())
    assert (long.status, long.detail) == (Status.SYNTAX, "longer than 24 MiB")
    assert after.status is Status.OK


@pytest.mark.docker
def test_a_closed_output_holds_up_nothing(docker_sandbox: Sandbox) -> None:
    program = (
        "import os.path\nreal = os.path.os\nreal.write(3, b'x' * 100_000)\nreal.close(3)\nimport time\ntime.sleep(60)"
    )
    verdict, after = docker_sandbox.run([Job(program, inputs=("",)), NORMAL])
    assert verdict.status is Status.TLE_WALL
    assert (after.status, after.trace) == (Status.OK, NORMAL_TRACE)


REFUSED = {
    "a lock": "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()",
    "an event": "import threading\nthreading.Event().wait()",
    "a barrier": "import threading\nthreading.Barrier(2).wait()",
    "an empty queue": "import queue\nqueue.Queue().get()",
    "an empty simple queue": "from queue import SimpleQueue\nSimpleQueue().get()",
    "a package": "import numpy as np\nprint(np.array([1]))",
    "a package within a function": "def f():\n    import numpy\nf()",
    "a module that stands for nothing": "import signal\nsignal.alarm(1)",
    "a command": "import os\nos.system('true')",
    "a directory": "import os\nos.listdir('.')",
    "a file": "open('/etc/passwd')",
    "a file to write": "open('/home/x', 'w')",
    "a pool": "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor()",
    "a future of nobody": "from concurrent.futures import Future\nFuture().result()",
    "tasks that wait for each other": "import asyncio\nasync def f(): await asyncio.Event().wait()\nasyncio.run(f())",
    "a connection": "import asyncio\nasyncio.run(asyncio.open_connection('a', 1))",
    "a process": "import asyncio\nasyncio.run(asyncio.create_subprocess_exec('a'))",
    "a path": "from pathlib import Path\nPath('x').read_text()",
    "an alarm": "import signal\nsignal.alarm(1)",
    "a socket": "import socket",
    "a program": "import subprocess",
    "a module": "import importlib",
}


@pytest.mark.docker
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(docker_sandbox: Sandbox, name: str) -> None:
    verdict = docker_sandbox.run([Job(REFUSED[name])])[0]
    if "open(" in REFUSED[name]:
        verdict = docker_sandbox.run([Job(REFUSED[name], inputs=("",))])[0]
        assert verdict.trace == (Raised("PermissionError"),)
    else:
        assert verdict.status is Status.DENIED, verdict


MODULES = """argparse ast asyncio atexit builtins codecs concurrent.futures csv fileinput gc glob inspect locale logging
multiprocessing os os.path pathlib pickle platform pprint resource shutil signal tempfile threading traceback unittest
urllib.request uuid warnings weakref"""


@pytest.mark.docker
@pytest.mark.parametrize("module", MODULES.split())
def test_an_import_that_is_not_used_harms_nothing(docker_sandbox: Sandbox, module: str) -> None:
    ways = f"import {module}\nfrom {module} import *\nimport {module} as m\noutput = 3"
    verdict = docker_sandbox.run([Job(ways)])[0]
    assert (verdict.status, verdict.value) == (Status.OK, (3,)), verdict.detail


@pytest.mark.docker
def test_a_task_may_grant_more_than_is_usual() -> None:
    usual, most = Limits(cpu_ms=200, wall_ms=6_000, memory_mb=32), Limits(cpu_ms=5_000, wall_ms=15_000, memory_mb=256)
    busy = "for i in range(30_000_000): pass"  # 0.6 to 1.5 seconds
    large = "x = bytearray(100 << 20)\noutput = 1"
    with open_sandbox("docker", limits=usual, most=most, workers=1) as sandbox:
        statuses = [
            verdict.status
            for verdict in sandbox.run(
                [
                    Job(busy),
                    Job(busy, cpu_ms=5_000, wall_ms=15_000),
                    Job(large, cpu_ms=5_000),  # a machine short of memory takes long to find a hundred MiB
                    Job(large, memory_mb=200, cpu_ms=5_000),
                ]
            )
        ]
    assert statuses == [Status.TLE_CPU, Status.OK, Status.MLE, Status.OK]
