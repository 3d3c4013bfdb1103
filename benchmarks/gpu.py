"""What kolmo does on one GPU, in one command of under ten minutes: does it run, how fast, and in how much memory.

    python benchmarks/gpu.py                             # on the GPU; a table, and with --json one report
    python benchmarks/gpu.py --device cpu --quick        # the same code anywhere: tiny sizes, a few steps
    python benchmarks/gpu.py --only learning memory

Every part is a process of its own with a time limit, so that one that fails or hangs costs itself alone: it is shown as
failed, with its last line. A part whose package is missing is skipped. Figures beside peers are those of
`benchmarks/trainer.py`, with the GPU for both sides; planned and measured memory is that of `benchmarks/memory.py`.

The share of the peak is 6 x parameters x tokens read / seconds, over what a large product in bf16 reaches on the same
device in the same process, and over what its maker promises where that is known.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
PACKAGES = ("torch", "transformers", "peft", "bitsandbytes", "trl", "vllm")
PROMISED = {"H100 80GB HBM3": 989, "H100 PCIe": 756, "H100 NVL": 835, "H200": 989, "A100": 312, "L40S": 362, "L4": 121}
"""TFLOP/s in bf16 without sparsity, by a part of the device's name: from the makers' data sheets."""
_PATIENCE = 5
"""So many times as long may a part take on a CPU, which others may be using."""
_GROWTH = 8
"""Groups of rollouts are so many, times `trainer.PROMPTS`, where a batch of 512 is meant."""


@dataclass(frozen=True)
class Size:
    """How much is done: on a GPU as the report is meant, or anywhere, to see that it works."""

    device: str
    quick: bool

    def of(self, full: Any, quick: Any) -> Any:
        return quick if self.quick else full


# --- what is there


def machine(size: Size) -> dict[str, Any]:
    import torch

    found: dict[str, Any] = {"python": platform.python_version(), "cores": os.cpu_count(), "device": size.device}
    for name in PACKAGES:
        found[name] = importlib.metadata.version(name) if importlib.util.find_spec(name) else "not installed"
    if size.device == "cuda":
        of = torch.cuda.get_device_properties(0)
        found |= {"name": of.name, "memory_gib": round(of.total_memory / 2**30, 1), "cuda": torch.version.cuda}
        found |= {"capability": f"{of.major}.{of.minor}", "bf16": torch.cuda.is_bf16_supported()}
    return found


def tests(size: Size) -> dict[str, Any]:
    """The tests that need a GPU; without one they are skipped, each with its reason."""
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "-q", "-p", "no:cacheprovider", "tests/policy/test_gpu.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(last_line(done.stdout))
    return {"pytest": last_line(done.stdout)}


# --- whole runs


def trained(size: Size, curriculum: str, *flags: str, steps: int, warm: int) -> dict[str, Any]:
    """Seconds a step, and what they go to, of `kolmo train`, from its own summary."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [
            sys.executable, "-m", "kolmocli.cli.main", "train", curriculum, "--device", size.device, "--quiet", "--json",
            "--sandbox", "embedded", "--run-dir", str(run), "--steps", str(steps), "--eval-samples", str(size.of(64, 8)),
            "--set", "report=false", "--set", f"warmup.max_steps={warm}", *flags,
        ]  # fmt: skip
        if size.quick:
            command += ["--batch-size", "16", "--set", "training.max_new_tokens=24", "--set", "warmup.batch_size=8"]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(last_line(done.stderr))
        summary = json.loads(done.stdout)
    return {
        "wall_s": round(wall, 1), "seconds": {what: round(spent, 1) for what, spent in summary["seconds"].items()},
        "warmup_steps": summary["warmup_steps"], "rollouts": summary["rollouts"], "accuracy": summary["eval"]["after"]["accuracy"],
    }  # fmt: skip


def demo(size: Size) -> dict[str, Any]:
    return trained(size, "quickstart", steps=size.of(30, 2), warm=size.of(200, 3))


def medium(size: Size) -> dict[str, Any]:
    return trained(size, "kolmogorov", "--model", size.of("medium", "tiny"), steps=size.of(5, 1), warm=size.of(20, 1))


