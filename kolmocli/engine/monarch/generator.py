"""What runs in the process of a generator: its policy, its judge, and a watch on whoever trains.

Imported by every process of the fleet, so it is light: what is heavy is imported when the policy is loaded.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from monarch.actor import Actor, endpoint

from kolmocli.config import Config
from kolmocli.engine.monarch.share import Ready, Share, Written
from kolmocli.errors import KolmoError

ABANDONED_AFTER = 60.0
"""Seconds without a word from the trainer after which a generator ends itself: its host was cut off, or the trainer died."""


class Generator(Actor):
    """One policy with its judge. Its endpoints run one after the other."""

    def __init__(self, config: Config, generators_here: int) -> None:
        self._config = _share_of_host(config, generators_here)
        self._generators_here = generators_here
        self._engine: Any = None
        self._version = -1
        self.loading = False
        _here.append(self)

    @endpoint
    def ready(self) -> Ready:
        """Load the policy and open the judge. What a user can mend comes back as a line, not as a traceback."""
        self.loading = True
        from kolmocli.engine.local import open_engine
        from kolmocli.policy.trained import load_trained

        warnings: list[str] = []
        try:
            _share_threads(self._generators_here)
            policy = load_trained(self._config)
            self._engine = open_engine(self._config, policy, self._config.sandbox.backend, warnings.append)
        except KolmoError as error:
            return Ready(os.getpid(), error=(error.exit_code, str(error)))
        finally:
            self.loading = False
        return Ready(os.getpid(), self._engine.health(), warnings)

    @endpoint
    def load(self, file: Path, version: int) -> None:
        """Take the weights that lie there, unless these are known."""
        from kolmocli.engine.monarch.weights import take

        if version != self._version:
            take(self._engine.policy, file)
            self._version = version

    @endpoint
    def write(self, share: Share) -> Written:
        """Sample programs for these tasks and have them judged."""
        done = self._engine.collect(share.tasks, samples=share.samples, seed=share.seed, first=share.first)
        groups = [(group.rollouts, group.outcomes) for group in done.groups]
        return Written(
            groups, self._version, done.tokens, done.rollout_seconds, done.execute_seconds, self._engine.health()
        )

    def give_back(self) -> None:
        """The sandbox, which may hold containers."""
        if self._engine is not None:
            self._engine.close()


class Pulse(Actor):
    """Answers at any time, from the process of the generator, that it lives; and ends it when nobody asks any more."""

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
                self._asked = time.monotonic()  # imports hold up every other thread: nobody could be heard
            time.sleep(1.0)
        _give_back()
        os._exit(1)


_here: list[Generator] = []
"""The generator of this process."""


def _give_back() -> None:
    for generator in _here:
        generator.give_back()


class Depot(Actor):
    """One per other host: receives the weights for all generators there, and lays them where these find them."""

    def __init__(self) -> None:
        from kolmocli.engine.monarch.weights import Shelf

        self._shelf = Shelf()

    @endpoint
    def put(self, content: bytes) -> Path:
        self._shelf.put_bytes(content)
        return self._shelf.file

    @endpoint
    def close(self) -> None:
        self._shelf.clear()
        threading.Timer(0.1, os._exit, (0,)).start()  # after the answer


def _share_of_host(config: Config, generators_here: int) -> Config:
    """The configuration of one of so many generators on a host: each has its part of the workers of the sandbox."""
    workers = config.sandbox.workers or max(1, (os.cpu_count() or 1) // generators_here)
    if generators_here == 1:
        return config
    return config.model_copy(update={"sandbox": config.sandbox.model_copy(update={"workers": workers})})


def _share_threads(generators_here: int) -> None:
    import torch

    torch.set_num_threads(max(1, torch.get_num_threads() // generators_here))
