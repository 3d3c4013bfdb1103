"""The memory that `kolmo train --dry-run` plans with, beside what is measured.

    python benchmarks/memory.py                                  # every preset but large, every setting
    python benchmarks/memory.py --models large --settings bf16 --json

Each row is a process of its own. It samples a batch of 8 prompts of 140 tokens with 8 answers of 40, and learns from as
much, twice, so that the optimiser has its moments. On a CPU its peak is VmHWM of /proc/self/status, less what the process
held when everything was imported and had run once with a model that was thrown away; on a GPU it is what torch had
allocated at most.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import json
import sys
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from bench import NEW_TOKENS, PROMPT_TOKENS, PROMPTS, SAMPLES, batch_of, prompts, status
from rich import box
from rich.console import Console
from rich.table import Table

from kolmocli.config import Config
from kolmocli.errors import last_line
from kolmocli.learning.trained import load_trained, open_learner
from kolmocli.policy.generation import generate
from kolmocli.training.plan import memory_plan

MODELS = ("tiny", "small", "medium", "small-llama")
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "fp32": ({"precision": "fp32"}, {}),
    "bf16": ({"precision": "bf16"}, {}),
    "checkpointing": ({"precision": "fp32"}, {"gradient_checkpointing": True}),
    "checkpointing in bf16": ({"precision": "bf16"}, {"gradient_checkpointing": True}),
    "8-bit moments": ({"precision": "fp32"}, {"optimizer": "adamw8bit"}),
    "adapters": ({"precision": "fp32"}, {"lora": {"rank": 16}}),
    "adapters in bf16": ({"precision": "bf16"}, {"lora": {"rank": 16}}),
    "adapters, 8 bits": ({"precision": "fp32", "load_in_8bit": True}, {"lora": {"rank": 16}}),
}
"""What is set of `model` and of `training`."""
_SECONDS = 1200
"""A row has no more; one that was killed for its memory never answers."""


def configured(name: str, setting: str, device: str) -> Config:
    model, training = SETTINGS[setting]
    return Config.model_validate({
        "model": {"name": name, "device": device, **model},
        "training": {
            "batch_size": PROMPTS * SAMPLES, "group_size": SAMPLES, "max_new_tokens": NEW_TOKENS, **training,
        },
        "families": {"a": {"levels": [{}]}},
    })  # fmt: skip


class Meter:
    """MiB that this process holds beyond what it held when the meter was made."""

    def __init__(self, device: str) -> None:
        self._on_gpu = device == "cuda"
        self._before = 0.0
        self.peak()  # what was before does not count
        self._before = self.peak()

    def peak(self) -> float:
        """The most since it was last asked for."""
        if self._on_gpu:
            found = torch.cuda.max_memory_allocated() / 2**20
            torch.cuda.reset_peak_memory_stats()
        else:
            found = status("VmHWM") / 1024
            Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to what is held now
        return found - self._before


def tidy() -> None:
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def run(config: Config, meter: Meter | None, samples: int = SAMPLES) -> dict[str, float]:
    """The peak in MiB of each phase of a run."""
    found: dict[str, float] = {}

    def note(phase: str) -> None:
        if meter is not None:
            found[phase] = meter.peak()

    policy = load_trained(config.model, config.training, seed=0, adapter_rank=config.adapter_rank, alphabet="programs")
    learner = open_learner(policy, config.training, model=config.model.name, seed=0)
    _ = learner.scorer
    note("weights")
    batch = batch_of(300, PROMPTS, samples)
    learner.step(batch[:1])
    note("moments")
    generate(
        policy.model, [policy.prompt_ids(prompt) for prompt in prompts()], samples=samples, max_new_tokens=NEW_TOKENS,
        stop_ids=(), pad_id=policy.pad_id, generator=torch.Generator(policy.model.device).manual_seed(0),
        precision=policy.precision,
    )  # fmt: skip
    note("sampling")
    learner.step(batch)
    note("learning")
    return found


def measure(name: str, setting: str, device: str) -> dict[str, float]:
    """Of a process that has done nothing yet."""
    run(configured("tiny", setting, device), None, samples=1)
    tidy()
    found = run(configured(name, setting, device), Meter(device))
    return {**found, "peak": max(found.values())}


def row(name: str, setting: str, device: str) -> dict[str, Any]:
    """Planned and measured, in a process of its own: a copy of this one, in which nothing has been computed yet."""
    planned = memory_plan(configured(name, setting, device), PROMPT_TOKENS)
    assert planned is not None
    with get_context("fork").Pool(1) as pool:
        try:
            measured = pool.apply_async(measure, (name, setting, device)).get(timeout=_SECONDS)
        except Exception as error:  # whatever it is, it is of this row alone, and is shown in it
            return {"model": name, "setting": setting, "failed": f"{type(error).__name__}: {last_line(error)}"}
    return {
        "model": name, "setting": setting, "planned": planned, "measured": measured,
        "ratio": planned["peak"] / measured["peak"],
    }  # fmt: skip


def show(rows: list[dict[str, Any]]) -> None:
    table = Table("", "", "planned MiB", "measured MiB", "planned ÷ measured", box=box.SIMPLE_HEAD)
    for of in rows:
        figures = (
            (of["failed"], "", "")
            if "failed" in of
            else (f"{of['planned']['peak']:,.0f}", f"{of['measured']['peak']:,.0f}", f"{of['ratio']:.2f}")
        )
        table.add_row(of["model"], of["setting"], *figures)
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--json", action="store_true", help="one object on stdout instead of a table")
    options = parser.parse_args()
    importlib.import_module("peft")  # here: what it takes is no part of what is measured
    rows = []
    for name, setting in product(options.models, options.settings):
        rows.append(row(name, setting, options.device))
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({"schema_version": 1, "device": options.device, "rows": rows}))
    else:
        show(rows)


if __name__ == "__main__":
    main()
