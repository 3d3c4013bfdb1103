"""The memory that a run needs, by purpose. Estimates: tests hold them to real models, and `benchmarks/memory.py`
to what processes take.

A micro-batch passes its tokens through every layer, and what the backward pass needs of them is kept. How much that is
depends on the forward pass: that of `policy/lean/scoring.py` keeps each token's numbers once, transformers' own keeps a
prompt's keys for each of its rollouts, and with gradient checkpointing a layer's inputs are all that is kept of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kolmocli.config import OptimiserKind
from kolmocli.learning.limits import KEYS_PER_MICRO_BATCH, ROWS_AT_ONCE, TOKENS_PER_MICRO_BATCH
from kolmocli.policy.limits import LOGIT_COPIES, LOGITS_AT_ONCE, LOGITS_KEPT, ROOM, ROWS_IN_BF16, tokens_kept
from kolmocli.policy.sizes import LEAN, PLAIN, Size
from kolmocli.processor import Precision

_FLOAT, _HALF, _DOUBLE = 4, 2, 8
_BLOCK = 256
_REGRESSION_COPIES = 3
"""Copies of the value head's (D + 1)² sums: the sums, the sums with the ridge, and the solver's own."""
_CHOICES = 4
"""Tensors of the size of the logits where a token is drawn: they, their logarithms, those raised again, and their sums."""
_LAST = 5
"""Those numbers per hidden unit of a prompt's tokens in the last layer, which makes only keys and values of them."""


_SPREADS = {"recomputed": 2.5, "adapted": 2.0, "bf16": 1.5, "fp32": 1.3, "sampling": 1.5}
"""On a CPU: memory that glibc's malloc holds for tensors that come and go, over what they take. It leaves gaps, presumably
as a block that was freed is not given to the next aligned one of the same size. Taken from what `benchmarks/memory.py`
measured for `tiny`, `small` and `medium`; with MALLOC_MMAP_THRESHOLD_=262144 in the environment it is 1 to a few percent, as
it is on a GPU, whose tensors are counted themselves."""