def large(size: Size) -> dict[str, Any]:
    return trained(size, "kolmogorov", "--model", size.of("large", "tiny"), steps=size.of(5, 1), warm=size.of(20, 1))


def adapters(size: Size) -> dict[str, Any]:
    """`large` in 8 bits, with adapters beside it."""
    model = size.of("large", "tiny")
    return trained(size, "kolmogorov", "--model", model, "--use-8bit-quantization", steps=size.of(5, 1), warm=1)


def vllm(size: Size) -> dict[str, Any]:
    flags = ("--model", size.of("small", "tiny"), "--set", "model.sampler=vllm")
    return trained(size, "quickstart", *flags, steps=size.of(10, 1), warm=size.of(20, 1))


# --- beside peers


def update(size: Size) -> dict[str, Any]:
    """Samples per second of whole updates, beside TRL."""
    return compared(shared(size).step_table(size.of(5, 1), size.of("small", "tiny")))


def generation(size: Size) -> dict[str, Any]:
    """Tokens per second in batches of 512, beside `generate()` and vLLM."""
    trainer = shared(size)
    count = size.of(_GROWTH, 1) * trainer.PROMPTS
    found = {}
    for name in size.of(("small", "large"), ("tiny",)):
        with_vllm = name == size.of("large", "tiny") and missing("vllm") is None
        found[name] = compared(trainer.generation_table(name, size.of(3, 1), count, with_vllm))
    return found


def compared(figures: dict[str, float]) -> dict[str, Any]:
    ours = figures["kolmo"]
    return {
        side: {"per_s": round(per_s, 1), "kolmo_over_it": round(ours / per_s, 2)} for side, per_s in figures.items()
    }


def learning(size: Size) -> dict[str, Any]:
    """The learning pass as a share of the peak."""
    import torch

    from kolmocli.learning.learner import Learner

    trainer = shared(size)
    side = size.of(8192, 512)
    square = torch.ones(side, side, device=size.device, dtype=torch.bfloat16)
    product = trainer.in_turns({"product": lambda: square @ square}, size.of(10, 2))["product"]
    peak, promised = 2 * side**3 / product / 1e12, None
    if size.device == "cuda":
        name = torch.cuda.get_device_name(0)
        promised = next((tflops for part, tflops in PROMISED.items() if part in name), None)
    found: dict[str, Any] = {"product_tflops": round(peak, 3), "promised_tflops": promised}
    for name in size.of(("large", "large-llama"), ("tiny",)):
        policy, reports = trainer.preset(name), list[Any]()
        batch = trainer.batch_of(300, size.of(_GROWTH, 1) * trainer.PROMPTS, trainer.SAMPLES)
        learner = Learner(policy, learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0)
        sides = {"kolmo": lambda: reports.append(learner.step(batch))}  # noqa: B023
        spent = trainer.in_turns(sides, size.of(3, 1))["kolmo"]
        reached = 6 * policy.parameters * reports[-1].work / spent / 1e12
        found[name] = {
            "parameters": policy.parameters, "precision": policy.precision, "lean": learner.scorer.is_lean,
            "shares_prompts": learner.scorer.shares, "tokens_read": reports[-1].work, "seconds": round(spent, 3),
            "samples_per_s": round(len(batch) / spent, 1), "tflops": round(reached, 3),
            "share_of_product": round(reached / peak, 3),
            "share_of_promised": None if promised is None else round(reached / promised, 3),
        }  # fmt: skip
    return found


# --- memory and data


def memory(size: Size) -> dict[str, Any]:
    """The plan of `--dry-run` beside what was allocated at most."""
    import memory as planned  # the module beside this one

    models = size.of(("small", "large"), ("tiny",))
    settings = size.of(("bf16", "checkpointing in bf16", "adapters in bf16", "adapters, 8 bits"), ("fp32",))
    rows = [planned.row(name, setting, size.device) for name in models for setting in settings]
    return {
        f"{row['model']}, {row['setting']}": row["failed"] if "failed" in row else {
            "planned_mib": row["planned"]["peak"], "measured_mib": round(row["measured"]["peak"], 1),
            "ratio": round(row["ratio"], 2),
        }
        for row in rows
    }  # fmt: skip


