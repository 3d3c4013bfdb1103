"""What the engine `monarch` costs and gains: weights on their way, one generator beside none, two beside the trainer.

    python benchmarks/engine.py
    python benchmarks/engine.py --only weights --json
    python benchmarks/engine.py --only steps --model small --rounds 5

`weights`: the tensors of a preset to one generator, as the engine does it (safetensors in shared memory: put, take), and as
one message of Monarch to an actor. `steps`: whole updates on the same tasks: the local engine, `monarch` with one generator
and with two that are one update ahead. Rounds alternate, so that a noisy machine is noisy to all; figures are medians. A
setting where sampling is most of a step: 64 rollouts of up to 64 tokens, judged by the embedded sandbox. `shares` says
what a local step is made of: two generators beside a trainer cannot be faster than the cores that all three share.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from monarch.actor import Actor, endpoint, this_host

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.engine.base import Engine, Experience, Request
from kolmocli.engine.monarch.hosts import start_monarch
from kolmocli.engine.monarch.weights import WeightFile, take
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.paths import find_curriculum
from kolmocli.tasks.base import Task
from kolmocli.tasks.sources import silent, training_source
from kolmocli.training.opening import open_engine, open_policy

GROUPS, SAMPLES, NEW_TOKENS = 8, 8, 64
ENGINES: dict[str, dict[str, Any]] = {
    "local": {},
    "monarch, one generator": {"kind": "monarch"},
    "monarch, two, one update ahead": {"kind": "monarch", "generators": 2, "max_staleness": 1},
}


class Receiver(Actor):
    """Takes weights as a message, for comparison."""

    @endpoint
    def receive(self, content: bytes) -> int:
        return len(content)


def configured(model: str, engine: dict[str, Any]) -> Config:
    """The quickstart, with what is measured here."""
    return load_config(
        find_curriculum("quickstart"),
        {"model.name": model, "model.device": "cpu", "engine": engine, "sandbox.backend": "embedded", "training.max_new_tokens": NEW_TOKENS},
    )  # fmt: skip


def timed(call: Callable[[], Any]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - began)


def weights(model: str, rounds: int) -> dict[str, Any]:
    start_monarch([])
    policy, other = open_policy(configured(model, {})), open_policy(configured(model, {}))
    mesh = this_host().spawn_procs(per_host={"receivers": 1})
    receiver, weights_file = mesh.spawn("receiver", Receiver), WeightFile()
    try:
        weights_file.put(policy)
        content = weights_file.file.read_bytes()
        receiver.receive.call_one(content).get(timeout=120)
        puts = [timed(lambda: weights_file.put(policy)) for _ in range(rounds)]
        takes = [timed(lambda: take(other, weights_file.file)) for _ in range(rounds)]
        sent = [timed(lambda: receiver.receive.call_one(content).get(timeout=120)) for _ in range(rounds)]
    finally:
        weights_file.clear()
        mesh.stop("done").get(timeout=30)
    return {
        "megabytes": len(content) / 1e6, "put_ms": median(puts), "take_ms": median(takes),
        "shared_memory_ms": median(puts) + median(takes), "message_ms": median(sent),
    }  # fmt: skip


class Stepper:
    """Updates with one engine, which may work ahead."""

    def __init__(self, config: Config, tasks: list[Task]) -> None:
        policy = open_policy(config)
        self.engine: Engine = open_engine(config, policy, silent)
        self.learner = Learner(policy, learning_rate=1e-5, max_grad_norm=1.0, entropy_bonus=0.0)
        self.tasks, self.number = tasks, 0

    def step(self) -> tuple[float, float]:
        """Milliseconds that were waited for rollouts, and that were spent on learning."""
        self.number += 1
        found: list[Experience] = []
        waited = timed(lambda: found.append(self.engine.rollout(self.choose, self.number)))
        rollouts = [r for g in found[0].groups for r in g.rollouts]
        batch = [Weighted(r, [0.1 * (-1) ** i] * len(r.tokens)) for i, r in enumerate(rollouts)]
        return waited, timed(lambda: self.learner.step(batch))

    def choose(self, step: int) -> Request:
        return Request(self.tasks, SAMPLES, step)


def steps(model: str, rounds: int) -> dict[str, Any]:
    source = training_source(configured(model, {}), silent)
    tasks = [source.task(source.buckets()[i % len(source.buckets())], i) for i in range(GROUPS)]
    steppers: dict[str, Stepper] = {}
    try:
        for name, chosen in ENGINES.items():
            steppers[name] = Stepper(configured(model, chosen), tasks)
        for stepper in steppers.values():
            stepper.step()
        took: dict[str, list[tuple[float, float]]] = {name: [] for name in ENGINES}
        for _ in range(rounds):
            for name, stepper in steppers.items():
                stepper.step()  # what was begun in the turn of another engine is not counted
                took[name] += [stepper.step(), stepper.step()]
    finally:
        for stepper in steppers.values():
            stepper.engine.close()
    found = {name: median(sum(pair) for pair in pairs) for name, pairs in took.items()}
    local = found["local"]
    return {
        "step_ms": found,
        "rollouts_per_second": {name: 1e3 * GROUPS * SAMPLES / ms for name, ms in found.items()},
        "overhead_of_one_generator": found["monarch, one generator"] / local - 1,
        "speed_up_of_two": local / found["monarch, two, one update ahead"],
        "shares": {"rollout": median(a / (a + b) for a, b in took["local"]), "cores": os.cpu_count()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["weights", "steps"])
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(0)
    found: dict[str, Any] = {"model": asked.model}
    if asked.only in (None, "weights"):
        found["weights"] = weights(asked.model, asked.rounds)
    if asked.only in (None, "steps"):
        found["steps"] = steps(asked.model, asked.rounds)
    print(json.dumps(found) if asked.json else json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