@dataclass(frozen=True, slots=True)
class Work:
    """Work of a step: its rollouts, the samples of a prompt, and the most tokens of either."""

    rollouts: int
    samples: int
    prompt_tokens: int
    new_tokens: int

    def micro_batch(self, shared: bool, room: int | None = None) -> tuple[int, int]:
        """Prompts and rollouts of the largest one, as `learning/packing.py` cuts them; `room` is that of its `Begun`, with
        prompts that begin with nothing in common."""
        both, rollouts = self.prompt_tokens + self.new_tokens, 1
        while rollouts < self.rollouts and self._fits(rollouts + 1, both, shared, room):
            rollouts += 1
        return -(-rollouts // self.samples), rollouts

    def _fits(self, rollouts: int, both: int, shared: bool, room: int | None) -> bool:
        prompts = -(-rollouts // self.samples)
        if room is not None:
            return prompts * self.prompt_tokens + rollouts * self.new_tokens <= room
        tokens = prompts * self.prompt_tokens + rollouts * self.new_tokens if shared else rollouts * both
        return tokens <= TOKENS_PER_MICRO_BATCH and rollouts * both <= KEYS_PER_MICRO_BATCH


@dataclass(frozen=True)
class Need:
    """The memory that training one model in one way needs. All figures are bytes."""

    size: Size
    work: Work
    rank: int = 0
    in_8bit: bool = False
    optimiser: OptimiserKind = "adamw"
    precision: Precision = "fp32"
    recompute: bool = False
    on_cpu: bool = True
    widened: bool = False
    """Whether frozen weights of 16 bits are kept in fp32."""
    value_head: bool = False
    reference: bool = False
    """Whether the model that the run began with is kept next to the one that learns; under adapters it is there anyway."""

    @cached_property
    def trained(self) -> int:
        """Numbers."""
        return self.size.adapter(self.rank) if self.rank else self.size.parameters

    @property
    def weights(self) -> int:
        frozen = self.size.weight_bytes(in_8bit=self.in_8bit, widened=self.widened) if self.rank else 0
        copy = _FLOAT * self.size.parameters if self.reference and not self.rank else 0
        return frozen + _FLOAT * self.trained + copy

    @property
    def moments(self) -> float:
        each = _FLOAT if self.optimiser == "adamw" else 1 + _FLOAT / _BLOCK
        return 2 * each * self.trained

    @property
    def is_lean(self) -> bool:
        return self.size.is_lean and self.on_cpu and not self.recompute

    def spread(self, what: Literal["learning", "sampling"]) -> float:
        """Memory that the process holds for short-lived tensors ÷ their size."""
        if not self.on_cpu:
            return 1.0
        if what == "learning" and self.recompute:
            return _SPREADS["recomputed"]
        return _SPREADS["adapted" if self.rank else "sampling" if what == "sampling" else self.precision]

    @property
    def micro_batch(self) -> tuple[int, int, int]:
        """The largest micro-batch: rows of prompts and of programs, and keys that are copied for the rollouts."""
        work, shared = self.work, self.is_lean or not self.size.convolutions
        prompts, rollouts = work.micro_batch(shared, self._room)
        of_prompts = (prompts if shared else rollouts) * work.prompt_tokens
        of_programs = rollouts * work.new_tokens
        if self.is_lean:
            multiple = ROWS_IN_BF16 if self.precision == "bf16" else 1
            return _filled(of_prompts, multiple), _filled(of_programs, multiple), 0
        return of_prompts, of_programs, rollouts * (work.prompt_tokens + work.new_tokens) if shared else 0

    @property
    def _room(self) -> int | None:
        """Tokens of a micro-batch of a model from elsewhere, where our own forward pass is for it."""
        size = self.size
        if not self.is_lean or size.is_preset:
            return None
        attentions = size.layers - size.convolutions
        of_attentions, of_convolutions = (
            LEAN["fp32"].per_token(size.hidden, size.feed_forward, kind) for kind in (False, True)
        )
        return tokens_kept(attentions * of_attentions + size.convolutions * of_convolutions)

    @property
    def activations(self) -> float:
        """Memory of a micro-batch for the backward pass, logits aside: they are computed again."""
        size, (of_prompts, of_programs, keys) = self.size, self.micro_batch
        tokens = of_prompts + of_programs
        if self.recompute:
            one_layer = (
                PLAIN[self.precision].per_token(size.hidden, size.feed_forward, bool(size.convolutions))
                + size.hidden
                + size.feed_forward
            )  # and gradients
            of_keys = (of_prompts + keys / size.layers) * size.cache_per_token
            return self._copies_for_learning + _FLOAT * (tokens * (size.layers * size.hidden + one_layer) + of_keys)
        kept = LEAN[self.precision] if self.is_lean else PLAIN[self.precision]
        attentions = size.layers - size.convolutions
        numbers = tokens * (
            attentions * kept.per_token(size.hidden, size.feed_forward, False) + size.convolutions * kept.per_token(size.hidden, size.feed_forward, True)
        )  # fmt: skip
        if self.is_lean:
            numbers -= of_prompts * (kept.per_token(size.hidden, size.feed_forward, False) - _LAST * size.hidden)
        return self._copies_for_learning + _FLOAT * (numbers + keys * size.cache_per_token)

    @property
    def _copies_for_learning(self) -> int:
        # Floats are made of one matrix of 8 bits at a time; in the gaps that they leave there is room for about all.
        if self.in_8bit:
            return _FLOAT * self.size.multiplied if self.on_cpu else 0
        return _HALF * self.size.multiplied if self.precision == "bf16" else 0

    @property
    def logits(self) -> float:
        """Those of a chunk, and the gradient of the head, which waits for that of the embeddings."""
        _, of_programs, _ = self.micro_batch
        of_head = 0 if self.rank else self.size.vocabulary * self.size.hidden
        of_all = of_programs * self.size.vocabulary
        kept = of_all if of_all <= LOGITS_KEPT else 0
        return _FLOAT * (LOGIT_COPIES * min(LOGITS_AT_ONCE, of_all) + kept + of_head)

    @property
    def sampling(self) -> float:
        """Keys and values, copies of matrices, and what is larger: reading all prompts, or drawing a token for every row."""
        work, size = self.work, self.size
        rows = min(work.rollouts, ROWS_AT_ONCE)
        of_prompts = -(-rows // work.samples) * work.prompt_tokens
        if size.is_lean:
            cached = of_prompts + rows * _filled(work.new_tokens, ROOM)
        else:
            cached = rows * (work.prompt_tokens + work.new_tokens)
        reading = of_prompts * (2 * size.hidden + 3 * size.feed_forward)
        drawing = _CHOICES * rows * size.vocabulary
        return self._copies_for_sampling + _FLOAT * (size.cache_per_token * cached + max(reading, drawing))

    @property
    def _copies_for_sampling(self) -> int:
        if self.rank or not self.size.is_lean:
            return 0
        return _HALF * self.size.multiplied if self.precision == "bf16" else _FLOAT * self.size.joined


def _filled(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def memory(need: Need) -> dict[str, float]:
    """MiB by purpose, and the peak. A step samples first and learns then, so that what each of them takes does not add up;
    the gradients of a step are kept until the next one learns. The peak is that of the process, in which what comes and goes
    lies with gaps in between."""
    needs = {
        "weights": need.weights,
        "gradients": _FLOAT * need.trained,
        "optimiser": need.moments,
        "activations": need.activations,
        "logits": need.logits,
        "sampling_cache": need.sampling,
    }
    if need.value_head:
        needs["value_head"] = _REGRESSION_COPIES * _DOUBLE * (need.size.hidden + 1) ** 2
    kept = needs["weights"] + needs["gradients"] + needs["optimiser"] + needs.get("value_head", 0)
    learning = need.spread("learning") * (needs["activations"] + needs["logits"])
    needs["peak"] = kept + max(learning, need.spread("sampling") * needs["sampling_cache"])
    return {name: round(needed / 2**20, 2) for name, needed in needs.items()}
