"""A sandbox of kolmo as the target: each program as a module with calls, and as a script."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.sandbox.attack.campaign import Answer, Said
from kolmocli.sandbox.attack.suite import CASES, Kind, as_script
from kolmocli.sandbox.base import Call, Job, Limits, Sandbox, Status

LIMITS = Limits(cpu_ms=1_000, wall_ms=3_000, memory_mb=128)
_CALLS = tuple(Call.of("solve", x) for x, _ in CASES)
_INPUTS = tuple(f"{x}\n" for x, _ in CASES)


class Backend:
    kind: Kind = "own"
    at_once = 2

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.name = f"--backend {sandbox.health().backend}"

    def judge(self, programs: Sequence[str], expected: str) -> list[Answer]:
        return [self._one(program) for program in programs]

    def _one(self, program: str) -> Answer:
        """The host compares, by exact type: the program never sees what is expected."""
        called, script = self._sandbox.run([Job(program, calls=_CALLS), Job(as_script(program), inputs=_INPUTS)])
        if fault := next((verdict for verdict in (called, script) if verdict.status.is_fault), None):
            return Answer(Said.FAULT, fault.detail or fault.status)
        by_call = called.status is Status.OK and [(type(v), v) for v in called.trace] == [(int, y) for _, y in CASES]
        printed = [v.strip() if type(v) is str else None for v in script.trace]
        by_script = script.status is Status.OK and printed == [str(y) for _, y in CASES]
        return Answer(Said.PASSED if by_call or by_script else Said.REFUSED, f"{called.status}, {script.status}")
