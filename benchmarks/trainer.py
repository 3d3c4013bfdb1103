"""The trainer beside its peers, in one run: a whole update, generation alone, the learning pass, and its peak memory.

    pip install -e '.[bench]'
    python benchmarks/trainer.py                     # everything
    python benchmarks/trainer.py --only step --rounds 5 --json
    python benchmarks/trainer.py --only memory

Both sides get the same weights, prompts, reward, number of threads and precision, in turns within one process, so that
a noisy machine is noisy to both; figures are medians of the rounds, ratios those of medians. Prompts have 140 tokens,
8 of them with 8 samples each, and 40 tokens are written. The peak of a learning pass is what the process grows by
(VmHWM of /proc/self/status over what it held before), each in a process of its own.

What is the same: sampling from the full softmax at temperature 1, AdamW, no reference model, one update per batch.
What is not: TRL computes the loss of DAPO with advantages over groups, kolmo REINFORCE with leave-one-out advantages.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, get_args

import torch
from rich import box
from rich.console import Console
from rich.table import Table
from transformers import LlamaConfig, LlamaForCausalLM

from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.limits import TOKENS_PER_MICRO_BATCH
from kolmocli.learning.returns import advantages
from kolmocli.policy.building import build_preset
from kolmocli.policy.generation import generate
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.policy.prompts import preset_prompt
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.scoring import Scorer
from kolmocli.policy.tokenizer import build_tokenizer
from kolmocli.policy.vllm import open_vllm
from kolmocli.processor import Precision, WantedPrecision
from kolmocli.tasks.base import Prompt
from kolmocli.tasks.sequences.prompt import sequence_prompt

PROMPTS, SAMPLES, PROMPT_TOKENS, NEW_TOKENS = 8, 8, 140, 40
WORDS = 32_000
_VLLM_SHARE = 0.4
"""Of a GPU's memory."""
RATE = 1e-4


CLOCK: Callable[[], float] = time.perf_counter


DEVICE = "cpu"
"""Of both sides."""
LLAMA = False
"""Whether the presets of Llama's architecture are measured instead."""
PRECISION: WantedPrecision = "auto"
"""Of the products in sampling and learning, on both sides."""
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


def preset(name: str) -> Policy:
    model: Any = build_preset(f"{name}-llama" if LLAMA else name, 0)
    policy = Policy(name, model.to(DEVICE), build_tokenizer())
    policy.precision = choose_precision(policy.model, PRECISION)
    return policy


def prompts(seed: int = 0, count: int = PROMPTS) -> list[Prompt]:
    rng = random.Random(seed)
    return [sequence_prompt([rng.randrange(256) for _ in range(PROMPT_TOKENS - 2)], "dsl") for _ in range(count)]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator(DEVICE).manual_seed(seed)


def seconds(work: Callable[[], Any]) -> float:
    finish()
    began = CLOCK()
    work()
    finish()
    return CLOCK() - began


