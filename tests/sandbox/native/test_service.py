"""The languages beyond Python over HTTP, and on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from kolmocli.errors import EnvironmentMissing
from kolmocli.sandbox import Job, Raised, Status, open_sandbox
from tests.conftest import Run
from tests.sandbox.service.servers import Server, serving

from .test_hostile import NORMAL


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("native")
    with serving(folder, "--workers", "1", "--with", "cpp", "--with", "node", backend="docker") as found:
        yield found


@pytest.mark.native
@pytest.mark.parametrize(
    ("language", "code", "status", "compiled", "returned", "stdout", "stderr"),
    [
        ("cpp", NORMAL["cpp"], "Success", 0, 0, "42\n", ""),
        ("cpp", "int main() { return 3; }", "Failed", 0, 3, "", "exit status 3"),
        ("cpp", "int main() { return }", "Failed", 1, None, None, "line 1: expected primary-expression"),
        ("nodejs", NORMAL["javascript"], "Success", None, 0, "42\n", ""),
        ("nodejs", "null.x", "Failed", None, 1, "", "TypeError"),
        ("nodejs", "console.log(", "Failed", None, 1, "", "SyntaxError: "),
        ("python", "print(int(input()) + 1)", "Success", None, 0, "42\n", ""),
    ],
)
def test_run_code(
    server: Server,
    language: str,
    code: str,
    status: str,
    compiled: int | None,
    returned: int | None,
    stdout: str | None,
    stderr: str,
) -> None:
    asked = {"code": code, "language": language, "stdin": "41\n", "run_timeout": 5, "compile_timeout": 10}
    said = httpx2.post(f"{server.url}/run_code", json=asked, timeout=60).json()
    assert said["status"] == status, said
    compiling, run = said["compile_result"], said["run_result"]
    assert compiled == (None if compiling is None else compiling["return_code"])
    if returned is None:
        assert run is None and compiling["stderr"].startswith(stderr)
    else:
        assert (run["return_code"], run["stdout"]) == (returned, stdout)
        assert run["stderr"].startswith(stderr)


@pytest.mark.native
def test_jobs_over_http_equal_those_of_a_pool(server: Server) -> None:
    jobs = [Job(NORMAL["cpp"], "cpp", inputs=("1", "2")), Job("null.x", "javascript", inputs=("",)), Job("output = 1")]
    with open_sandbox(server.url, packages=["cpp"]) as sandbox:
        verdicts = sandbox.run(jobs)
    assert [v.trace for v in verdicts] == [("2\n", "3\n"), (Raised("TypeError"),), ((1,),)]
    with pytest.raises(EnvironmentMissing, match="programs have no numpy there"):
        open_sandbox(server.url, packages=["numpy"])


@pytest.mark.native
def test_files_by_their_suffix(tmp_path: Path, kolmo: Run) -> None:
    (tmp_path / "x.cpp").write_text(NORMAL["cpp"])
    (tmp_path / "y.js").write_text(NORMAL["javascript"])
    (tmp_path / "z.js").write_text("null.x")
    (tmp_path / "w.py").write_text("output = [1, 2]")
    (tmp_path / "in").write_text("41")
    files = ("x.cpp", "y.js", "z.js", "w.py")
    done = kolmo("sandbox", "run", "--workers", 1, "--stdin", "in", *files, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["results"]
    assert [(r["status"], r["value"], r["detail"]) for r in found] == [
        (Status.OK, "42\n", ""), (Status.OK, "42\n", ""), (Status.RUNTIME, None, "TypeError"), (Status.OK, [1, 2], ""),
    ]  # fmt: skip


def test_an_input_that_nothing_reads(tmp_path: Path, kolmo: Run) -> None:
    (tmp_path / "w.py").write_text("output = 1")
    done = kolmo("sandbox", "run", "--stdin", "w.py", "w.py", "--sandbox", "embedded")
    assert done.returncode == 2
    assert "--stdin means nothing without a program in C++ or JavaScript" in done.stderr
