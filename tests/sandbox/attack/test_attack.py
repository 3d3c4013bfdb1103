"""`kolmo sandbox attack` against kolmo's own sandboxes, which hold, and against graders, some of which do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kolmocli.cli.sandbox import app
from kolmocli.errors import CheckError, EnvironmentMissing, KolmoError, UsageError
from kolmocli.sandbox.attack.suite import HONEST, load
from tests.sandbox.service.servers import serving

GRADERS = Path(__file__).with_name("graders.py")


def attacked(*arguments: str) -> tuple[dict[str, Any] | None, BaseException | None]:
    """What was printed with `--json`, and how it ended."""
    done = CliRunner().invoke(app, ["attack", *arguments, "--json"])
    return json.loads(done.stdout) if done.stdout else None, done.exception


def assert_it_holds(report: dict[str, Any] | None, ended: BaseException | None) -> None:
    assert ended is None and report is not None and report["schema_version"] == 1 and report["ok"]
    assert report["honest"] == {"passed": 6, "refused": 0, "fault": 0}
    assert set(report["groups"]) == {"escapes", "forged", "residue", "denial"}
    assert all(counts["held"] and not counts["fell"] + counts["fault"] for counts in report["groups"].values())


@pytest.mark.parametrize("backend", [pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def test_our_own_sandboxes_hold(backend: str) -> None:
    assert_it_holds(*attacked("--backend", backend))


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "embedded"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path, "--workers", "2", backend=request.param) as server:
        yield server.url


def test_our_own_server_holds(url: str, request: pytest.FixtureRequest) -> None:
    """In containers against every fourth program: all of them are in them above, and behind a server with the other backend."""
    hostile = [probe.name for probe in load("service") if probe.group != HONEST]
    only = hostile[::4] if "docker" in request.node.name else []
    assert_it_holds(*attacked("--url", url, "--timeout", "300", *_only(only)))


def _only(names: Iterable[str]) -> list[str]:
    return [word for name in names for word in ("--only", name)]


@pytest.mark.docker
@pytest.mark.parametrize(
    "function, flags, fallen, held",
    [
        (
            "weak",
            ["--timeout", "5"],
            "leaves_well equal_to_everything file_of_the_machine attribute_of_a_module busy_loop",
            "plainly_wrong",
        ),
        ("contains", ["--answers"], "many_numbers longer refused_answer", "wrong"),
    ],
)
def test_a_weak_grader_falls(function: str, flags: list[str], fallen: str, held: str) -> None:
    report, ended = attacked("--python", f"{GRADERS}:{function}", *flags, *_only([*fallen.split(), held]))
    assert isinstance(ended, CheckError) and report is not None and not report["ok"]
    outcomes = {each["name"]: each["outcome"] for each in report["findings"] if each["group"] != "honest"}
    assert outcomes == {**dict.fromkeys(fallen.split(), "fell"), held: "held"}


@pytest.mark.docker
def test_a_grader_of_answers_that_holds() -> None:
    report, ended = attacked("--python", f"{GRADERS}:exact", "--answers")
    assert ended is None and report is not None and report["ok"]


@pytest.mark.docker
@pytest.mark.parametrize(
    "function, kind, words",
    [
        ("refuses", CheckError, "refuses all 6 honest programs: it is useless"),
        ("raises", CheckError, r"ValueError: a grader of\\x1b\[2J no use"),
        ("words", CheckError, "returned str, and not a bool or a number"),
        ("hangs", CheckError, "no answer in 3 s"),
        ("absent", UsageError, "has no function absent"),
    ],
)
def test_graders_that_do_not_work(function: str, kind: type[KolmoError], words: str) -> None:
    report, ended = attacked("--python", f"{GRADERS}:{function}", "--timeout", "3")
    assert report is None
    with pytest.raises(kind, match=words):
        raise ended or AssertionError("it ended well")


@pytest.mark.docker
def test_a_module_that_is_not_there() -> None:
    _, ended = attacked("--python", "no_such_module:grade")
    assert isinstance(ended, EnvironmentMissing) and "No module named 'no_such_module'" in str(ended)
    _, ended = attacked("--python", "no_such_file.py:grade")
    assert isinstance(ended, UsageError) and "no such file" in str(ended)


@pytest.mark.docker
def test_nothing_is_left_in_the_engine() -> None:
    import contextlib

    from kolmocli.sandbox.docker.image import client

    with contextlib.closing(client()) as api:
        before = {image.id for image in api.images.list("kolmo-attack")}
        attacked("--python", f"{GRADERS}:refuses")
        assert {image.id for image in api.images.list("kolmo-attack")} <= before


def test_a_server_that_is_not_there() -> None:
    _, ended = attacked("--url", "http://127.0.0.1:9")
    assert isinstance(ended, EnvironmentMissing) and "does not answer" in str(ended)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((), "name one target"),
        (
            ("--backend", "embedded", "--only", "busy_lop"),
            "--only busy_lop: no such program or group; did you mean busy_loop",
        ),
        (("--backend", "embedded", "--url", "http://x"), "name one target"),
        (("--backend", "embedded", "--answers"), "for a grader"),
        (("--url", "ftp://x"), "not an address"),
        (("--backend", "embedded", "--token-file", "x"), "for a server"),
    ],
)
def test_usage(arguments: tuple[str, ...], words: str) -> None:
    _, ended = attacked(*arguments)
    assert isinstance(ended, UsageError) and words in str(ended)
