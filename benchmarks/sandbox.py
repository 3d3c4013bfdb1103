"""Programs per second of both sandboxes, beside `docker run` and a plain fork server, in the same run.

    python benchmarks/sandbox.py [--programs 4000] [--json]

The plain fork server has no wall at all: it is what the operating system charges for a process per program.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

from kolmocli.errors import KolmoError
from kolmocli.sandbox import open_sandbox
from kolmocli.sandbox.bench import PROGRAM, measure


def plain_fork_server(count: int) -> float:
    """Programs per second of fork, compile, exec, pipe and wait on one core, with nothing in the way."""
    started = time.perf_counter()
    for number in range(count):
        source = PROGRAM.format(number % 50, number % 50 + 9).replace("repeat_list(3, sequence_1)", "sequence_1 * 3")
        source = (
            source.replace("range_func_up", "range").replace("reverse_list", "sorted").replace("sequence_1 * 3", "[0]")
        )
        read_end, write_end = os.pipe()
        if os.fork() == 0:
            space: dict[str, Any] = {}
            exec(compile(source, "<program>", "exec"), space)
            os.write(write_end, repr(space["output"]).encode())
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as result:
            result.read()
        os.wait()
    return count / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=4_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    reports: dict[str, Any] = {"plain_fork_server": plain_fork_server(options.programs // 4)}
    for backend in ("docker", "embedded"):
        try:
            sandbox = open_sandbox(backend)
        except KolmoError as error:
            reports[backend] = str(error)
            continue
        try:
            reports[backend] = measure(sandbox, options.programs, lambda _: None)
        finally:
            sandbox.close()
    if options.json:
        print(json.dumps({"schema_version": 1} | reports))
        return
    print(f"{'plain fork server':32} {reports['plain_fork_server']:>10,.0f} programs/s")
    for backend in ("docker", "embedded"):
        report = reports[backend]
        if isinstance(report, str):
            print(f"{backend}: {report}")
            continue
        for key, value in report.items():
            shown = f"{value:>10,.2f}" if isinstance(value, float) else f"{value:>10}"
            print(f"{backend + ' ' + key:40} {shown}")


if __name__ == "__main__":
    main()
