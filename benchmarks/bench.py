"""What the trainer is measured on, and with: presets, prompts, batches of rollouts, and sides that take turns."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch

from kolmocli.learning.batches import Weighted
from kolmocli.policy.building import build_preset
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.tokenizer import build_tokenizer
from kolmocli.processor import WantedPrecision
from kolmocli.tasks.base import Prompt
from kolmocli.tasks.sequences.prompt import sequence_prompt

PROMPTS, SAMPLES, PROMPT_TOKENS, NEW_TOKENS = 8, 8, 140, 40
"""Of a batch: prompts, samples of each, and tokens of both."""


@dataclass(frozen=True)
class Bench:
    """What is the same for all sides."""

    device: str = "cpu"
    precision: WantedPrecision = "auto"
    """Of the products in sampling and learning."""
    llama: bool = False
    """Whether the presets of Llama's architecture are measured instead."""
    clock: Callable[[], float] = time.perf_counter

    def preset(self, name: str) -> Policy:
        model: Any = build_preset(f"{name}-llama" if self.llama else name, 0)
        policy = Policy(name, model.to(self.device), build_tokenizer())
        policy.precision = choose_precision(policy.model, self.precision)
        return policy

    def seeded(self, seed: int) -> torch.Generator:
        return torch.Generator(self.device).manual_seed(seed)

    def finish(self) -> None:
        """Wait until a GPU has done what it was told."""
        if self.device == "cuda":
            torch.cuda.synchronize()

    def seconds(self, work: Callable[[], Any]) -> float:
        self.finish()
        began = self.clock()
        work()
        self.finish()
        return self.clock() - began

    def in_turns(self, sides: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
        """Median seconds of each side; the first round warms up and does not count."""
        taken: dict[str, list[float]] = {name: [] for name in sides}
        for round_ in range(rounds + 1):
            for name, work in sides.items():
                spent = self.seconds(work)
                if round_:
                    taken[name].append(spent)
        return {name: median(times) for name, times in taken.items()}


def prompts(seed: int = 0, count: int = PROMPTS) -> list[Prompt]:
    """Sequences of bytes, each `PROMPT_TOKENS` long as a prompt."""
    rng = random.Random(seed)
    return [sequence_prompt([rng.randrange(256) for _ in range(PROMPT_TOKENS - 2)], "dsl") for _ in range(count)]


def batch_of(words: int, prompts: int, samples: int) -> list[Weighted]:
    """Groups of rollouts of random tokens, one prompt each, half of them with a weight below zero."""
    rng = random.Random(0)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(words) for _ in range(count))

    groups = [(ids(PROMPT_TOKENS), [ids(NEW_TOKENS) for _ in range(samples)]) for _ in range(prompts)]
    return [
        Weighted(Rollout(prompt, tokens, (), (0,) * NEW_TOKENS, "", True), [(-1.0) ** i] * NEW_TOKENS)
        for prompt, group in groups
        for i, tokens in enumerate(group)
    ]


def status(key: str) -> int:
    """KiB, from /proc/self/status (Linux)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1])
