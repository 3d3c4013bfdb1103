"""The sections for learning: the warm start, REINFORCE, and its evaluation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kolmocli.config.baselines import BaselineName
from kolmocli.section import MOST, Count, Positive, Rate, Section, Share

OptimiserKind = Literal["adamw", "adamw8bit"]


class Warmup(Section):
    """Supervised warm start on the easiest levels, from reference programs."""

    until: Share = Field(0.5, description="stop when this share of sampled programs passes on the warm-up levels")
    levels: Positive = Field(1, description="how many of the easiest levels of each family are taught")
    easing: Share = Field(
        0.0, description="share of max_steps over which the levels open, one after another; 0: all at once"
    )
    max_steps: Count = Field(600, description="stop here in any case; 0 skips the warm start")
    check_every: Positive = Field(25, description="steps between measurements of the pass rate")
    batch_size: Positive = Field(64, description="reference programs per step")
    learning_rate: Rate = Field(4e-3, description="falls to zero over max_steps")
    transcripts: Share = Field(
        0.0,
        description="share of the references for which the segments of the sequence, written down as a program, are taught "
        "instead: right for every sequence, and seldom the shortest; 0: none",
    )
    replay: Share = Field(
        0.0,
        description="reference programs of the same levels that every REINFORCE step teaches too, as a share of its "
        "rollouts; 0: none",
    )


USUAL_RANK = 16
COOLEST, HOTTEST = 0.01, 100.0
"""Bounds of a sampling temperature: there is no greedy training."""


class Lora(Section):
    """Low-rank adapters on every linear layer but the output head (Hu et al. 2021, arXiv 2106.09685)."""

    rank: Annotated[int, Field(ge=0, le=MOST)] | None = Field(
        None,
        description="rank of the adapters (LoRA) that are trained instead of the weights; 0: the weights are trained "
        f"(default: {USUAL_RANK} for a model in 8 bits, else 0)",
    )
    alpha: Positive = Field(32, description="an adapter's output is scaled by alpha / rank")


class EntropyTarget(Section):
    """How unsure the policy is kept of its answers, and by what."""

    nats: float | None = Field(None, gt=0, description="entropy to hold, in nats a token: `entropy` of metrics.jsonl")
    share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="entropy to hold, as a share of what the first step measures"
    )
    signal_share: Annotated[float, Field(gt=0, le=1)] | None = Field(
        None, description="S to hold in place of the entropy: `signal_share` of metrics.jsonl"
    )
    by: Literal["bonus", "temperature"] = Field(
        "bonus", description="what moves: the weight of the entropy in the loss, from entropy_bonus, or the temperature"
    )
    bounds: tuple[float, float] | None = Field(
        None, description="where it may move (default: 0 to 0.3; temperature: 0.7 to 1.5)"
    )
    gain: Annotated[float, Field(gt=0, le=1)] = Field(
        0.05, description="how far a step moves it at most, as a share of the way between the bounds"
    )

    @property
    def range(self) -> tuple[float, float]:
        return self.bounds or ((0.0, 0.3) if self.by == "bonus" else (0.7, 1.5))

    @model_validator(mode="before")
    @classmethod
    def _a_bare_number(cls, data: Any) -> Any:
        if isinstance(data, int | float | str):
            raise ValueError(f"{data!r} of what? write {{nats: 0.8}} or {{share: 0.5}}")
        return data

    @model_validator(mode="after")
    def _one_target(self) -> EntropyTarget:
        targets = ("nats", "share", "signal_share")
        given = [name for name in targets if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"has {' and '.join(given) or 'no target'}; set one of {', '.join(targets)}")
        return self

    @model_validator(mode="after")
    def _room_to_move(self) -> EntropyTarget:
        low, high = self.range
        if low >= high:
            raise ValueError(f"bounds: {low:g} is not below {high:g}; write the lower one first")
        if self.by == "bonus" and low < 0:
            raise ValueError(f"bounds: a bonus is 0 or more, got {low:g}; below it the policy would be made sure")
        if self.by == "temperature" and (low < COOLEST or high > HOTTEST):
            raise ValueError(f"bounds: a temperature is {COOLEST:g} to {HOTTEST:g}, got {low:g} to {high:g}")
        return self


class Training(Section):
    steps: Count = Field(100, description="REINFORCE steps")
    stop_when: Literal["mastered"] | None = Field(
        None,
        description="end the run once every family was mastered for 10 steps in a row; the learning rate falls as planned",
    )
    batch_size: Positive = Field(128, description="rollouts per step")
    group_size: Annotated[int, Field(ge=2, le=MOST)] = Field(8, description="rollouts per task (G)")
    learning_rate: Rate = Field(3e-4, description="highest learning rate of the run; see ramp_steps and schedule")
    ramp_steps: Count = Field(5, description="steps that the learning rate rises over")
    schedule: Literal["linear", "cosine", "constant"] = Field(
        "linear", description="how the learning rate falls to zero, or that it stays"
    )
    optimizer: OptimiserKind = Field(
        "adamw", description="adamw8bit keeps the moments in 8 bits: a quarter of the memory"
    )
    lora: Lora = Field(default_factory=Lora)
    gamma: Share = Field(1.0, description="discount per line")
    baseline: BaselineName = Field(
        "rloo",
        description="what a return is compared with: rloo with the mean of the others, value with what a value head "
        "expects where the line begins; grpo (divided by the group's deviation) and maxrl (by its mean) are there for "
        "comparison",
    )
    per_token: bool = Field(
        False,
        description="mean instead of sum of a rollout's log-probabilities in the loss: keeps long answers from drowning the "
        "others, at the price of a bias by length",
    )
    updates: Positive = Field(
        1,
        description="optimiser steps per batch, each on its share of the groups: all but the first learn from rollouts of an "
        "older policy (see ratio_cap)",
    )
    max_grad_norm: float = Field(
        1.0, gt=0, allow_inf_nan=True, description="longer gradients are scaled down to this; .inf: none is"
    )
    best_of: Positive = Field(
        1,
        description="sample this many times group_size rollouts and learn from group_size of them, passes and failures "
        "evenly, each weighted by how many it stands for",
    )
    temperature: float = Field(
        1.0,
        ge=COOLEST,
        le=HOTTEST,
        description="sampling temperature; all log-probabilities, those of answers too, are taken at it",
    )
    max_lines: Positive = Field(12, description="lines of a program at most")
    max_new_tokens: Positive = Field(128, description="tokens of a program at most")
    noise_every: Count = Field(
        10,
        description="steps between measurements of the gradient's noise, for which groups are learned one by one; 0, or "
        "several updates per batch: never",
    )
    entropy_bonus: float = Field(0.0, ge=0.0, description="weight of the mean entropy per rollout in the loss")
    entropy_target: EntropyTarget | None = Field(
        None,
        description="hold the entropy, or S, at a target, by a bonus or a temperature that moves; null: nothing is held",
    )
    kl: float = Field(
        0.0,
        ge=0.0,
        description="weight of the divergence from the model that the run began with (adapters: from its base)",
    )
    ratio_cap: float | None = Field(
        None,
        ge=1.0,
        description="truncated importance sampling, for rollouts of an older policy: a token's weight times its "
        "probability now over that when it was sampled, but at most this (default: 2 with engine.max_staleness, several "
        "updates or the sampler vllm, else none)",
    )
    gradient_checkpointing: bool = Field(
        False, description="compute every layer again for the backward pass: less memory, more time"
    )
    deterministic: bool = Field(
        False,
        description="on a GPU: use the deterministic form of every operation that has one, so that one seed gives one run; "
        "on a CPU this is always on",
    )
    hindsight: float = Field(
        0.0, ge=0.0, description="weight of programs that ran and missed, as right answers to what they really make"
    )

    @model_validator(mode="after")
    def _whole_groups(self) -> Training:
        if self.batch_size % self.group_size:
            raise ValueError(f"batch_size {self.batch_size} is not a multiple of group_size {self.group_size}")
        return self

    @model_validator(mode="after")
    def _begins_within_its_bounds(self) -> Training:
        if (held := self.entropy_target) is not None:
            key = "entropy_bonus" if held.by == "bonus" else "temperature"
            (low, high), start = held.range, getattr(self, key)
            if not low <= start <= high:
                raise ValueError(
                    f"{key}: {start:g} is where entropy_target begins, and its bounds are {low:g} to {high:g}; "
                    "change either"
                )
        return self


class EvaluationSettings(Section):
    tasks: Positive = Field(600, description="held-out tasks, spread evenly over all buckets")
    every: Count = Field(0, description="RL steps between evaluations; 0: before and after only")
