"""`kolmo eval`: a policy on held-out tasks, as one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.config_file import load_config
from kolmocli.engine.local import LocalEngine
from kolmocli.environment import Outcome
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import attempt, held_out_tasks
from kolmocli.evaluation.metrics import best_of, pass_at_k, summarise
from kolmocli.monitor.live import shared_console
from kolmocli.paths import find_curriculum
from kolmocli.policy.loading import load_policy
from kolmocli.sandbox import Limits, open_sandbox
from kolmocli.tasks.base import Task
from kolmocli.tasks.sources import evaluation_source
from kolmocli.training.state import derived_seed


def evaluate(
    target: str,
    *,
    curriculum: str | None,
    data: str | None,
    samples: int,
    tasks: int | None,
    seed: int | None,
    device: str,
    sandbox: str,
) -> dict[str, Any]:
    """The report of `summarise`, with `model`, `samples` and, for several samples, `pass_at_k`.

    One sample is greedy. Several are drawn at temperature 1; a task then counts by its best one.

    Raises:
        UsageError: no model under that name, or nothing that says which tasks to use.
    """
    config = _config(target, curriculum, data)
    if data is not None:
        config = config.model_copy(update={"data": config.data.model_copy(update={"eval": data})})
    warn = shared_console().print
    policy = load_policy(target, device=device, seed=config.seed)
    chosen = held_out_tasks(evaluation_source(config, warn), tasks or config.evaluation.tasks)
    limits = Limits(config.sandbox.cpu_ms, config.sandbox.wall_ms, config.sandbox.memory_mb)
    workers, runtime = config.sandbox.workers or None, config.sandbox.runtime
    box = open_sandbox(sandbox, limits=limits, workers=workers, warn=warn, runtime=runtime)
    engine = LocalEngine(config, policy, box)
    try:
        sampling = None if samples == 1 else derived_seed(config.seed if seed is None else seed, "eval")
        attempts = attempt(engine, chosen, samples=samples, seed=sampling)
    finally:
        engine.close()
    report = summarise([(task, best_of(outcomes)) for task, outcomes in attempts])
    return {"model": target, "samples": samples, **_pass_at(attempts, samples), **report}


def _pass_at(attempts: list[tuple[Task, list[Outcome]]], samples: int) -> dict[str, Any]:
    if samples == 1:
        return {}
    judged = [[o for o in outcomes if o.reward is not None] for _, outcomes in attempts]
    whole = [o for o in judged if len(o) == samples]
    ks = sorted({1, samples} | {2**i for i in range(samples.bit_length()) if 2**i <= samples})
    rates = {
        str(k): sum(pass_at_k(samples, sum(o.passed for o in group), k) for group in whole) / len(whole)
        for k in ks
        if whole
    }
    return {"pass_at_k": rates}


def _config(target: str, curriculum: str | None, data: str | None) -> Config:
    """The named curriculum; else the run's own; else, for a data file, the quickstart's settings."""
    if curriculum is not None:
        return load_config(find_curriculum(curriculum), {})
    own = Path(target) / "config.yaml"
    if own.is_file():
        return load_config(own, {})
    if data is not None:
        return load_config(find_curriculum("quickstart"), {})
    raise UsageError(f"{target} is not a run: name its tasks with --curriculum or --data")
