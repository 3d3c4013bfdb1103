"""The process of a generator: its policy, its judge, and a watch on the trainer.

Imported by every process of the fleet, so it is light: what is heavy is imported when the policy is loaded.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from monarch.actor import Actor, endpoint

from kolmocli.engine.monarch.messages import GeneratorSettings, Shard, ShardResult, Startup
from kolmocli.errors import KolmoError

if TYPE_CHECKING:
    from kolmocli.config.machine import SandboxSection

ABANDONED_AFTER = 60.0
"""Seconds without a word from the trainer after which a generator ends itself: its host was cut off, or the trainer died."""


class Generator(Actor):
    """One policy with its judge. Its endpoints run one after the other."""

    def __init__(self, settings: GeneratorSettings, generators_here: int) -> None:
        self._settings = settings
        self._generators_here = generators_here
        self._engine: Any = None
        self._version = -1
        self.loading = False
        _here.append(self)

    @endpoint
    def ready(self) -> Startup:
        """Load the policy and open the judge. An error that a user can fix comes back as a line, not as a traceback."""
        self.loading = True
        from kolmocli.engine.judging import open_judge
        from kolmocli.engine.opening import open_local_engine
        from kolmocli.learning.trained import load_trained

        warnings: list[str] = []
        asked = self._settings
        sandbox = None if asked.sandbox is None else _part_of_host(asked.sandbox, self._generators_here)
        backend = "auto" if sandbox is None else sandbox.backend
        try:
            _share_threads(self._generators_here)
            policy = load_trained(
                asked.model, asked.training, seed=asked.seed, adapter_rank=asked.adapter_rank, alphabet=asked.alphabet,
                warn=warnings.append,
            )  # fmt: skip
            judge = open_judge(asked.reward, asked.training.max_lines, sandbox, backend, warnings.append, asked.most)
            self._engine = open_local_engine(policy, judge, asked.training, asked.model)
        except KolmoError as error:
            return Startup(os.getpid(), error=(error.exit_code, str(error)))
        finally:
            self.loading = False
        return Startup(os.getpid(), self._engine.health(), warnings)

    @endpoint
    def load(self, file: Path, version: int) -> None:
        """Take the weights that lie there, unless these are known."""
        from kolmocli.engine.monarch.weights import take

        if version != self._version:
            take(self._engine.policy, file)
            self._version = version

    @endpoint
    def write(self, shard: Shard) -> ShardResult:
        """Sample programs for these tasks and have them judged."""
        from kolmocli.engine.base import Request

        self._engine.temperature = shard.temperature
        done = self._engine.sample(Request(shard.tasks, shard.samples, shard.seed), first=shard.first)
        groups = [(group.rollouts, group.outcomes) for group in done.groups]
        return ShardResult(groups, self._version, done.cost, self._engine.health())

    def give_back(self) -> None:
        """The sandbox, which may hold containers."""
        if self._engine is not None:
            self._engine.close()


class Pulse(Actor):
    """Answers at any time, from the process of the generator, that it lives; and ends it when no trainer asks any more."""

    def __init__(self) -> None:
        self._asked = time.monotonic()
        threading.Thread(target=self._watch, name="kolmo-pulse", daemon=True).start()

    @endpoint
    def beat(self) -> None:
        self._asked = time.monotonic()

    @endpoint
    def end(self) -> None:
        """End this process, whatever the generator is at."""
        _give_back()
        threading.Timer(0.1, os._exit, (0,)).start()  # after the answer

    def _watch(self) -> None:
        while time.monotonic() - self._asked < ABANDONED_AFTER:
            if any(generator.loading for generator in _here):
                self._asked = time.monotonic()  # imports hold up every other thread: no question could be heard
            time.sleep(1.0)
        _give_back()
        os._exit(1)


_here: list[Generator] = []
"""The generator of this process."""


def _give_back() -> None:
    for generator in _here:
        generator.give_back()


class WeightReceiver(Actor):
    """One per other host: receives the weights for all generators there, and lays them where these find them."""

    def __init__(self) -> None:
        from kolmocli.engine.monarch.weights import WeightFile

        self._weights = WeightFile()

    @endpoint
    def put(self, content: bytes) -> Path:
        self._weights.put_bytes(content)
        return self._weights.file

    @endpoint
    def close(self) -> None:
        self._weights.clear()
        threading.Timer(0.1, os._exit, (0,)).start()  # after the answer


def _part_of_host(sandbox: SandboxSection, generators_here: int) -> SandboxSection:
    """The sandbox of one of several generators on a host: each has its part of the workers."""
    if generators_here == 1:
        return sandbox
    workers = sandbox.workers or max(1, (os.cpu_count() or 1) // generators_here)
    return sandbox.model_copy(update={"workers": workers})


def _share_threads(generators_here: int) -> None:
    import torch

    torch.set_num_threads(max(1, torch.get_num_threads() // generators_here))
