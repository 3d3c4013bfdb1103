"""KolmogorovEnv: write a program line by line until its value is the target.

State: the program so far. Action: one line. It is the readable reference; `judge.py` is the batched twin that training
uses, and a test holds them equal.
"""

from __future__ import annotations

from kolmocli.sandbox.base import Sandbox, Status
from kolmocli.tasks.base import Task
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import RewardRule


class KolmogorovEnv:
    """The environment as textbooks have it: `reset`, then `step(line)` until done, or `stop()` short of that.

    The reward is 0 until an episode ends: with the value of a line, with a line that fails, with the last
    line that is allowed, or with the decision to stop. Blank lines are no statements and change nothing.
    """

    def __init__(self, sandbox: Sandbox, rule: RewardRule, max_lines: int) -> None:
        self.sandbox = sandbox
        self.rule = rule
        self.max_lines = max_lines

    def reset(self, task: Task) -> str:
        """Start with an empty program and return it."""
        self.task = task
        self.lines: list[str] = []
        return ""

    def step(self, line: str) -> tuple[str, float | None, bool]:
        """Add a line, run the program, and return (program so far, reward, done).

        A line that is not of the language or does not run ends the episode. The reward is None when the
        sandbox failed.
        """
        self.lines.append(line)
        text = "\n".join(self.lines)
        if not line.strip(" "):
            return text, 0.0, False
        outcome = self._judge(text)
        statements = sum(bool(line.strip(" ")) for line in self.lines)
        done = outcome.passed or outcome.status is not Status.OK or statements >= self.max_lines
        return text, outcome.reward if done else 0.0, done

    def stop(self) -> float | None:
        """End the program as it is, short of the target, and return the reward of that."""
        return self._judge("\n".join(self.lines)).reward

    def _judge(self, text: str) -> Outcome:
        self.outcome = judge([self.task], [text], self.sandbox, Terms(self.rule, self.max_lines))[0]
        return self.outcome
