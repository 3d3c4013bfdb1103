"""Many programs, one in ten of them hostile, and whatever may leak beside them: the sandbox over hours, in small.

    python benchmarks/soak.py [--programs 100000] [--sandbox docker] [--json]

Half of the programs run in order in a pool of two containers; then the same programs again, shuffled, in a pool of
three: each must get the verdict that it had. Prints programs per second and, for the start and the end, the memory of
the host process and of the supervisor and template of the containers, open descriptors and control groups.
Exit 3 when a verdict differs, a program is lost, or a container is left behind.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kolmocli.sandbox import open_sandbox
from kolmocli.sandbox.bench import hostile_mix

BATCH = 1_000
"""Programs between two readings of everything, at most."""
SIZES = (2, 3)
Outcomes = dict[str, Counter[str]]
"""Of each program, how often it got which verdict, written as `STATUS value`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--sandbox", choices=["docker", "embedded"], default="docker")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = soak(options.sandbox, options.programs, lambda line: print(line, file=sys.stderr))
    print(json.dumps({"schema_version": 1} | report) if options.json else table(report))
    if report["verdict_differences"] or report["lost"] or report["orphans"]:
        sys.exit(3)


def soak(backend: str, programs: int, log: Callable[[str], None]) -> dict[str, Any]:
    """Everything that is printed."""
    jobs = hostile_mix(programs // len(SIZES))
    shuffled = jobs.copy()
    random.Random(0).shuffle(shuffled)
    readings = Readings(backend)
    size_of_batch = min(BATCH, programs // 10)
    outcomes: Outcomes = defaultdict(Counter)
    seconds, done, lost, infra, replaced = 0.0, 0, 0, 0, 0
    for size, order in zip(SIZES, (jobs, shuffled), strict=True):
        with contextlib.closing(open_sandbox(backend, workers=size)) as sandbox:
            for at in range(0, len(order), size_of_batch):
                batch = order[at : at + size_of_batch]
                started = time.perf_counter()
                verdicts = sandbox.run(batch)
                seconds += time.perf_counter() - started
                done += len(batch)
                lost += sum(verdict.status.is_fault for verdict in verdicts) + len(batch) - len(verdicts)
                for job, verdict in zip(batch, verdicts, strict=True):
                    outcomes[job.program][f"{verdict.status.value} {verdict.value}"[:80]] += 1
                readings.take(size)
                log(f"soak: {done} programs, {done / seconds:,.0f}/s, host {rss_mib('self'):.0f} MiB")
            health = sandbox.health()
            infra, replaced = infra + health.infra, replaced + health.replaced
    return {
        "backend": backend,
        "programs": done,
        "hostile": sum(job.language == "python" for job in jobs) * len(SIZES),
        "programs_per_second": done / seconds,
        "verdict_differences": sum(differences(counts) for counts in outcomes.values()),
        "differing": {program: dict(counts) for program, counts in outcomes.items() if differences(counts)},
        "lost": lost,
        "infra": infra,
        "replaced": replaced,
        **readings.summary(),
    }


def differences(counts: Counter[str]) -> int:
    """How many runs of a program got another verdict than most of them."""
    return counts.total() - max(counts.values())


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
        last_pool = [reading["descriptors"] for reading in self.taken if reading["pool"] == SIZES[-1]]
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