def finish() -> None:
    """Wait until a GPU has done what it was told."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def in_turns(sides: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Median seconds of each side; the first round warms up and does not count."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for round_ in range(rounds + 1):
        for name, work in sides.items():
            spent = seconds(work)
            if round_:
                taken[name].append(spent)
    return {name: median(times) for name, times in taken.items()}


# --- a whole update, against TRL


def reward(text: str) -> float:
    """Any function of the text that differs within a group; no sandbox on either side."""
    return len(set(text)) / 64


def update(policy: Policy, learner: Learner) -> Callable[[], None]:
    step = iter(range(1_000_000))

    def run() -> None:
        generator = seeded(next(step))
        rollouts = policy.rollout(prompts(), samples=SAMPLES, max_new_tokens=NEW_TOKENS, generator=generator)
        batch = []
        for start in range(0, len(rollouts), SAMPLES):
            group = rollouts[start : start + SAMPLES]
            values = advantages([reward(r.text) for r in group], "rloo")
            for rollout, value in zip(group, values, strict=True):
                batch.append(Weighted(rollout, [value] * len(rollout.tokens)))
        learner.step(batch)

    return run


def step_table(rounds: int, name: str = "small") -> dict[str, float]:
    """Samples per second of whole updates. TRL's trainer owns its loop: an update of ours follows each of its own."""
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    policy, theirs = preset(name), preset(name)
    ours = update(policy, Learner(policy, learning_rate=RATE, max_grad_norm=1.0, entropy_bonus=0.0))
    taken: dict[str, list[float]] = {"kolmo": [], "TRL GRPOTrainer": []}

    class Turns(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
            finish()
            self.began = CLOCK()

        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            finish()
            taken["TRL GRPOTrainer"].append(CLOCK() - self.began)
            taken["kolmo"].append(seconds(ours))

    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = GRPOConfig(
            output_dir=folder, per_device_train_batch_size=PROMPTS * SAMPLES, num_generations=SAMPLES,
            max_completion_length=NEW_TOKENS, max_steps=rounds + 1, learning_rate=RATE, beta=0.0, temperature=1.0,
            top_k=0, top_p=1.0, use_cpu=DEVICE == "cpu", bf16=policy.precision == "bf16", gradient_checkpointing=False, report_to=[],
            save_strategy="no", logging_steps=1000, disable_tqdm=True, seed=0, shuffle_dataset=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=theirs.model, processing_class=theirs.tokenizer, args=config, callbacks=[Turns()],
            reward_funcs=lambda completions, **_: [reward(text) for text in completions],
            train_dataset=Dataset.from_list([{"prompt": preset_prompt(p, "programs")} for p in prompts() * (rounds + 1)]),
        )  # fmt: skip
        trainer.train()
    return {name: PROMPTS * SAMPLES / median(times[1:]) for name, times in taken.items()}


# --- generation alone


def generation_table(name: str, rounds: int, count: int = PROMPTS, vllm: bool = False) -> dict[str, float]:
    """Tokens per second, of `count` prompts; nothing stops a row before `NEW_TOKENS`, on any side."""
    policy = preset(name)
    asked = [policy.prompt_ids(prompt) for prompt in prompts(count=count)]
    rows = torch.tensor(asked, device=DEVICE).repeat_interleave(SAMPLES, 0)

    def theirs(model: Any) -> None:
        model.generate(
            rows, attention_mask=torch.ones_like(rows), do_sample=True, top_k=0, max_new_tokens=NEW_TOKENS,
            eos_token_id=None, pad_token_id=policy.pad_id,
        )  # fmt: skip

    def ours(sampler: Callable[..., Any]) -> None:
        sampler(
            policy.model, asked, samples=SAMPLES, max_new_tokens=NEW_TOKENS, stop_ids=(), pad_id=policy.pad_id,
            generator=seeded(0), precision=policy.precision,
        )  # fmt: skip

    sides = {
        "kolmo": lambda: ours(generate),
        "kolmo, transformers' forward": lambda: ours(partial(generate, lean=False)),
        "model.generate()": lambda: theirs(policy.model),
    }
    if policy.precision == "bf16":
        rounded = preset(name).model.bfloat16()
        sides["model.generate(), its weights in bf16"] = lambda: theirs(rounded)
    if vllm:
        sampler = open_vllm(policy, _VLLM_SHARE)
        sides["vLLM"] = lambda: ours(sampler)
    taken = in_turns(sides, rounds)
    return {side: len(rows) * NEW_TOKENS / spent for side, spent in taken.items()}


# --- the learning pass


def batch_of(words: int, prompts: int, samples: int) -> list[Weighted]:
    rng = random.Random(0)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(words) for _ in range(count))

    groups = [(ids(PROMPT_TOKENS), [ids(NEW_TOKENS) for _ in range(samples)]) for _ in range(prompts)]
    return [
        Weighted(Rollout(prompt, tokens, (), (0,) * NEW_TOKENS, "", True), [(-1.0) ** i] * NEW_TOKENS)
        for prompt, group in groups
        for i, tokens in enumerate(group)
    ]


def plain_pass(model: Any, batch: list[Weighted], tokens_at_once: float = float("inf")) -> None:
    """Gradients of the same loss from a row per rollout and all its logits."""
    at_once = int(min(len(batch), tokens_at_once // (PROMPT_TOKENS + NEW_TOKENS)))
    for start in range(0, len(batch), at_once):
        part = batch[start : start + at_once]
        ids, attention, program = (x.to(model.device) for x in pack([w.rollout for w in part], 0))
        logprobs, entropy = token_logprobs(model, ids, attention)
        weights = torch.tensor([x for w in part for x in w.weights], device=model.device)
        (-(weights * logprobs[program]).sum() / len(batch)).backward()
        entropy[program].sum().item()  # both report it


def learning_table(rounds: int) -> dict[str, float]:
    """Samples per second through forward and backward pass."""
    policy, batch = preset("small"), batch_of(300, PROMPTS, SAMPLES)
    learner = Learner(policy, learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0)

    def plainly() -> None:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=policy.precision == "bf16"):
            plain_pass(policy.model, batch, TOKENS_PER_MICRO_BATCH)

    sides = {"kolmo": lambda: learner.step(batch), "a row per rollout": plainly}
    return {side: len(batch) / spent for side, spent in in_turns(sides, rounds).items()}


def apart_table(rounds: int) -> dict[str, float]:
    """Mean difference between what the sampler and the learning pass say of a token that was sampled, in nats."""
    policy = preset("small")
    scorer, found = Scorer(policy.model, policy.pad_id), dict[str, list[float]]()
    for seed, written, learnt in product(range(rounds), PRECISIONS, PRECISIONS):
        policy.precision = written
        rollouts = policy.rollout(prompts(seed), samples=SAMPLES, max_new_tokens=NEW_TOKENS, generator=seeded(seed))
        sampled_K = torch.tensor([x for rollout in rollouts for x in rollout.logprobs])
        with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16, enabled=learnt == "bf16"):
            logprobs_K = scorer(rollouts, 1.0).logprobs_K.cpu()
        found.setdefault(f"sampled in {written}, learnt in {learnt}", []).extend(
            (logprobs_K - sampled_K).abs().tolist()
        )
    return {way: sum(nats) / len(nats) for way, nats in found.items()}


