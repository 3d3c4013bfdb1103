"""The hostile programs as data: one property each, and what a target's answers are taken for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kolmocli.errors import CheckError, EnvironmentMissing
from kolmocli.sandbox.attack.campaign import Answer, Finding, Said, attack, report
from kolmocli.sandbox.attack.suite import CASES, DATA, GROUPS, HONEST, HONEST_PROGRAM, Kind, as_script, header, load


def test_every_file_says_what_it_tries() -> None:
    files = [path for path in DATA.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".txt"}
    assert {path.parent.name for path in files} == {*GROUPS, HONEST, "answers"}
    assert all(header(path.read_text("utf-8"))["why"] for path in files)
    assert all(header(path.read_text("utf-8")).get("for", "grader") in ("grader", "service") for path in files)


def test_who_gets_what() -> None:
    names = {kind: {probe.name for probe in load(kind)} for kind in ("own", "service", "grader", "answers")}
    assert names["own"] == names["service"] | names["grader"]
    assert "network_reached" in names["service"] - names["grader"]
    assert "process_started" in names["grader"] - names["service"]
    assert {probe.group for probe in load("answers")} == {HONEST, "forged", "denial"}
    assert {probe.group for probe in load("own")} == {HONEST, *GROUPS}


@pytest.mark.parametrize("probe", [p for p in load("own") if p.group == HONEST], ids=lambda p: p.name)
def test_honest_programs_are_right(probe: object, capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = probe.programs  # type: ignore[attr-defined]
    names: dict[str, object] = {}
    exec(program + probe.expected, names)  # type: ignore[attr-defined]
    for x, y in CASES:
        exec(as_script(program), {"input": lambda x=x: str(x)})
        assert capsys.readouterr().out == f"{y}\n"


class Scripted:
    """A target that says of the hostile programs what it was told to."""

    kind: Kind = "grader"
    name = "scripted"
    at_once = 1

    def __init__(self, hostile: Said, after: Said = Said.PASSED, honest: Said = Said.PASSED) -> None:
        self.hostile, self.after, self.honest = hostile, after, honest

    def judge(self, programs: Sequence[str], expected: str) -> list[Answer]:
        if len(programs) == 1:
            return [Answer(self.honest, "said so")]
        assert programs[-1] == HONEST_PROGRAM
        return [*(Answer(self.hostile) for _ in programs[:-1]), Answer(self.after)]


def hostile(findings: Sequence[Finding]) -> set[str]:
    return {f.outcome for f in findings if f.probe.group != HONEST}


@pytest.mark.parametrize(
    "said, after, outcome",
    [
        (Said.REFUSED, Said.PASSED, "held"),
        (Said.PASSED, Said.PASSED, "fell"),
        (Said.SILENT, Said.PASSED, "fell"),
        (Said.REFUSED, Said.REFUSED, "fell"),
        (Said.REFUSED, Said.SILENT, "fell"),
        (Said.FAULT, Said.PASSED, "fault"),
        (Said.REFUSED, Said.FAULT, "fault"),
    ],
)
def test_what_is_concluded(said: Said, after: Said, outcome: str) -> None:
    target = Scripted(said, after)
    findings = attack(target)
    assert hostile(findings) == {outcome}
    assert report(target, findings)["ok"] == (outcome != "fell")


def test_a_target_that_refuses_everything_is_no_safe_one() -> None:
    with pytest.raises(CheckError, match="refuses all 6 honest programs: it is useless"):
        attack(Scripted(Said.REFUSED, honest=Said.REFUSED))


def test_a_target_that_does_not_answer() -> None:
    with pytest.raises(EnvironmentMissing, match="scripted does not answer: said so"):
        attack(Scripted(Said.REFUSED, honest=Said.FAULT))
