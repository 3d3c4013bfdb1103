"""Log-probabilities of sampled tokens, for the loss: the one routine that every path of the trainer uses.

A prompt is read once for all rollouts of its group: its keys and values stay in the graph, and each continuation
attends to them, in a forward pass of our own (`lean/scoring.py`) or in transformers'. Ours also reads once what several
prompts begin with, for all that is scored within `Scorer.begun`. Logits are computed where a token
was chosen, a chunk at a time (`head.py`). An architecture that does not allow one or the other is scored row by row, or
with plain logits (`logprobs.py`), and says why.

Shapes: P prompts, N rollouts, T tokens of the longest prompt, C of the longest continuation, K chosen tokens in all,
D hidden units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from transformers import Cache
from transformers.cache_utils import DynamicLayer

from kolmocli.policy.cache import attends_to_all, with_cache
from kolmocli.policy.head import Head, find_head, is_like, selected, underlying
from kolmocli.policy.lean.scoring import Begun, can_score, lean_states
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.order import rows_of
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.rows import padded

Reader = Callable[[Any, Sequence[Rollout], int], tuple[torch.Tensor, int]]
"""From a decoder, rollouts and the id to pad with to the states before their program tokens, [K, D], and the number of
tokens that were read."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the program tokens of some rollouts, one rollout after the other: K in all.

    `read` counts the tokens that went through the model, padding aside.
    """

    logprobs_K: torch.Tensor
    entropy_K: torch.Tensor
    read: int
    states_KD: torch.Tensor | None = None
    """The last hidden state before each token; None where logits come straight from the model."""


class Scorer:
    """Scores rollouts under one model, the way that its architecture allows; `notes` says what it does not.

    `lean=False` takes transformers' forward where there is a leaner one.
    """

    def __init__(self, model: Any, pad: int, lean: bool = True) -> None:
        self.model = model
        self.pad = pad
        self.notes: list[str] = []
        found = find_head(model)
        self.head = found if isinstance(found, Head) else None
        sharing = None if self.head is None else self._find_sharing(self.head, lean)
        self.shares = sharing is not None
        self.is_lean = sharing is lean_states
        self._read: Reader = sharing or row_states
        self._begun: Begun | None = None
        if isinstance(found, str):
            self.notes.append(f"learning needs more memory with this model, all its logits at once: {found}")
        elif not self.shares:
            self.notes.append("learning reads a prompt once per rollout with this model: its cache cannot be shared")

    def __call__(self, rollouts: Sequence[Rollout], temperature: float = 1.0) -> Scores:
        if self.head is None:
            return self._plain(rollouts, temperature)
        if self._begun is not None:
            hidden_KD, read = lean_states(self.head.decoder, rollouts, self.pad, self._begun)
        else:
            hidden_KD, read = self._read(self.head.decoder, rollouts, self.pad)
        targets_K = torch.tensor([t for r in rollouts for t in r.tokens], device=hidden_KD.device)
        logprobs_K, entropy_K = selected(self.head, hidden_KD, targets_K, temperature)
        return Scores(logprobs_K, entropy_K, read, hidden_KD)

    @contextmanager
    def begun(self, prompts: Iterable[tuple[int, ...]], products: Any = nullcontext) -> Iterator[Begun | None]:
        """Read once what these prompts begin with, for the rollouts of all of them that are scored until this is left; then
        its gradient goes on to the weights. None where prompts are read one by one.

        `products` opens the context in which matrices are multiplied.
        """
        if self.head is None or not self.is_lean:
            yield None
            return
        with products():
            self._begun = Begun(self.head.decoder, prompts, alone=False)
        try:
            yield self._begun
            self._begun.backward()
        finally:
            self._begun = None

    def _plain(self, rollouts: Sequence[Rollout], temperature: float) -> Scores:
        ids_NT, attention_NT, program_NT = (x.to(self.model.device) for x in pack(rollouts, self.pad))
        logprobs_NT, entropy_NT = token_logprobs(self.model, ids_NT, attention_NT, temperature)
        return Scores(logprobs_NT[program_NT], entropy_NT[program_NT], int(attention_NT.sum()))

    def _find_sharing(self, head: Head, lean: bool) -> Reader | None:
        """A way to read a prompt once that gives the states which it gives when read with each rollout: tried, on two
        short ones. A window that slides over the keys would only show on long ones, so that it is asked for."""
        words = head.linear.out_features
        first, second = (tuple(i % words for i in ids) for ids in ((5, 6, 7, 8), (9, 10)))
        probe = [Rollout(first, second, (), (), "", True), Rollout(first, first, (), (), "", True)]
        probe += [Rollout(second, ids, (), (), "", True) for ids in (second[:1], first)]
        ways: list[Reader] = [lean_states] if lean and can_score(self.model) else []
        ways += [shared_states] if attends_to_all(underlying(self.model).config) else []
        with torch.inference_mode():
            apart = head.logits(row_states(head.decoder, probe, self.pad)[0])
            for way in ways:
                if is_like(head.logits(way(head.decoder, probe, self.pad)[0]), apart):
                    return way
        return None


def row_states(decoder: Any, rollouts: Sequence[Rollout], pad: int) -> tuple[torch.Tensor, int]:
    """The state before each program token, [K, D], every rollout with its own prompt; and the tokens that were read."""
    ids_NT, attention_NT, program_NT = (x.to(decoder.device) for x in pack(rollouts, pad))
    hidden_NTD = decoder(input_ids=ids_NT, attention_mask=attention_NT, use_cache=False).last_hidden_state
    return hidden_NTD[:, :-1][program_NT[:, 1:]], int(attention_NT.sum())


def shared_states(decoder: Any, rollouts: Sequence[Rollout], pad: int) -> tuple[torch.Tensor, int]:
    """As `row_states`, with each distinct prompt read once. The last token of a rollout is not read: nothing follows."""
    place = {prompt: i for i, prompt in enumerate(dict.fromkeys(r.prompt for r in rollouts))}
    owner_N = torch.tensor([place[r.prompt] for r in rollouts], device=decoder.device)
    ids_PT, mask_PT = (x.to(decoder.device) for x in padded(list(place), pad, "right"))
    ids_NC, mask_NC = (x.to(decoder.device) for x in padded([r.tokens[:-1] for r in rollouts], pad, "right"))
    length_P = mask_PT.sum(-1)
    prompts: list[Any] = [_PromptLayer() for _ in range(decoder.config.num_hidden_layers)]
    states_PTD = decoder(
        input_ids=ids_PT, attention_mask=mask_PT, **with_cache(decoder, Cache(layers=prompts)),
        position_ids=torch.arange(ids_PT.shape[1], device=decoder.device)[None],
    ).last_hidden_state  # fmt: skip
    last_PD = states_PTD[torch.arange(len(place), device=decoder.device), length_P - 1]
    hidden_NCD = rows_of(last_PD, owner_N)[:, None]
    if ids_NC.shape[1]:
        # Padding repeats the last position: one beyond it may not exist.
        step_NC = torch.minimum(mask_NC.cumsum(-1), mask_NC.sum(-1, keepdim=True).clamp(min=1)) - 1
        continued_NCD = decoder(
            input_ids=ids_NC, attention_mask=torch.cat([mask_PT[owner_N], mask_NC], -1),
            **with_cache(decoder, Cache(layers=[_ContinuedLayer(layer, owner_N) for layer in prompts])),
            position_ids=length_P[owner_N][:, None] + step_NC,
        ).last_hidden_state  # fmt: skip
        hidden_NCD = torch.cat([hidden_NCD, continued_NCD], 1)
    chosen_NC = torch.nn.functional.pad(mask_NC, (1, 0), value=1).bool()
    return hidden_NCD[chosen_NC], int(mask_PT.sum() + mask_NC.sum())


class _PromptLayer(DynamicLayer):
    """Keeps the keys and values of the prompts. It replaces instead of adding, so that a layer which is computed again
    for the backward pass leaves the same behind."""

    def update(
        self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.keys, self.values, self.is_initialized = key_states, value_states, True
        return key_states, value_states


class _ContinuedLayer(DynamicLayer):
    """The keys and values of each rollout's prompt, with its own after them; it keeps none of the latter."""

    def __init__(self, prompt: _PromptLayer, owner_N: torch.Tensor) -> None:
        super().__init__()
        self.keys, self.values, self.is_initialized = prompt.keys, prompt.values, True
        self._owner_N = owner_N

    def update(
        self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert self.keys is not None
        assert self.values is not None
        keys = torch.cat([rows_of(self.keys, self._owner_N), key_states], -2)
        return keys, torch.cat([rows_of(self.values, self._owner_N), value_states], -2)
