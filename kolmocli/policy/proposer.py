"""Programs for sequences, from a policy: what `kolmo compress --model` asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from kolmocli.checkpoints import silent
from kolmocli.language.answers import program_in_place
from kolmocli.language.program import LineParser, Program, ProgramError
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.tasks.sequences.prompt import sequence_prompt

TEMPERATURES = (1.0, 0.7, 1.3)
"""The ladder of the samples. Low ones repeat the likely programs, high ones reach those that a sure policy never writes;
which of them is right differs from target to target, and a wrong sample costs only time."""
_MAX_NEW_TOKENS = 256
_TARGETS_AT_ONCE = 64


@dataclass
class PolicyProposer:
    """Proposals are unverified: execute one and compare before you use it."""

    policy: Policy

    def propose(self, targets: Sequence[tuple[int, ...]], samples: int, seed: int) -> list[list[Program]]:
        """For every target up to `samples` programs without repeats: the greedy one, and samples shared out among
        `TEMPERATURES`, the first of which gets what is left over.

        Each is cut before its first line that is not of the language; empty ones are dropped.
        """
        proposals: list[list[Program]] = []
        for start in range(0, len(targets), _TARGETS_AT_ONCE):
            chunk = targets[start : start + _TARGETS_AT_ONCE]
            texts = [[text] for text in self._write(chunk, 1)]
            generator = torch.Generator(self.policy.model.device).manual_seed(seed + start)
            for rung, temperature in enumerate(TEMPERATURES):
                share = len(range(rung, samples - 1, len(TEMPERATURES)))
                if share:
                    drawn = self._write(chunk, share, generator, temperature)
                    for i, mine in enumerate(texts):
                        mine += drawn[i * share : (i + 1) * share]
            proposals += [list(dict.fromkeys(p for p in map(_read, mine) if len(p))) for mine in texts]
        return proposals

    def _write(
        self,
        targets: Sequence[tuple[int, ...]],
        samples: int,
        generator: torch.Generator | None = None,
        temperature: float = 1.0,
    ) -> list[str]:
        """Texts of programs, `samples` for each target; greedy without a generator."""
        rollouts = self.policy.rollout(
            [sequence_prompt(target, "dsl") for target in targets],
            samples=samples,
            max_new_tokens=_MAX_NEW_TOKENS,
            generator=generator,
            temperature=temperature,
        )
        return [r.text if self.policy.is_preset else program_in_place(r.text) for r in rollouts]


def open_proposer(name: str, device: str = "auto", warn: Callable[[str], None] = silent) -> PolicyProposer:
    """The proposer of a run, a checkpoint folder, `shipped`, a preset, a model in the cache or a Hugging Face id. Raises UsageError like `load_policy`."""
    return PolicyProposer(load_policy(name, device=device, warn=warn))


def _read(text: str) -> Program:
    parser = LineParser()
    for line in text.split("\n"):
        if line.strip(" "):
            try:
                parser.feed(line)
            except ProgramError:
                break
    return parser.program()
