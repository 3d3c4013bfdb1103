"""From one machine to a hundred hosts: what a step costs where, by a small simulation of the engine `monarch`.

    python benchmarks/scaling.py
    python benchmarks/scaling.py --parameters 7e9 --tokens-per-second 2500 --gigabits 100 --json

What is simulated is what `kolmocli/engine/monarch/engine.py` does: a batch is split evenly over the generators, which take
shares in order; a batch is begun once the weights are at most `staleness` updates behind its own; the trainer sends
new weights to one host after the other over its one link, and learns alone. How long a share takes varies by a
lognormal factor, since programs end at different lengths. What it does not know: other traffic, slow hosts, faults,
and a trainer on several devices. The defaults are a model of 7 billion parameters in 16 bits on hosts of eight devices.
"""

from __future__ import annotations

import argparse
import json
import random
from bisect import bisect_right
from dataclasses import asdict, dataclass

from rich import box
from rich.console import Console
from rich.table import Table

HOSTS = (1, 2, 4, 8, 16, 32, 64, 100)
STALENESS = (0, 1, 2, 4)
STEPS = 200


@dataclass(frozen=True)
class Setting:
    """Rates are per device; `learn_tokens_per_second` is the trainer's as a whole."""

    parameters: float = 7e9
    bytes_per_parameter: float = 2.0
    gigabits: float = 100.0
    generators_per_host: int = 8
    rollouts: int = 4096
    tokens_per_rollout: float = 400.0
    tokens_per_second: float = 2500.0
    learn_tokens_per_second: float = 40_000.0
    spread: float = 0.3
    programs_per_second: float = 100.0
    """Of one sandbox container."""

    @property
    def sync_seconds(self) -> float:
        """Of the weights, to one host."""
        return self.parameters * self.bytes_per_parameter * 8 / (self.gigabits * 1e9)

    @property
    def learn_seconds(self) -> float:
        return self.rollouts * self.tokens_per_rollout / self.learn_tokens_per_second

    @property
    def containers_per_generator(self) -> float:
        return self.tokens_per_second / self.tokens_per_rollout / self.programs_per_second


@dataclass(frozen=True)
class Result:
    hosts: int
    staleness: int
    seconds_per_step: float
    speed_up: float
    generators_idle: float
    trainer_idle: float
    mean_age: float
    gigabytes_sent: float


def simulate(setting: Setting, hosts: int, staleness: int, seed: int = 0) -> tuple[float, float, float, float]:
    """Seconds per step, idle share of the generators and of the trainer, and the mean age of a rollout in updates."""
    rng = random.Random(seed)
    generators = hosts * setting.generators_per_host
    share = setting.rollouts * setting.tokens_per_rollout / setting.tokens_per_second / generators
    free = [0.0] * generators
    updated = [0.0]  # when update i was done; the weights before any are everywhere
    arrived: list[dict[int, int]] = [{} for _ in range(hosts)]
    busy, learning, age = 0.0, 0.0, 0.0
    for step in range(STEPS):
        begun = updated[max(0, step - staleness)]
        ends = []
        for generator in range(generators):
            host = generator // setting.generators_per_host
            start = max(begun, free[generator])
            version = bisect_right(updated, start) - 1
            if version not in arrived[host] and version > 0:  # the link serves one host after the other
                start = max(start, updated[version] + (host + 1) * setting.sync_seconds)
                arrived[host][version] = 1
            took = share * rng.lognormvariate(-(setting.spread**2) / 2, setting.spread)
            busy += took
            free[generator] = start + took
            ends.append(free[generator])
            age += step - version
        updated.append(max(updated[-1], *ends) + setting.learn_seconds)
        learning += setting.learn_seconds
    total = updated[-1]
    return total / STEPS, 1 - busy / (total * generators), 1 - learning / total, age / (STEPS * generators)


def table(setting: Setting) -> list[Result]:
    base = simulate(setting, 1, 0)[0]
    found = []
    for staleness in STALENESS:
        for hosts in HOSTS:
            seconds, idle, waiting, age = simulate(setting, hosts, staleness)
            sent = hosts * setting.parameters * setting.bytes_per_parameter / 1e9
            found.append(Result(hosts, staleness, seconds, base / seconds, idle, waiting, age, sent))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in asdict(Setting()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    parser.add_argument("--json", action="store_true")
    asked = vars(parser.parse_args())
    as_json = asked.pop("json")
    setting = Setting(**asked)
    results = table(setting)
    if as_json:
        print(json.dumps({"setting": asdict(setting), "results": [asdict(r) for r in results]}))
        return
    console = Console(width=110)
    console.print(
        f"weights to one host {setting.sync_seconds:.2f} s, learning {setting.learn_seconds:.1f} s a step, "
        f"{setting.containers_per_generator:.2f} containers per generator"
    )
    shown = Table(box=box.SIMPLE_HEAD)
    for heading in (
        "staleness",
        "hosts",
        "s/step",
        "speed-up",
        "generators idle",
        "trainer idle",
        "mean age",
        "GB sent/step",
    ):
        shown.add_column(heading, justify="right")
    for r in results:
        shown.add_row(
            str(r.staleness), str(r.hosts), f"{r.seconds_per_step:.1f}", f"{r.speed_up:.1f}",
            f"{r.generators_idle:.0%}", f"{r.trainer_idle:.0%}", f"{r.mean_age:.2f}", f"{r.gigabytes_sent:.0f}",
        )  # fmt: skip
    console.print(shown)


if __name__ == "__main__":
    main()
