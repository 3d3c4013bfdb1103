"""The parts of `gpu.py`: each measures one thing, on a GPU or in small anywhere, and returns what it found."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGES = ("torch", "transformers", "peft", "bitsandbytes", "trl", "vllm")
PROMISED = {"H100 80GB HBM3": 989, "H100 PCIe": 756, "H100 NVL": 835, "H200": 989, "A100": 312, "L40S": 362, "L4": 121}
"""TFLOP/s in bf16 without sparsity, by a part of the device's name: from the makers' data sheets."""
_GROWTH = 8
"""Times `bench.PROMPTS`: the groups of a batch of 512 rollouts."""


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
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        raise RuntimeError("; ".join([*failed, last_line(done.stdout)]))
    return {"pytest": last_line(done.stdout)}


# --- whole runs


def trained(size: Size, curriculum: str, *flags: str, steps: int, warm: int, tasks: int | None = 64) -> dict[str, Any]:
    """Seconds a step, and what they go to, of `kolmo train`, from its own summary. `tasks` are held out; None: as many as
    the curriculum says."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [
            sys.executable, "-m", "kolmocli", "train", curriculum, "--device", size.device, "--quiet", "--json",
            "--sandbox", "embedded", "--run-dir", str(run), "--steps", str(steps), "--set", "report=false",
            "--set", f"warmup.max_steps={warm}", *flags,
        ]  # fmt: skip
        if held_out := size.of(tasks, 8):
            command += ["--eval-samples", str(held_out)]
        if size.quick:
            command += ["--batch-size", "16", "--set", "training.max_new_tokens=24", "--set", "warmup.batch_size=8"]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(last_line(done.stderr))
        summary = json.loads(done.stdout)
    before, after = (summary["eval"][when] for when in ("before", "after"))
    return {
        "wall_s": round(wall, 1), "seconds": {what: round(spent, 1) for what, spent in summary["seconds"].items()},
        "warmup_steps": summary["warmup_steps"], "rollouts": summary["rollouts"],
        "accuracy_before": before["accuracy"], "accuracy": after["accuracy"],
    }  # fmt: skip


def demo(size: Size) -> dict[str, Any]:
    return trained(size, "quickstart", steps=size.of(30, 2), warm=size.of(200, 3))


def pretrained(size: Size) -> dict[str, Any]:
    """The curve of docs/pretrained.md: its 50 updates, and all of its held-out tasks."""
    return trained(size, "arithmetic", "--seed", "0", steps=size.of(50, 1), warm=0, tasks=None)


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
    import trainer

    return compared(trainer.step_table(both_sides(size), size.of(5, 1), size.of("small", "tiny")))


def pretrained_update(size: Size) -> dict[str, Any]:
    """As `update`, of SmolLM2-135M-Instruct, all of its rollouts at once on both sides."""
    import trainer

    both = both_sides(size)
    of_both = trainer.pretrained_update(both, "smollm2", rows=128)
    return compared(trainer.update_table(both, size.of(5, 1), of_both))


def generation(size: Size) -> dict[str, Any]:
    """Tokens per second in batches of 512, beside `generate()` and vLLM."""
    import trainer
    from bench import PROMPTS

    count = size.of(_GROWTH, 1) * PROMPTS
    found = {}
    for name in size.of(("small", "large"), ("tiny",)):
        with_vllm = name == size.of("large", "tiny") and missing("vllm") is None
        found[name] = compared(trainer.generation_table(both_sides(size), name, size.of(3, 1), count, with_vllm))
    return found


def compared(figures: dict[str, float]) -> dict[str, Any]:
    ours = figures["kolmo"]
    return {
        side: {"per_s": round(per_s, 1), "kolmo_over_it": round(ours / per_s, 2)} for side, per_s in figures.items()
    }


def learning(size: Size) -> dict[str, Any]:
    """The learning pass as a share of the peak."""
    import torch
    from bench import PROMPTS, SAMPLES, batch_of

    from kolmocli.learning.learner import Learner

    both = both_sides(size)
    side = size.of(8192, 512)
    square = torch.ones(side, side, device=size.device, dtype=torch.bfloat16)
    product = both.in_turns({"product": lambda: square @ square}, size.of(10, 2))["product"]
    peak, promised = 2 * side**3 / product / 1e12, None
    if size.device == "cuda":
        name = torch.cuda.get_device_name(0)
        promised = next((tflops for part, tflops in PROMISED.items() if part in name), None)
    found: dict[str, Any] = {"product_tflops": round(peak, 3), "promised_tflops": promised}
    for name in size.of(("large", "large-llama"), ("tiny",)):
        policy, reports = both.preset(name), list[Any]()
        batch = batch_of(300, size.of(_GROWTH, 1) * PROMPTS, SAMPLES)
        learner = Learner(policy, learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0)
        sides = {"kolmo": lambda: reports.append(learner.step(batch))}  # noqa: B023
        spent = both.in_turns(sides, size.of(3, 1))["kolmo"]
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

    both = both_sides(size)
    config = load_config(find_curriculum("seqcoder"))
    source, settings = training_source(config, print_aside), config.warmup
    buckets, policy = taught_buckets(source, settings), both.preset(size.of("large", "tiny"))
    learner = Learner(policy, learning_rate=1e-4, max_grad_norm=1.0, entropy_bonus=0.0)
    drawing, learnt = [], []
    for step in range(size.of(20, 3)):
        chosen, tasks = choose(buckets, settings, 1, random.Random(step)), list[Any]()
        first = step * settings.batch_size
        drawing.append(
            both.seconds(lambda: tasks.extend(source.task(b, first + i) for i, b in enumerate(chosen)))  # noqa: B023
            + both.seconds(lambda: policy.answers(tasks))  # noqa: B023
        )
        learnt.append(both.seconds(lambda: teach(learner, tasks, 1e-4)) - drawing[-1])  # noqa: B023
    waits, works = median(drawing[1:]), median(learnt[1:])
    return {
        "model": policy.name, "batch": settings.batch_size, "waits_s": round(waits, 4), "learns_s": round(works, 4),
        "share": round(waits / (waits + works), 3),
    }  # fmt: skip


# --- what they share


def both_sides(size: Size) -> Any:
    """What both sides are measured with, on this device."""
    from bench import Bench

    return Bench(size.device, "fp32" if size.quick else "auto")


def print_aside(text: str) -> None:
    print(text, file=sys.stderr)


def missing(package: str) -> str | None:
    return None if importlib.util.find_spec(package) else f"{package} is not installed"


def without(model: str | None) -> str | None:
    from kolmocli.paths import model_folder

    there = model is None or model_folder(model).is_dir()
    return None if there else f"{model} is not here: kolmo model get {model}"


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "nothing was said"
