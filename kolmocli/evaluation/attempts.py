"""Evaluate a policy by name: load it, judge its programs, and close all again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kolmocli.config import Config
from kolmocli.engine.judging import fitted, open_judge
from kolmocli.engine.opening import open_local_engine
from kolmocli.evaluation.heldout import attempt
from kolmocli.pace import Pace
from kolmocli.policy.loading import load_policy
from kolmocli.policy.order import sums_in_order
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.base import Task
from kolmocli.tasks.outcome import Outcome


def attempts_by(
    model: str,
    tasks: Sequence[Task],
    config: Config,
    *,
    samples: int,
    seed: int | None,
    device: str,
    sandbox: Backend,
    warn: Callable[[str], None],
    pace: Pace | None = None,
) -> list[tuple[Task, list[Outcome]]]:
    """`attempt`, with a sandbox only where there are programs to run. `pace` counts the rollouts.

    Raises:
        UsageError: no model under that name, or one with too few positions for these tasks.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
    """
    policy = load_policy(model, device=device, seed=config.seed, alphabet=config.alphabet, warn=warn)
    policy.require_room((policy.prompt_ids(t.asked, t.prefix) for t in tasks), config.training.max_new_tokens)
    run_in = config.sandbox if any(task.language != "text" for task in tasks) else None
    run_in, most = fitted(run_in, tasks)
    judge = open_judge(config.reward, config.training.max_lines, run_in, sandbox, warn, most)
    engine = open_local_engine(policy, judge, config.training, config.model, pace)
    try:
        with sums_in_order(policy.model.device.type, config.training.deterministic, warn):
            return attempt(engine, tasks, samples=samples, seed=seed)
    finally:
        engine.close()
