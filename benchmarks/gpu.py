"""What kolmo does on one GPU, in one command of under ten minutes: does it run, how fast, and in how much memory.

    python benchmarks/gpu.py                             # on the GPU; a table, and with --json one report
    python benchmarks/gpu.py --device cpu --quick        # the same code anywhere: tiny sizes, a few steps
    python benchmarks/gpu.py --only learning memory
    python benchmarks/gpu.py --out report.json           # written anew after each part

Every part is a process of its own with a time limit, so that one that fails or hangs costs itself alone: it is shown as
failed, with its last line. A part whose package or model is missing is skipped. Figures beside peers are those of
`benchmarks/trainer.py`, with the GPU for both sides; planned and measured memory is that of `benchmarks/memory.py`.

The share of the peak is 6 x parameters x tokens read / seconds, over what a large product in bf16 reaches on the same
device in the same process, and over what its maker promises where that is known.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpu_parts as parts
from rich import box
from rich.console import Console
from rich.table import Table

_PATIENCE = 5
"""So many times as long may a part take on a CPU, which others may be using."""


@dataclass(frozen=True)
class Part:
    title: str
    work: Callable[[parts.Size], dict[str, Any]]
    seconds: int
    """It has no more: all of them together have under ten minutes where none hangs."""
    needs: tuple[str, ...] = ()
    """Packages."""
    model: str | None = None
    """Of `kolmo model list`."""


PARTS = {
    "machine": Part("device and software", parts.machine, 30),
    "tests": Part("pytest -m gpu", parts.tests, 150),
    "demo": Part("kolmo train quickstart", parts.demo, 120),
    "pretrained": Part("kolmo train arithmetic, SmolLM2-135M-Instruct", parts.pretrained, 180, model="smollm2"),
    "medium": Part("kolmo train kolmogorov --model medium", parts.medium, 90),
    "large": Part("kolmo train kolmogorov --model large", parts.large, 120),
    "adapters": Part("the same in 8 bits with adapters", parts.adapters, 120, ("peft", "accelerate", "bitsandbytes")),
    "vllm": Part("kolmo train quickstart, vLLM samples", parts.vllm, 180, ("vllm",)),
    "update": Part("a whole update beside TRL, samples/s", parts.update, 120, ("trl",)),
    "pretrained-update": Part(
        "SmolLM2's whole update beside TRL, samples/s", parts.pretrained_update, 120, ("trl",), "smollm2"
    ),
    "generation": Part("generation in batches of 512, tokens/s", parts.generation, 180),
    "learning": Part("the learning pass, share of the bf16 peak", parts.learning, 90),
    "memory": Part("peak memory, planned and measured", parts.memory, 180),
    "data": Part("a warm-up step waits for data", parts.data, 60),
}


def run_part(name: str, size: parts.Size, seconds: float) -> dict[str, Any]:
    """What the part found, in a process of its own, with how it ended."""
    part = PARTS[name]
    lacking = next(filter(None, map(parts.missing, part.needs)), None) or parts.without(part.model)
    if lacking:
        return {"status": "skipped", "reason": lacking}
    command = [sys.executable, __file__, "--part", name, "--device", size.device, *(["--quick"] if size.quick else [])]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # what it has started goes with it
            process.communicate()
            return {"status": "failed", "reason": f"not done after {seconds:.0f} s", "seconds": round(seconds, 1)}
    spent = round(time.perf_counter() - began, 1)
    if process.returncode:
        return {"status": "failed", "reason": parts.last_line(err or out), "seconds": spent}
    return {"status": "done", "seconds": spent, "found": json.loads(out.strip().splitlines()[-1])}


def show(report: dict[str, Any]) -> None:
    table = Table("part", "", "seconds", "found", box=box.SIMPLE_HEAD)
    for name, of in report["parts"].items():
        found = of.get("reason") or "\n".join(lines(of["found"]))
        table.add_row(PARTS[name].title, of["status"], str(of.get("seconds", "")), found)
    Console(width=140).print(table)


def lines(found: dict[str, Any], before: str = "") -> list[str]:
    told: list[str] = []
    for key, value in found.items():
        if isinstance(value, dict):
            told += lines(value, f"{before}{key}: ")
        else:
            told.append(f"{before}{key} {value}")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and a few steps, to see that all of it works")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument("--limit", type=float, help="seconds that each part has, instead of its own limit")
    parser.add_argument("--json", action="store_true", help="one object on stdout; the table goes to stderr")
    parser.add_argument("--out", type=Path, help="write the report to this file too, after each part")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = parts.Size(options.device, options.quick)
    if options.part:
        print(json.dumps(PARTS[options.part].work(size)))
        return
    report: dict[str, Any] = {"schema_version": 1, "device": size.device, "quick": size.quick, "parts": {}}
    for name in options.only:
        parts.print_aside(f"{PARTS[name].title} …")
        patience = 1 if size.device == "cuda" else _PATIENCE
        report["parts"][name] = run_part(name, size, options.limit or patience * PARTS[name].seconds)
        if options.out is not None:
            options.out.write_text(json.dumps(report) + "\n")
    if options.json:
        print(json.dumps(report))
    else:
        show(report)
    if any(of["status"] == "failed" for of in report["parts"].values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