def data(size: Size) -> dict[str, Any]:
    """Seconds that a step of the warm start waits for its tasks and their tokens, and those that it learns for."""
    from kolmocli.config.file import load_config
    from kolmocli.learning.learner import Learner
    from kolmocli.paths import find_curriculum
    from kolmocli.tasks.sources import training_source
    from kolmocli.training.warmstart import choose, taught_buckets, teach

    trainer = shared(size)
    config = load_config(find_curriculum("seqcoder"))
    source, settings = training_source(config, print_aside), config.warmup
    buckets, policy = taught_buckets(source, settings), trainer.preset(size.of("large", "tiny"))
    learner = Learner(policy, learning_rate=1e-4, max_grad_norm=1.0, entropy_bonus=0.0)
    drawing, learnt = [], []
    for step in range(size.of(20, 3)):
        chosen, tasks = choose(buckets, settings, 1, random.Random(step)), list[Any]()
        first = step * settings.batch_size
        drawing.append(
            trainer.seconds(lambda: tasks.extend(source.task(b, first + i) for i, b in enumerate(chosen)))  # noqa: B023
            + trainer.seconds(lambda: policy.answers(tasks))  # noqa: B023
        )
        learnt.append(trainer.seconds(lambda: teach(learner, tasks, 1e-4)) - drawing[-1])  # noqa: B023
    waits, works = median(drawing[1:]), median(learnt[1:])
    return {
        "model": policy.name, "batch": settings.batch_size, "waits_s": round(waits, 4), "learns_s": round(works, 4),
        "share": round(waits / (waits + works), 3),
    }  # fmt: skip


# --- a part, in its process


def shared(size: Size) -> Any:
    """`benchmarks/trainer.py`, with this device for both sides."""
    import trainer

    trainer.DEVICE = size.device
    if size.quick:
        trainer.PRECISION = "fp32"
    return trainer


def print_aside(text: str) -> None:
    print(text, file=sys.stderr)


def missing(package: str) -> str | None:
    return None if importlib.util.find_spec(package) else f"{package} is not installed"


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "nothing was said"


@dataclass(frozen=True)
class Part:
    title: str
    work: Callable[[Size], dict[str, Any]]
    seconds: int
    """It has no more: all of them together have under ten minutes where none hangs."""
    needs: tuple[str, ...] = ()


PARTS = {
    "machine": Part("device and software", machine, 30),
    "tests": Part("pytest -m gpu", tests, 90),
    "demo": Part("kolmo train quickstart", demo, 120),
    "medium": Part("kolmo train kolmogorov --model medium", medium, 90),
    "large": Part("kolmo train kolmogorov --model large", large, 120),
    "adapters": Part("the same in 8 bits with adapters", adapters, 120, ("peft", "accelerate", "bitsandbytes")),
    "vllm": Part("kolmo train quickstart, vLLM samples", vllm, 180, ("vllm",)),
    "update": Part("a whole update beside TRL, samples/s", update, 120, ("trl",)),
    "generation": Part("generation in batches of 512, tokens/s", generation, 180),
    "learning": Part("the learning pass, share of the bf16 peak", learning, 90),
    "memory": Part("peak memory, planned and measured", memory, 180),
    "data": Part("a warm-up step waits for data", data, 60),
}


def run_part(name: str, size: Size, seconds: float) -> dict[str, Any]:
    """What the part found, in a process of its own, with how it ended."""
    part = PARTS[name]
    lacking = next(filter(None, map(missing, part.needs)), None)
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
        return {"status": "failed", "reason": last_line(err or out), "seconds": spent}
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
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = Size(options.device, options.quick)
    if options.part:
        print(json.dumps(PARTS[options.part].work(size)))
        return
    report: dict[str, Any] = {"schema_version": 1, "device": size.device, "quick": size.quick, "parts": {}}
    for name in options.only:
        print_aside(f"{PARTS[name].title} …")
        patience = 1 if size.device == "cuda" else _PATIENCE
        report["parts"][name] = run_part(name, size, options.limit or patience * PARTS[name].seconds)
    if options.json:
        print(json.dumps(report))
    else:
        show(report)
    if any(of["status"] == "failed" for of in report["parts"].values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
