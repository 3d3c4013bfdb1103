"""Every probe against a target, and what is concluded from what the target said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from kolmocli.errors import CheckError, EnvironmentMissing
from kolmocli.sandbox.attack.suite import GROUPS, HONEST, HONEST_PROGRAM, Kind, Probe, chosen, load


class Said(StrEnum):
    """A target's verdict on one program. FAULT: it could not be asked, which says nothing about it."""

    PASSED = "passed"
    REFUSED = "refused"
    SILENT = "silent"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Answer:
    said: Said
    detail: str = ""
    """The target's own words: data."""


class Target(Protocol):
    kind: Kind
    name: str
    at_once: int
    """Probes that may be under way at the same time."""

    def judge(self, programs: Sequence[str], expected: str) -> list[Answer]:
        """Each program in order, in one place; one answer for each."""
        ...


@dataclass(frozen=True, slots=True)
class Finding:
    probe: Probe
    outcome: str
    """`held`, `fell`, `fault`; of an honest program `passed`, `refused`, `fault`."""
    detail: str = ""


def attack(target: Target, tell: Callable[[str], None] = lambda _: None, only: Sequence[str] = ()) -> list[Finding]:
    """The honest programs, and then the hostile ones: all, or those that `only` has by name or group.

    Raises:
        UsageError: `only` has a name that is none.
        EnvironmentMissing: the target answers none of the honest programs.
        CheckError: it lets no honest program pass, so that nothing is shown by what it refuses.
    """
    probes = chosen(load(target.kind), only)
    with ThreadPoolExecutor(target.at_once) as threads:
        honest = [probe for probe in probes if probe.group == HONEST]
        controls = list(threads.map(lambda probe: _control(target, probe), honest))
    if all(each.outcome == "fault" for each in controls):
        raise EnvironmentMissing(f"{target.name} does not answer: {controls[0].detail}")
    if not any(each.outcome == "passed" for each in controls):
        reason = next(each.detail for each in controls if each.outcome == "refused")
        raise CheckError(
            f"{target.name} refuses all {len(controls)} honest programs: it is useless, and what it refuses shows "
            f"nothing ({reason or 'no reason given'})"
        )
    hostile = [probe for probe in probes if probe.group != HONEST]
    findings = []
    with ThreadPoolExecutor(target.at_once) as threads:
        for number, finding in enumerate(threads.map(lambda probe: _hostile(target, probe), hostile), 1):
            if number % 25 == 0:
                tell(f"{target.name}: {number} of {len(hostile)}")
            findings.append(finding)
    return controls + findings


def _control(target: Target, probe: Probe) -> Finding:
    (answer,) = target.judge(probe.programs, probe.expected)
    outcome = {Said.PASSED: "passed", Said.FAULT: "fault"}.get(answer.said, "refused")
    detail = answer.detail or ("no answer in time" if answer.said is Said.SILENT else "")
    return Finding(probe, outcome, detail)


def _hostile(target: Target, probe: Probe) -> Finding:
    """A target without an answer is asked once more: its place may be gone, and it has to come back."""
    after = probe.expected if target.kind == "answers" else HONEST_PROGRAM
    answers = target.judge((*probe.programs, after), probe.expected)
    last, honest = answers[-2:]
    if last.said is Said.PASSED:
        return Finding(probe, "fell", "passed")
    if fault := next((each for each in answers if each.said is Said.FAULT), None):
        return Finding(probe, "fault", fault.detail)
    if silent := next((each for each in answers[:-1] if each.said is Said.SILENT), None):
        return Finding(probe, "fell", silent.detail or "no answer in time")
    if honest.said is not Said.PASSED:
        return Finding(probe, "fell", f"the honest program after it did not pass: {honest.detail or honest.said}")
    return Finding(probe, "held", last.detail)


def report(target: Target, findings: Sequence[Finding]) -> dict[str, Any]:
    """For `--json`: counts by group, and every finding."""
    groups = {name: _counts([f for f in findings if f.probe.group == name]) for name in GROUPS}
    honest = [f for f in findings if f.probe.group == HONEST]
    return {
        "target": target.name,
        "kind": target.kind,
        "honest": {name: sum(f.outcome == name for f in honest) for name in ("passed", "refused", "fault")},
        "groups": {name: counts for name, counts in groups.items() if sum(counts.values())},
        "ok": not any(f.outcome == "fell" for f in findings),
        "findings": [
            {"group": f.probe.group, "name": f.probe.name, "why": f.probe.why, "outcome": f.outcome, "detail": f.detail}
            for f in findings
        ],
    }


def _counts(findings: Sequence[Finding]) -> dict[str, int]:
    return {name: sum(f.outcome == name for f in findings) for name in ("held", "fell", "fault")}
