"""The policy: a causal language model, its tokenizer, and how it is asked for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging

from kolmocli.errors import UsageError
from kolmocli.pace import Look, unheard
from kolmocli.policy.adapters import Base, save_adapter
from kolmocli.policy.generated import Generated, StateValue
from kolmocli.policy.generation import generate
from kolmocli.policy.presets import FIRST, Alphabet, alphabet_of
from kolmocli.policy.prompts import preset_prompt, readable_prompt
from kolmocli.policy.rollout import Rollout, ValuedRollout
from kolmocli.policy.tokenizer import READS_SEGMENTS
from kolmocli.processor import Precision
from kolmocli.tasks.base import Prompt, Task

logging.disable_progress_bar()  # a bar of its own would tear the live table


@dataclass
class Policy:
    """`model` is a transformers causal LM on its device, `name` what the user called it.

    With a `base` the model is that one, frozen, with an adapter. A `value` is noted while rollouts are written;
    it belongs to training and is not saved with the policy. `sampler` writes rollouts; it has the arguments of `generate`.
    `version` counts the updates of the weights. `precision` is that of the products of matrices where the policy learns and
    where its rollouts are drawn; greedy answers are made in the precision of the weights, so that they are what any other
    run makes of them.
    """

    name: str
    model: Any
    tokenizer: Any
    base: Base | None = None
    value: StateValue | None = None
    sampler: Callable[..., list[Generated]] = generate
    version: int = 0
    precision: Precision = "fp32"

    @cached_property
    def alphabet(self) -> Alphabet | None:
        """The alphabet of a preset's own tokenizer; None for any other."""
        return alphabet_of([word for word, number in self.tokenizer.get_vocab().items() if number < FIRST])

    @property
    def reads_segments(self) -> bool:
        """Whether sequences are shown to it as segments, which its tokenizer says."""
        return bool(self.tokenizer.init_kwargs.get(READS_SEGMENTS))

    @property
    def is_preset(self) -> bool:
        """True for the presets' own tokenizers, which read a bare sequence, or a question's short form."""
        return self.alphabet is not None

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
    def positions(self) -> int | None:
        """Tokens, prompt and answer, that the model has a table of positions for (GPT-2, OPT); None where it computes them."""
        most: int | None = getattr(self.model.config, "max_position_embeddings", None)
        tables = (*self.model.named_parameters(), *self.model.named_buffers())
        has_table = any(
            ("wpe" in name or "position" in name) and table.ndim == 2 and most is not None and table.shape[0] >= most
            for name, table in tables
        )
        return most if has_table else None

    def require_room(self, prompts: Iterable[Sequence[int]], new_tokens: int) -> None:
        """Look at prompts before anything is computed: beyond its positions a model is an error of its library.

        Raises:
            UsageError: one of them and this many tokens after it are more than the model has positions for.
        """
        if self.positions is None:
            return
        longest = max(map(len, prompts), default=0)
        if longest + new_tokens > self.positions:
            left = self.positions - longest
            remedy = f"allow {left:,} new tokens at most (training.max_new_tokens), " if left > 0 else ""
            raise UsageError(
                f"{self.name}: has {self.positions:,} positions, and a prompt of {longest:,} tokens with {new_tokens:,} "
                f"after it has {longest + new_tokens:,}; {remedy}take shorter tasks, or name another model"
            )

    @cached_property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.model.parameters())

    def prompt_ids(self, prompt: Prompt, prefix: str = "") -> tuple[int, ...]:
        """Tokens from which an answer continues: the prompt, and the given beginning of the answer."""
        # A chat template writes its special tokens itself, and presets have none.
        bare = self.alphabet is None and not getattr(self.tokenizer, "chat_template", None)
        ids = tuple(self.tokenizer(self.prompt_text(prompt), add_special_tokens=bare).input_ids)
        if bare and len(ids) > 1 and ids[-1] == self.tokenizer.eos_token_id:
            ids = ids[:-1]  # some tokenizers end every text, and a prompt goes on
        return (*ids, *self._ids(self._given(prefix)))

    def prompt_text(self, prompt: Prompt) -> str:
        """The prompt as this policy reads it."""
        if self.alphabet is None:
            return readable_prompt(prompt, self.tokenizer)
        return preset_prompt(prompt, self.alphabet, self.reads_segments)

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids if text else []
        return found

    def _given(self, prefix: str) -> str:
        """What a prompt ends with: a blank belongs to the word after it, but for the presets' tokenizer."""
        return prefix if self.is_preset else prefix.rstrip(" ")

    def _answer_ids(self, text: str, given: str = "") -> tuple[int, ...]:
        """Tokens of a text after what is given: of both together, as some tokenizers put a blank before each text."""
        before, ids = self._ids(given), self._ids(text)
        begins = ids[: len(before)] == before
        return (*(ids[len(before) :] if begins else self._ids(text.removeprefix(given))), self.tokenizer.eos_token_id)

    def _read(self, tokens: Sequence[int], given: str = "") -> str:
        """The text of tokens after what is given: of both together, as some tokenizers drop the blank that a text begins with."""
        before = self._ids(given)
        whole, left_out = self._decoded([*before, *tokens]), len(self._decoded(before))
        return given + whole[left_out:]

    def _decoded(self, ids: Sequence[int]) -> str:
        """As it was written: cleaning up takes blanks before punctuation out."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def answer_size(self, text: str) -> int:
        """Tokens of an answer, with the mark of its end."""
        return len(self._answer_ids(text))

    def answer(self, prompt: Prompt, text: str, prefix: str = "") -> Rollout:
        """A supervised answer in the shape of a rollout; it has no log-probabilities, as it was not sampled.

        With a `prefix`, which `text` begins with, what comes after it is to be learned. Raises UsageError as `require_room`.
        """
        given = self._given(prefix)
        asked, tokens = self.prompt_ids(prompt, given), self._answer_ids(text, given)
        self.require_room([asked], len(tokens))
        return Rollout(asked, tokens, (), self._lines(tokens, given.count("\n")), text, True)

    def answers(self, tasks: Sequence[Task]) -> list[Rollout]:
        """The references of the tasks as supervised answers; a task without one is left out."""
        return [self.answer(task.asked, task.reference, task.prefix) for task in tasks if task.reference is not None]

    def rollout(
        self,
        asked: Sequence[Prompt],
        *,
        samples: int,
        max_new_tokens: int,
        generator: torch.Generator | None,
        temperature: float = 1.0,
        prefixes: Sequence[str] = (),
        finished: Callable[[int, Rollout], None] | None = None,
        look: Look = unheard,
    ) -> list[Rollout]:
        """`samples` answers to everything asked, neighbours in the list; greedy when `generator` is None.

        Logits are divided by `temperature` before the softmax that is sampled from, all of it; greedily nothing is.
        `prefixes[i]` is what answers to `asked[i]` begin with. It is part of the prompt, so no gradient reaches it, and of
        the text, so it is judged. `finished` is called with each program, and its place in the list, as soon
        as it is written, and `look` between two tokens. Raises UsageError as `require_room`.
        """
        given = [self._given(text) for text in prefixes or [""] * len(asked)]
        prompts = [self.prompt_ids(a, text) for a, text in zip(asked, given, strict=True)]
        self.require_room(prompts, max_new_tokens)
        self.model.eval()
        rollouts: dict[int, Rollout] = {}
        at = None if generator is None else temperature

        def take(row: int, result: Generated) -> None:
            rollout = self._rollout(prompts[row // samples], given[row // samples], result, at)
            rollouts[row] = rollout
            if finished is not None:
                finished(row, rollouts[row])

        self.sampler(
            self.model, prompts, samples=samples, max_new_tokens=max_new_tokens,
            stop_ids=self.stop_ids, pad_id=self.pad_id, generator=generator, temperature=temperature,
            value=self.value, finished=take, precision="fp32" if generator is None else self.precision,
            version=self.version, look=look,
        )  # fmt: skip
        return [rollouts[row] for row in range(len(prompts) * samples)]

    def _rollout(self, prompt: tuple[int, ...], given: str, result: Generated, temperature: float | None) -> Rollout:
        tokens = tuple(result.tokens)
        text = self._read(tokens[:-1] if result.finished else tokens, given)
        made = Rollout if self.value is None else partial(ValuedRollout, values=tuple(result.values))
        return made(
            prompt, tokens, tuple(result.logprobs), self._lines(tokens, given.count("\n")), text, result.finished,
            temperature=temperature,
        )  # fmt: skip

    def breaks(self, token: int) -> int:
        """Number of line breaks in this token."""
        if token not in self._break_counts:
            decoded = self.tokenizer.decode([token], clean_up_tokenization_spaces=False)
            self._break_counts[token] = decoded.count("\n")
        return self._break_counts[token]

    def save(self, folder: Path) -> None:
        """Hugging Face format: `AutoModelForCausalLM.from_pretrained(folder)` and `AutoTokenizer` load it.

        For a policy with a base only the adapter is written.
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
            line += self.breaks(token)
        return tuple(lines)

    @cached_property
    def _break_counts(self) -> dict[int, int]:
        return {}
