"""KolmogorovEnv: write a program line by line until its value is the target.

    env = kolmo.make_env("quickstart")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step("sequence_1 = range_func_up(3, 9)")

State: the target and the program so far. Action: one line. It is the readable reference; `judge.py` is the batched twin
that training uses, and a test holds them equal. Where gymnasium is installed this is one of its environments.
"""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING, Any

from kolmocli.errors import KolmoError
from kolmocli.sandbox.base import Sandbox, Status
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms

if TYPE_CHECKING:
    Environment = object
else:
    try:
        from gymnasium import Env as Environment
    except ImportError:
        Environment = object

STOP = "stop"
"""The action that ends a program as it is, short of the target. It is no line of any program."""
_LONGEST = 1 << 16
"""Characters of an observation."""


class KolmogorovEnv(Environment):
    """The environment as textbooks have it: `reset`, then `step(line)` until terminated.

    The reward is 0 until an episode ends: with the value of a line, with a line that fails, with the last line that is
    allowed, or with `STOP`. Blank lines are no statements and change nothing. A fault of the sandbox is no
    reward: it truncates the episode, and `info["fault"]` names it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it
    render_mode = None

    def __init__(self, sandbox: Sandbox, terms: Terms, source: TaskSource | None = None) -> None:
        """`source` is where tasks come from that `reset` is not given."""
        self.sandbox, self.terms, self.source = sandbox, terms, source
        self.task: Task | None = None
        self.outcome: Outcome | None = None
        """The outcome of the program so far."""
        self._lines: list[str] = []
        self._over = True
        if Environment is not object:
            from gymnasium import spaces

            characters = frozenset(string.printable)
            self.observation_space = spaces.Text(_LONGEST, min_length=0, charset=characters)
            self.action_space = spaces.Text(256, min_length=0, charset=characters - {"\n"})

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start with an empty program. The task is `options["task"]`, else one that is drawn by `seed`.

        Raises:
            KolmoError: there is neither a task nor a source of some.
        """
        if Environment is not object:
            super().reset(seed=seed)  # type: ignore[misc]
        if seed is not None or not hasattr(self, "_random"):
            self._random = random.Random(seed)
        self.task = (options or {}).get("task") or self._draw()
        self._lines, self._over, self.outcome = [], False, None
        return self._observation(), {"task": self.task}

    def step(self, line: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Add a line, run the program, and return (observation, reward, terminated, truncated, info).

        A line that is not of the language or does not run ends the episode.

        Raises:
            KolmoError: the episode is over, or none has begun.
        """
        if self._over or self.task is None:
            raise KolmoError(
                "the episode is over: reset the environment" if self.task else "reset the environment first"
            )
        if line != STOP:
            self._lines.append(line)
            if not line.strip(" "):
                return self._observation(), 0.0, False, False, {}
        text = "\n".join(self._lines)
        outcome = self.outcome = judge([self.task], [text], self.sandbox, self.terms)[0]
        if outcome.reward is None:
            self._over = True
            return self._observation(), 0.0, False, True, {"fault": outcome.status.value}
        statements = sum(bool(line.strip(" ")) for line in self._lines)
        failed = outcome.status is not Status.OK
        self._over = line == STOP or outcome.passed or failed or statements >= self.terms.max_lines
        info = {"passed": outcome.passed, "status": outcome.status.value, "bits": outcome.bits}
        return self._observation(), outcome.reward if self._over else 0.0, self._over, False, info

    def close(self) -> None:
        """Give the sandbox back."""
        self.sandbox.close()

    def _observation(self) -> str:
        assert self.task is not None
        return "\n".join([f"# {self.task.asked.shortest}", *self._lines])[:_LONGEST]

    def _draw(self) -> Task:
        if self.source is None:
            raise KolmoError('reset needs options={"task": ...}: this environment was made without a source of tasks')
        bucket = self._random.choice(self.source.buckets())
        return self.source.task(bucket, self._random.randrange(1 << 20))