# --- peak memory

PEAKS = {
    "kolmo": 0.0,
    "plain, micro-batches of the same tokens": TOKENS_PER_MICRO_BATCH,
    "plain, one batch": float("inf"),
}
MEMORY_PROMPTS = 2


def peak_mib(side: str) -> float:
    """MiB that the learning pass of 2 x 8 rollouts adds to the process, gradients included."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS, hidden_size=192, intermediate_size=576, num_hidden_layers=4, num_attention_heads=6,
        num_key_value_heads=6, max_position_embeddings=1024, tie_word_embeddings=True,
    )  # fmt: skip
    model, batch = LlamaForCausalLM(config).eval(), batch_of(WORDS, MEMORY_PROMPTS, SAMPLES)
    learner = Learner(
        Policy("32k words", model, build_tokenizer()), learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0
    )
    _ = learner.scorer  # its probes, and what torch sets up at a first product, are not part of the pass
    held = status("VmRSS")
    if side == "kolmo":
        learner.optimiser.step = lambda: None  # type: ignore[method-assign,assignment]  # the moments: both would have them
        learner.step(batch)
    else:
        plain_pass(model, batch, PEAKS[side])
    return (status("VmHWM") - held) / 1024


def status(key: str) -> int:
    """KiB, from /proc/self/status (Linux)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1])


def memory_table() -> dict[str, float]:
    found = {}
    for side in PEAKS:
        done = subprocess.run([sys.executable, __file__, "--peak", side], capture_output=True, text=True, check=True)
        found[side] = float(done.stdout)
    return found


# --- all of it

TABLES: dict[str, tuple[str, Callable[[int], dict[str, float]]]] = {
    "step": ("a whole update, small (2 M), samples/s", step_table),
    "tiny": ("generation, tiny (0.7 M), tokens/s", lambda rounds: generation_table("tiny", rounds)),
    "small": ("generation, small (2 M), tokens/s", lambda rounds: generation_table("small", rounds)),
    "medium": ("generation, medium (27 M), tokens/s", lambda rounds: generation_table("medium", rounds)),
    "learn": ("forward and backward pass, small (2 M), samples/s", learning_table),
    "apart": ("sampler and learning pass apart, small (2 M), nats a token", apart_table),
    "memory": (f"peak of the learning pass, {WORDS:,} words, 2 x 8 rollouts, MiB", lambda rounds: memory_table()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument(
        "--cpu-time", action="store_true", help="count processor time, on a busy machine: with --threads 1"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="of all but the table of peak memory")
    parser.add_argument("--llama", action="store_true", help="the presets of Llama's architecture: tiny-llama, ...")
    parser.add_argument(
        "--precision", choices=get_args(WantedPrecision), default="auto", help="of products, on both sides"
    )
    parser.add_argument("--json", action="store_true", help="one object on stdout instead of tables")
    parser.add_argument("--peak", choices=PEAKS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print(peak_mib(options.peak))
        return
    torch.set_num_threads(options.threads)
    global CLOCK, DEVICE, LLAMA, PRECISION
    DEVICE, LLAMA, PRECISION = options.device, options.llama, options.precision
    if options.cpu_time:
        CLOCK = time.process_time
    results = {}
    for name in options.only:
        title, measure = TABLES[name]
        results[name] = measure(options.rounds)
        if not options.json:
            show(title, results[name])
    if options.json:
        print(json.dumps({"schema_version": 1, "threads": options.threads, "cores": os.cpu_count(), **results}))


def show(title: str, figures: dict[str, float]) -> None:
    table = Table("", "", "kolmo against it", title=title, box=box.SIMPLE_HEAD, title_justify="left")
    ours = figures.get("kolmo")
    for side, figure in figures.items():
        if ours is None:
            table.add_row(side, f"{figure:.1e}", "")
            continue
        ratio = figure / ours if title.startswith("peak") else ours / figure
        table.add_row(side, f"{figure:,.0f}", "" if side == "kolmo" else f"{ratio:.2f} x")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
