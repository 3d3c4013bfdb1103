"""Many programs, one in ten of them hostile, and whatever may leak beside them: the sandbox over hours, in small.

    python benchmarks/soak.py [--programs 100000] [--sandbox docker] [--state soak.json] [--json]

Half of the programs run in order in a pool of two containers; then the same programs again, shuffled, in a pool of
three: each must get the verdict that it had, and an ordinary one the value that the interpreter gives it. Prints programs
per second and, for the start and the end, the memory of the host process and of the supervisor and template of the
containers, open descriptors and control groups. The last line says what came of it.

A million programs take hours. `--state` names a file that is written after every batch; the same command goes on from
there, and what has grown is then of its own process. Ctrl-C and SIGTERM end after the batch that runs (exit 130, 143).
Exit 3 when a verdict differs or is wrong, a program is lost, a container is left behind, or something has grown.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import random
import sys
import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.monitor.writer import write_atomically
from kolmocli.sandbox import Job, Verdict, open_sandbox
from kolmocli.sandbox.bench import HOSTILE, hostile_mix
from kolmocli.training.signals import StopRequest

BATCH = 1_000
"""Programs between two readings of everything, at most."""
SIZES = (2, 3)
CYCLE = 4_000
"""Programs after which `hostile_mix` begins again, but for the numbers of its groups of eight."""
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)
"""Gives back what glibc keeps of freed memory, which differs from reading to reading and is no leak."""
FLAT = {"host_rss_mib": 8, "supervisor_rss_mib": 4, "template_rss_mib": 4, "descriptors": 16}
"""By how much each may be above its start; a container that is just being renewed has a few descriptors more."""


@dataclass
class Tally:
    """What is known so far of `programs` programs."""

    programs: int
    done: int = 0
    seconds: float = 0.0
    lost: int = 0
    wrong: int = 0
    infra: int = 0
    replaced: int = 0
    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)
    """Of each program, how often it got which verdict, written as `STATUS value`."""

    def add(self, jobs: Sequence[Job], verdicts: Sequence[Verdict]) -> None:
        self.done += len(jobs)
        for job, verdict in zip(jobs, verdicts, strict=True):
            counts = self.outcomes.setdefault(job.program, {})
            said = f"{verdict.status.value} {verdict.value}"[:80]
            counts[said] = counts.get(said, 0) + 1
            if verdict.status.is_fault:
                self.lost += 1
            elif job.language == "dsl":
                self.wrong += verdict.value != value_of(job.program)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--sandbox", choices=["docker", "embedded"], default="docker")
    parser.add_argument("--state", type=Path, help="what is done so far, to go on from")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tally = begun(options.state, options.programs // len(SIZES) * len(SIZES))
    with StopRequest() as stop:
        report = soak(options.sandbox, tally, options.state, stop, lambda line: print(line, file=sys.stderr))
    wrong = failures(report)
    print(json.dumps({"schema_version": 1} | report) if options.json else table(report))
    if not options.json:
        print(f"soak: {tally.done:,} of {tally.programs:,} programs: {'; '.join(wrong) or ALL_WELL}")
    if wrong:
        sys.exit(3)
    if stop.signal is not None:
        sys.exit(128 + stop.signal)


def begun(state: Path | None, programs: int) -> Tally:
    """What the commands before this one have done; nothing without a state."""
    if state is None or not state.exists():
        return Tally(programs)
    try:
        tally = Tally(**json.loads(state.read_text("utf-8")))
    except (ValueError, TypeError):
        sys.exit(f"{state}: not a state of this script; remove it, or name another file")
    if tally.programs != programs:
        sys.exit(f"{state}: of {tally.programs} programs and not of {programs}; name another file")
    return tally


def soak(
    backend: str, tally: Tally, state: Path | None, stop: StopRequest, log: Callable[[str], None]
) -> dict[str, Any]:
    """Everything that is printed."""
    readings = Readings(backend)
    for size, batches in pools(tally.programs, tally.done):
        with contextlib.closing(open_sandbox(backend, workers=size)) as sandbox:
            for batch in batches:
                before, started = sandbox.health(), time.perf_counter()
                tally.add(batch, sandbox.run(batch))
                tally.seconds += time.perf_counter() - started
                tally.infra += sandbox.health().infra - before.infra
                tally.replaced += sandbox.health().replaced - before.replaced
                readings.take(size)
                if state is not None:
                    write_atomically(state, json.dumps(asdict(tally)))
                log(f"soak: {tally.done} programs, {tally.done / tally.seconds:,.0f}/s, host {rss_mib('self'):.0f} MiB")
                if stop.signal is not None:
                    break
        if stop.signal is not None:
            break
    if not readings.taken:  # a state that was complete
        readings.take(SIZES[-1])
    differing = {program: counts for program, counts in tally.outcomes.items() if differences(counts)}
    return {
        "backend": backend,
        "programs": tally.done,
        "hostile": sum(sum(c.values()) for p, c in tally.outcomes.items() if p in HOSTILE),
        "programs_per_second": tally.done / tally.seconds,
        "verdict_differences": sum(map(differences, differing.values())),
        "differing": differing,
        "wrong": tally.wrong,
        "lost": tally.lost,
        "infra": tally.infra,
        "replaced": tally.replaced,
        **readings.summary(),
    }


def pools(programs: int, done: int) -> Iterator[tuple[int, Iterator[list[Job]]]]:
    """The size of each pool, and the batches that are left for it after the first `done` programs."""
    cycle, half = hostile_mix(CYCLE), programs // len(SIZES)
    shuffled = array("I", range(half))
    random.Random(0).shuffle(shuffled)
    step = min(BATCH, max(1, programs // 10))
    for size, order in zip(SIZES, (range(half), memoryview(shuffled)), strict=True):
        left = order[min(done, half) :]
        done -= half - len(left)
        if left:
            yield (
                size,
                (
                    [replace(cycle[i % CYCLE], group=i // 8 + 1) for i in left[at : at + step]]
                    for at in range(0, len(left), step)
                ),
            )


@cache
def value_of(program: str) -> tuple[int, ...]:
    """Result of an ordinary program in the interpreter of the language."""
    return tuple(evaluate(parse(program)))


def differences(counts: Mapping[str, int]) -> int:
    """How many runs of a program got another verdict than most of them."""
    return sum(counts.values()) - max(counts.values())


ALL_WELL = "none lost, none scored wrong, no verdict differed, no orphan, memory flat"


def failures(report: Mapping[str, Any]) -> list[str]:
    """What the run shows of the sandbox that may not be."""
    counted = {
        "lost": "lost",
        "wrong": "scored wrong",
        "verdict_differences": "with another verdict",
        "orphans": "left behind",
    }
    found = [f"{report[key]} {word}" for key, word in counted.items() if report[key]]
    for key, most in FLAT.items():
        if key in report and (grown := report[key]["end"] - report[key]["start"]) > most:
            found.append(f"{key} grew by {grown:.1f}")
    return found


class Readings:
    """What may leak, read after every batch."""

    def __init__(self, backend: str) -> None:
        self.containers: dict[str, list[tuple[float, float]]] = {}
        """Of each container, (supervisor, template) in MiB over its life."""
        self.taken: list[dict[str, float]] = []
        self._api: Any = None
        if backend == "docker":
            from docker.errors import NotFound

            from kolmocli.sandbox.docker.image import client

            self._api, self._gone = client(), NotFound
        self._groups_before = control_groups()

    def take(self, size: int) -> None:
        gc.collect()
        if TRIM is not None:
            TRIM(0)
        self.taken.append({"pool": size, "host": rss_mib("self"), "descriptors": len(os.listdir("/proc/self/fd"))})
        for container in self.ours():
            with contextlib.suppress(self._gone, FileNotFoundError, IndexError):  # one that is just being renewed
                pid = self._api.api.inspect_container(container)["State"]["Pid"]
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
                self.containers.setdefault(container, []).append((rss_mib(pid), rss_mib(children[0])))

    def ours(self) -> list[str]:
        """This process's containers in any state; none with the embedded sandbox."""
        if not self._api:
            return []
        from kolmocli.sandbox.docker.containers import LABEL_OWNER
        from kolmocli.sandbox.docker.owner import this_owner

        found = self._api.api.containers(all=True, filters={"label": f"{LABEL_OWNER}={this_owner()}"})
        return [str(container["Id"]) for container in found]

    def summary(self) -> dict[str, Any]:
        """Start and end; of the containers the one that grew most between two readings of its life."""
        last_pool = [r["descriptors"] for r in self.taken if r["pool"] == self.taken[-1]["pool"]]
        report: dict[str, Any] = {
            "host_rss_mib": {"start": self.taken[0]["host"], "end": self.taken[-1]["host"]},
            # from the middle of the last pool, by when all its containers have been made
            "descriptors": {"start": last_pool[len(last_pool) // 2], "end": last_pool[-1]},
            "control_groups": {"before": self._groups_before, "after": control_groups()},
            "orphans": len(self.ours()),
        }
        for at, name in enumerate(("supervisor", "template")):
            lives = [(life[0][at], life[-1][at]) for life in self.containers.values()]
            if lives:
                start, end = max(lives, key=lambda life: life[1] - life[0])
                report[f"{name}_rss_mib"] = {"start": start, "end": end}
        return report


def rss_mib(pid: int | str) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise FileNotFoundError(f"process {pid} has ended")


def control_groups() -> int:
    """Of the memory controller on cgroup v1, all of them on v2; those that are dying count in both."""
    v2 = Path("/sys/fs/cgroup/cgroup.stat")
    if v2.is_file():
        numbers = dict(line.split() for line in v2.read_text("ascii").splitlines())
        return int(numbers["nr_descendants"]) + int(numbers["nr_dying_descendants"])
    rows = [line.split() for line in Path("/proc/cgroups").read_text("ascii").splitlines()]
    return next(int(row[2]) for row in rows if row[0] == "memory")


def table(report: dict[str, Any]) -> str:
    lines = []
    for key, value in report.items():
        if key == "differing":
            lines += [f"  differs: {program!r} {counts}" for program, counts in value.items()]
            continue
        if isinstance(value, dict):
            (a, before), (b, after) = value.items()
            value = f"{before:,.1f} {a}, {after:,.1f} {b}"
        lines.append(f"{key:22} {f'{value:,.1f}' if isinstance(value, float) else value}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
