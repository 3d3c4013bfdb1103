"""The trainer beside its peers, in one run: a whole update, generation alone, the learning pass, and its peak memory.

    pip install -e '.[bench]'
    python benchmarks/trainer.py                     # everything
    python benchmarks/trainer.py --only step --rounds 5 --json
    python benchmarks/trainer.py --only memory
    python benchmarks/trainer.py --model smollm2 --rounds 3      # a whole update of a pretrained model

Both sides get the same weights, prompts, reward, number of threads and precision, in turns within one process, so that
a noisy machine is noisy to both; figures are medians of the rounds, ratios those of medians. Prompts have 140 tokens,
8 of them with 8 samples each, and 40 tokens are written. The peak of a learning pass is what the process grows by
(VmHWM of /proc/self/status over what it held before), each in a process of its own.

With `--model` an update has 16 prompts of `curricula/digits.yaml` through the model's chat template, 8 samples of each and at
most 24 new tokens, and all weights are trained. TRL samples all of them at once and learns from `--rows` at a time.

What is the same: sampling from the full softmax at temperature 1, AdamW, no reference model, one update per batch.
What is not: TRL computes the loss of DAPO with advantages over groups, kolmo REINFORCE with leave-one-out advantages.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, get_args

import torch
from bench import NEW_TOKENS, PROMPTS, SAMPLES, Bench, batch_of, prompts
from learning_peak import WORDS, peaks, plain_pass
from rich import box
from rich.console import Console
from rich.table import Table

import kolmocli as kolmo
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.limits import TOKENS_PER_MICRO_BATCH
from kolmocli.learning.returns import advantages
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.generation import generate
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.policy.scoring import Scorer
from kolmocli.policy.vllm import open_vllm
from kolmocli.processor import Precision, WantedPrecision
from kolmocli.tasks.base import Prompt

RATE = 1e-4
_VLLM_SHARE = 0.4
"""Of a GPU's memory."""


# --- a whole update, against TRL


def reward(text: str) -> float:
    """Any function of the text that differs within a group; no sandbox on either side."""
    return len(set(text)) / 64


@dataclass(frozen=True)
class Update:
    """What both sides have in common in an update."""

    open_policy: Callable[[], Policy]
    prompts: Sequence[Prompt]
    new_tokens: int
    rows: int
    """Rollouts that TRL learns from at a time; it adds up their gradients."""


def preset_update(bench: Bench, name: str) -> Update:
    return Update(partial(bench.preset, name), prompts(), NEW_TOKENS, PROMPTS * SAMPLES)


def pretrained_update(bench: Bench, name: str, rows: int) -> Update:
    def open_policy() -> Policy:
        policy = load_policy(name, device=bench.device, train=Adaptation())
        policy.precision = choose_precision(policy.model, bench.precision)
        return policy

    with kolmo.open_course("digits", judges=False) as course:
        asked = [task.asked for task in course.draw(16)]
    return Update(open_policy, asked, 24, rows)


def shown(policy: Policy, prompt: Prompt) -> str:
    """The prompt as text, of which both sides make the same tokens."""
    text = policy.prompt_text(prompt)
    assert tuple(policy.tokenizer(text).input_ids) == policy.prompt_ids(prompt), text
    return text


def ours(bench: Bench, update: Update, policy: Policy) -> Callable[[], None]:
    """Runs an update of kolmo's."""
    step = iter(range(1_000_000))
    learner = Learner(policy, learning_rate=RATE, max_grad_norm=1.0, entropy_bonus=0.0)

    def run() -> None:
        generator = bench.seeded(next(step))
        rollouts = policy.rollout(
            update.prompts, samples=SAMPLES, max_new_tokens=update.new_tokens, generator=generator
        )
        batch = []
        for start in range(0, len(rollouts), SAMPLES):
            group = rollouts[start : start + SAMPLES]
            values = advantages([reward(r.text) for r in group], "rloo")
            for rollout, value in zip(group, values, strict=True):
                batch.append(Weighted(rollout, [value] * len(rollout.tokens)))
        learner.step(batch)

    return run


def step_table(bench: Bench, rounds: int, name: str = "small") -> dict[str, float]:
    """Samples per second of updates of a preset."""
    return update_table(bench, rounds, preset_update(bench, name))


