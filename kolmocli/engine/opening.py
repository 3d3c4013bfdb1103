"""Open the engine of one process, with the sampler that the configuration names."""

from __future__ import annotations

from kolmocli.config import Training
from kolmocli.config.machine import Model
from kolmocli.engine.local import LocalEngine
from kolmocli.pace import Pace
from kolmocli.policy.policy import Policy
from kolmocli.policy.vllm import open_vllm
from kolmocli.tasks.judging import Judge


def open_local_engine(
    policy: Policy, judge: Judge, training: Training, model: Model, pace: Pace | None = None
) -> LocalEngine:
    """The engine of a run or an evaluation. The judge is its own to close.

    Raises what `open_vllm` does, where vLLM was asked for; the judge is closed then.
    """
    if model.sampler == "vllm":
        try:
            policy.sampler = open_vllm(policy, model.sampler_memory)
        except BaseException:
            judge.close()
            raise
    return LocalEngine(policy, judge, training.max_new_tokens, training.temperature, pace)
