"""Returns and advantages by a value head, and what a rollout stands for that was nearly stopped.

V was fitted before the rollout was sampled and sees nothing of the line that begins in its state: taken off as a
baseline it adds nothing to the expected gradient, however wrong it is.

Where a rollout looked hopeless it went on with probability q only (`policy/roulette.py`). Had the rest of it come to G,
the lines before are told V + (G − V)/q when it went on, and V when it did not: G on average. The lines after are written
with probability q and weigh 1/q. So the expected gradient is that of rollouts that are never stopped, for any V again.
"""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.policy.rollout import Rollout
from kolmocli.policy.roulette import SURVIVES


def valued(rewards: Sequence[float], gamma: float, rollout: Rollout) -> tuple[list[float], list[float]]:
    """Return and advantage of each line of the episode, from the rewards of the lines.

    A line without tokens has no state: its advantage is that of nobody.
    """
    values = {rollout.lines[t]: rollout.values[t] for t in rollout.starts}
    spared = {rollout.lines[t] for t in rollout.spared}
    returns, after = [0.0] * len(rewards), 0.0
    for line in reversed(range(len(rewards))):
        if rollout.stopped is not None and rollout.stopped[0] == line:
            returns[line] = after = rollout.stopped[1]
            continue
        returns[line] = rewards[line] + gamma * after
        after = values[line] + (returns[line] - values[line]) / SURVIVES if line in spared else returns[line]
    advantages, stands_for = [], 1.0
    for line, came_to in enumerate(returns):
        stands_for /= SURVIVES if line in spared else 1.0
        advantages.append(stands_for * (came_to - values.get(line, 0.0)))
    return returns, advantages


def valued_group(
    rewards: Sequence[Sequence[float] | None], gamma: float, rollouts: Sequence[Rollout]
) -> tuple[list[list[float]], list[list[float]]]:
    """`valued` for every rollout of a group; nothing of one that the sandbox lost, whose rewards are None."""
    found = [([], []) if r is None else valued(r, gamma, rollout) for r, rollout in zip(rewards, rollouts, strict=True)]
    returns, advantages = zip(*found, strict=True)
    return list(returns), list(advantages)