def update_table(bench: Bench, rounds: int, update: Update) -> dict[str, float]:
    """Samples per second of whole updates. TRL's trainer owns its loop: an update of ours follows each of its own."""
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    policy, theirs = update.open_policy(), update.open_policy()
    run, samples = ours(bench, update, policy), len(update.prompts) * SAMPLES
    taken: dict[str, list[float]] = {"kolmo": [], "TRL GRPOTrainer": []}

    class Turns(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
            bench.finish()
            self.began = bench.clock()

        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            bench.finish()
            taken["TRL GRPOTrainer"].append(bench.clock() - self.began)
            taken["kolmo"].append(bench.seconds(run))

    texts = [shown(policy, prompt) for prompt in update.prompts]
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = GRPOConfig(
            output_dir=folder, per_device_train_batch_size=update.rows, gradient_accumulation_steps=samples // update.rows,
            num_generations=SAMPLES, max_completion_length=update.new_tokens, max_steps=rounds + 1, learning_rate=RATE,
            beta=0.0, temperature=1.0, top_k=0, top_p=1.0, use_cpu=bench.device == "cpu", bf16=policy.precision == "bf16",
            gradient_checkpointing=False, report_to=[], save_strategy="no", logging_steps=1000, disable_tqdm=True, seed=0,
            shuffle_dataset=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=theirs.model, processing_class=theirs.tokenizer, args=config, callbacks=[Turns()],
            reward_funcs=lambda completions, **_: [reward(text) for text in completions],
            train_dataset=Dataset.from_list([{"prompt": text} for text in texts * (rounds + 1)]),
        )  # fmt: skip
        trainer.train()
    return {name: samples / median(times[1:]) for name, times in taken.items()}


# --- generation alone


def generation_table(
    bench: Bench, name: str, rounds: int, count: int = PROMPTS, vllm: bool = False
) -> dict[str, float]:
    """Tokens per second, of `count` prompts; nothing stops a row before `NEW_TOKENS`, on any side."""
    policy = bench.preset(name)
    asked = [policy.prompt_ids(prompt) for prompt in prompts(count=count)]
    rows = torch.tensor(asked, device=bench.device).repeat_interleave(SAMPLES, 0)

    def theirs(model: Any) -> None:
        model.generate(
            rows, attention_mask=torch.ones_like(rows), do_sample=True, top_k=0, max_new_tokens=NEW_TOKENS,
            eos_token_id=None, pad_token_id=policy.pad_id,
        )  # fmt: skip

    def ours(sampler: Callable[..., Any]) -> None:
        sampler(
            policy.model, asked, samples=SAMPLES, max_new_tokens=NEW_TOKENS, stop_ids=(), pad_id=policy.pad_id,
            generator=bench.seeded(0), precision=policy.precision,
        )  # fmt: skip

    sides = {
        "kolmo": lambda: ours(generate),
        "kolmo, transformers' forward": lambda: ours(partial(generate, lean=False)),
        "model.generate()": lambda: theirs(policy.model),
    }
    if policy.precision == "bf16":
        rounded = bench.preset(name).model.bfloat16()
        sides["model.generate(), its weights in bf16"] = lambda: theirs(rounded)
    if vllm:
        sampler = open_vllm(policy, _VLLM_SHARE)
        sides["vLLM"] = lambda: ours(sampler)
    taken = bench.in_turns(sides, rounds)
    return {side: len(rows) * NEW_TOKENS / spent for side, spent in taken.items()}


# --- the learning pass


def learning_table(bench: Bench, rounds: int) -> dict[str, float]:
    """Samples per second through forward and backward pass."""
    policy, batch = bench.preset("small"), batch_of(300, PROMPTS, SAMPLES)
    learner = Learner(policy, learning_rate=0.0, max_grad_norm=1.0, entropy_bonus=0.0)

    def plainly() -> None:
        with torch.autocast(bench.device, torch.bfloat16, enabled=policy.precision == "bf16"):
            plain_pass(policy.model, batch, TOKENS_PER_MICRO_BATCH)

    sides = {"kolmo": lambda: learner.step(batch), "a row per rollout": plainly}
    return {side: len(batch) / spent for side, spent in bench.in_turns(sides, rounds).items()}


def apart_table(bench: Bench, rounds: int) -> dict[str, float]:
    """Mean difference between what the sampler and the learning pass say of a token that was sampled, in nats."""
    policy = bench.preset("small")
    scorer, found = Scorer(policy.model, policy.pad_id), dict[str, list[float]]()
    for seed, written, learnt in product(range(rounds), *2 * [get_args(Precision)]):
        policy.precision = written
        rollouts = policy.rollout(
            prompts(seed), samples=SAMPLES, max_new_tokens=NEW_TOKENS, generator=bench.seeded(seed)
        )
        sampled_K = torch.tensor([x for rollout in rollouts for x in rollout.logprobs])
        with torch.no_grad(), torch.autocast(bench.device, torch.bfloat16, enabled=learnt == "bf16"):
            logprobs_K = scorer(rollouts, 1.0).logprobs_K.cpu()
        found.setdefault(f"sampled in {written}, learnt in {learnt}", []).extend(
            (logprobs_K - sampled_K).abs().tolist()
        )
    return {way: sum(nats) / len(nats) for way, nats in found.items()}


# --- all of it

TABLES: dict[str, tuple[str, Callable[[Bench, int], dict[str, float]]]] = {
    "step": ("a whole update, small (2 M), samples/s", step_table),
    "tiny": ("generation, tiny (0.7 M), tokens/s", lambda bench, rounds: generation_table(bench, "tiny", rounds)),
    "small": ("generation, small (2 M), tokens/s", lambda bench, rounds: generation_table(bench, "small", rounds)),
    "medium": ("generation, medium (27 M), tokens/s", lambda bench, rounds: generation_table(bench, "medium", rounds)),
    "learn": ("forward and backward pass, small (2 M), samples/s", learning_table),
    "apart": ("sampler and learning pass apart, small (2 M), nats a token", apart_table),
    "memory": (f"peak of the learning pass, {WORDS:,} words, 2 x 8 rollouts, MiB", lambda bench, rounds: peaks()),
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
    parser.add_argument("--model", help="a pretrained model, such as smollm2: its whole update against TRL's alone")
    parser.add_argument("--rows", type=int, default=16, help="with --model: rollouts that TRL learns from at a time")
    parser.add_argument("--json", action="store_true", help="one object on stdout instead of tables")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock = time.process_time if options.cpu_time else time.perf_counter
    bench = Bench(options.device, options.precision, options.llama, clock)
    results = {}
    tables = TABLES
    if options.model is not None:
        update = pretrained_update(bench, options.model, options.rows)
        title = f"a whole update, {options.model}, samples/s"
        tables = {"step": (title, lambda bench, rounds: update_table(bench, rounds, update))}
    for name in options.only if options.model is None else tables:
        title, measure = tables[name]
        results[name] = measure(bench, options.rounds)
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
        table.add_row(side, f"{figure:,.{0 if figure > 20 else 2}f}", "" if side == "kolmo" else f"{ratio:.2f} x")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
