"""The policy: a causal language model, its tokenizer, and how it is asked for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging

from kolmocli.language.program import Program
from kolmocli.policy.adapters import Base, save_adapter
from kolmocli.policy.generation import Generated, generate
from kolmocli.policy.prompts import explained_prompt, extract_program, preset_prompt
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.tokenizer import SEQUENCE

logging.disable_progress_bar()  # a bar of its own would tear the live table


@dataclass
class Policy:
    """`model` is a transformers causal LM on its device, `name` what the user called it.

    With a `base` the model is that one, frozen, with an adapter beside it.
    """

    name: str
    model: Any
    tokenizer: Any
    base: Base | None = None

    @cached_property
    def is_preset(self) -> bool:
        """True for the presets' own tokenizer, which reads a bare sequence."""
        return SEQUENCE in self.tokenizer.get_vocab()

    @cached_property
    def pad_id(self) -> int:
        pad = self.tokenizer.pad_token_id
        return int(self.tokenizer.eos_token_id if pad is None else pad)

    @cached_property
    def stop_ids(self) -> tuple[int, ...]:
        """Every token that ends an answer: the tokenizer's, and those of the generation settings."""
        configured = getattr(self.model.generation_config, "eos_token_id", None)
        extra = configured if isinstance(configured, list) else [configured]
        ids = {self.tokenizer.eos_token_id, *extra} - {None}
        return tuple(sorted(ids))

    @cached_property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())

    def prompt_ids(self, target: Sequence[int], given: str = "") -> tuple[int, ...]:
        """What a program is continued from: the prompt, and the beginning that is given."""
        if given:
            return (*self.prompt_ids(target), *self.tokenizer(given, add_special_tokens=False).input_ids)
        if self.is_preset:
            return tuple(self.tokenizer(preset_prompt(target), add_special_tokens=False).input_ids)
        # A chat template writes its special tokens itself.
        bare = not getattr(self.tokenizer, "chat_template", None)
        return tuple(self.tokenizer(explained_prompt(target, self.tokenizer), add_special_tokens=bare).input_ids)

    def program_ids(self, program: Program) -> tuple[int, ...]:
        """A reference program as the answer that the policy should give, end token included."""
        text = f"{program}\n"
        return (*self.tokenizer(text, add_special_tokens=False).input_ids, self.tokenizer.eos_token_id)

    def answer(self, target: Sequence[int], program: Program) -> Rollout:
        """A supervised answer in the shape of a rollout; its sampler log-probabilities are 0."""
        tokens = self.program_ids(program)
        lines = self._lines(tokens)
        return Rollout(self.prompt_ids(target), tokens, (0.0,) * len(tokens), lines, f"{program}\n", True)

    def rollout(
        self,
        targets: Sequence[Sequence[int]],
        *,
        samples: int,
        max_new_tokens: int,
        generator: torch.Generator | None,
        given: Sequence[str] = (),
        finished: Callable[[int, Rollout], None] | None = None,
    ) -> list[Rollout]:
        """`samples` programs for every target, neighbours in the list; greedy when `generator` is None.

        `given[i]` is what programs for target i begin with. It is part of the prompt, so no gradient reaches it, and of
        the text, so it is judged. `finished` is told of each program, by its place in the list,
        as soon as it is written.
        """
        # A blank belongs to the word after it, but for the presets' tokenizer.
        given = [text if self.is_preset else text.rstrip(" ") for text in given or [""] * len(targets)]
        prompts = [self.prompt_ids(t, text) for t, text in zip(targets, given, strict=True)]
        self.model.eval()
        rollouts: dict[int, Rollout] = {}

        def take(row: int, result: Generated) -> None:
            rollouts[row] = self._rollout(prompts[row // samples], given[row // samples], result)
            if finished is not None:
                finished(row, rollouts[row])

        generate(
            self.model, prompts, samples=samples, max_new_tokens=max_new_tokens,
            stop_ids=self.stop_ids, pad_id=self.pad_id, generator=generator, finished=take,
        )  # fmt: skip
        return [rollouts[row] for row in range(len(prompts) * samples)]

    def _rollout(self, prompt: tuple[int, ...], given: str, result: Generated) -> Rollout:
        tokens = tuple(result.tokens)
        text = given + self.tokenizer.decode(tokens[:-1] if result.finished else tokens, skip_special_tokens=True)
        text = text if self.is_preset else extract_program(text)
        lines = self._lines(tokens, given.count("\n"))
        return Rollout(prompt, tokens, tuple(result.logprobs), lines, text, result.finished)

    def save(self, folder: Path) -> None:
        """Hugging Face format: `AutoModelForCausalLM.from_pretrained(folder)` and `AutoTokenizer` load it.

        Of a policy with a base only the adapter is written.
        """
        if self.base is None:
            self.model.save_pretrained(folder)
        else:
            save_adapter(self.model, self.base, folder)
        self.tokenizer.save_pretrained(folder)

    def _lines(self, tokens: Sequence[int], line: int = 0) -> tuple[int, ...]:
        lines = []
        for token in tokens:
            lines.append(line)
            line += self._breaks(token)
        return tuple(lines)

    @cached_property
    def _break_counts(self) -> dict[int, int]:
        return {}

    def _breaks(self, token: int) -> int:
        if token not in self._break_counts:
            self._break_counts[token] = self.tokenizer.decode([token]).count("\n")
        return self._break_counts[token]
