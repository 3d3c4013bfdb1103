"""Pass-rate control over the prompts of your own data set, in TRL's GRPOTrainer or RLOOTrainer, 1.9 or newer.

    class Trainer(PassRateMixin, GRPOTrainer): ...

    trainer = Trainer(
        model, reward_funcs=right, train_dataset=prompts, prompts=PassRateSampler(prompts, level="level"),
        args=GRPOConfig(..., max_steps=200),
    )

`Lessons` of `trl.py` is for families that make tasks; this is for a finite set of prompts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from accelerate.utils import gather_object
from datasets import Dataset
from torch.utils.data import Sampler
from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from kolmocli.errors import UsageError
from kolmocli.integrations.torch import PassRateSampler

COLUMN = "kolmo_prompt"
"""Column of the training set with the number of the prompt."""
PASSED = 0.5
"""A rollout passes whose reward is above this."""


class PassRateMixin:
    """Before a trainer of TRL among the bases: it takes the order of its prompts from `prompts`.

    Args:
        prompts: made for `train_dataset`. The trainer tells it what came of every prompt, once per update.
        judge: the number of the reward function that says pass or fail: above 0.5 is a pass, None no result.

    Raises:
        UsageError: in a configuration in which the sampler would not steer what is sampled.
    """

    def __init__(
        self, *arguments: Any, train_dataset: Any, args: Any, prompts: PassRateSampler, judge: int = 0, **keywords: Any
    ) -> None:
        if not isinstance(train_dataset, Dataset):
            raise UsageError(
                "train_dataset: prompts are drawn by their numbers; give a Hugging Face Dataset, not a stream"
            )
        if len(train_dataset) != len(prompts):
            raise UsageError(f"prompts is for {len(prompts):,} prompts, and train_dataset has {len(train_dataset):,}")
        if args is None or args.max_steps <= 0:
            raise UsageError("the sampler never ends; set max_steps in args")
        self._callback = PassRateCallback(prompts)
        self._judge = judge
        super().__init__(  # type: ignore[call-arg]  # of the trainer, which stands behind this class
            *arguments,
            train_dataset=train_dataset.add_column(COLUMN, list(range(len(train_dataset)))),
            args=args,
            callbacks=[*(keywords.pop("callbacks", None) or []), self._callback],
            **keywords,
        )
        count = len(self.reward_funcs)  # type: ignore[attr-defined]
        if not 0 <= judge < count:
            raise UsageError(f"judge={judge}: the trainer has {count} reward functions, counted from 0")

    def _get_train_sampler(self, dataset: Any = None) -> Sampler[int]:
        usual = super()._get_train_sampler(dataset)  # type: ignore[misc]
        return _Repeated(self._callback.prompts, usual.batch_size, usual.mini_repeat_count, usual.repeat_count)

    def _calculate_rewards(self, inputs: Any, *arguments: Any) -> torch.Tensor:
        rewards_NF: torch.Tensor = super()._calculate_rewards(inputs, *arguments)  # type: ignore[misc]
        if self.model.training:  # type: ignore[attr-defined]
            # Rewards of all processes come back in their order, and so do the numbers.
            self._callback.hear(gather_object([row[COLUMN] for row in inputs]), rewards_NF[:, self._judge])
            for name, value in self._callback.prompts.metrics().items():
                self._log_metric(f"kolmo/{name}", value)  # type: ignore[attr-defined]
        return rewards_NF


class _Repeated(Sampler[int]):
    """Draws in the shape of TRL's `RepeatSampler`: `groups` prompts, `samples` times each, and all of that `repeats` times."""

    def __init__(self, prompts: PassRateSampler, groups: int, samples: int, repeats: int) -> None:
        self._prompts, self._groups, self._samples, self._repeats = prompts, groups, samples, repeats

    def __len__(self) -> int:
        return sys.maxsize  # one epoch, so that no prompt that was read ahead is lost at its end

    def __iter__(self) -> Iterator[int]:
        draws = iter(self._prompts)
        while True:
            chunk = [next(draws) for _ in range(self._groups)]
            for _ in range(self._repeats):
                yield from (prompt for prompt in chunk for _ in range(self._samples))


class PassRateCallback(TrainerCallback, ExportableState):
    """Tells the sampler what came of its prompts, and keeps its state in every checkpoint."""

    def __init__(self, prompts: PassRateSampler) -> None:
        self.prompts = prompts
        self._passes: Counter[int] = Counter()
        self._rollouts: Counter[int] = Counter()
        """By prompt, for the present version of the policy; 0 for a prompt whose rollouts were all lost."""

    def hear(self, numbers: list[int], rewards_N: torch.Tensor) -> None:
        for number, reward in zip(numbers, rewards_N.tolist(), strict=True):
            self._passes[number] += reward > PASSED
            self._rollouts[number] += reward == reward  # NaN: not judged

    def on_init_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if args.restore_callback_states_from_checkpoint:
            raise UsageError("restore_callback_states_from_checkpoint: the sampler restores itself; remove it")
        if args.remove_unused_columns:
            raise UsageError("TRL would drop the column that names a prompt; set remove_unused_columns=False")
        args.ignore_data_skip = True  # a resumed run goes on with the state below; to skip would be to draw for nothing

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Raises UsageError where the checkpoint has no state of a sampler, or that of another data set."""
        if state.global_step:
            kept: Mapping[str, Any] | None = state.stateful_callbacks.get(type(self).__name__)
            if not isinstance(kept, Mapping) or "prompts" not in kept:
                raise UsageError(
                    f"the checkpoint of step {state.global_step} has no state of a PassRateSampler; begin again"
                )
            self.prompts.load_state_dict(kept["prompts"])

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One observation for each version of the policy that sampled something."""
        if self._rollouts:
            numbers = list(self._rollouts)
            self.prompts.observe(
                numbers, [self._passes[number] for number in numbers], [self._rollouts[number] for number in numbers]
            )
            self._passes.clear()
            self._rollouts.clear()

    def state(self) -> dict[str, Any]:
        """Plain JSON, in `trainer_state.json`."""
        return {"prompts": self.prompts.state_dict()}
