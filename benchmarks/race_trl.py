"""One run of TRL's GRPOTrainer for `race.py`: from a warm start of ours, on our tasks, by our judge and our evaluation.

    kolmo train expressions --steps 0 --run-dir runs/warm
    python benchmarks/race_trl.py python --warm runs/warm --run-dir runs/trl                          # as it comes
    python benchmarks/race_trl.py python --warm runs/warm --run-dir runs/trl --best --rate 1e-3       # at its best
    python benchmarks/race_trl.py python --warm runs/warm --run-dir runs/trl --best --rate 1e-3 --adapter

As it comes, all that the two sides do not share is TRL's default: its loss, the division by the standard deviation, its
learning rate, its precision, its checkpointing of gradients. At its best nothing is divided, products are in bf16 where
ours are, nothing is computed twice, and optimiser and schedule are ours, at a rate of its own. A batch is sampled in the
portions in which it is learnt from, `--rows` at a time, since TRL pads all that it samples together to the longest prompt
and the longest answer; with `--portions` TRL as it comes does so too. `--entropy` is TRL's `entropy_coef`, which the race
leaves at nothing. Tasks come uniformly from all buckets; with `--adapter` the controller of the curriculum chooses them.

What is the same: rollouts per update and per task, the most tokens, the full softmax at temperature 1, and no reference
model. The folder has the files of a run of ours, as far as TRL knows what is in them. Seconds are those from the beginning
of a step to its end: drawing tasks, evaluations and checkpoints are not in them. SIGTERM saves, as every fifth
update does, and the same command goes on.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
import trl
from paired import positive
from torch.optim.lr_scheduler import LambdaLR
from transformers import TrainerCallback

from kolmocli.config import Config, Training
from kolmocli.config.controller import build_controller
from kolmocli.config.file import load_config, parse_settings
from kolmocli.curriculum.information import mean_entropy, signal_fraction
from kolmocli.engine.judging import open_judge
from kolmocli.engine.local import LocalEngine
from kolmocli.engine.opening import open_local_engine
from kolmocli.evaluation.heldout import attempt, held_out_tasks
from kolmocli.evaluation.metrics import summarise
from kolmocli.evaluation.samples import best_of
from kolmocli.integrations.course import Course
from kolmocli.integrations.trl import Lessons
from kolmocli.learning.optimiser import build_optimiser
from kolmocli.monitor.events import EvaluationEvent, StartEvent
from kolmocli.monitor.history import read_history
from kolmocli.monitor.records import ReinforceRecord, StepSeconds
from kolmocli.monitor.summary import Summary, SummaryBits, SummaryEval
from kolmocli.monitor.writer import RunLog
from kolmocli.paths import find_curriculum
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.tasks.base import Task
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.outcome import Outcome
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.evaluation import AFTER, BEFORE
from kolmocli.training.opening import open_policy
from kolmocli.training.schedule import learning_rate
from kolmocli.training.signals import StopRequest

ROWS = 64
"""Rollouts that TRL learns from at a time, if not told otherwise; it adds up the gradients of a batch."""
SAVED_EVERY = 5
"""Updates between checkpoints: with SmolLM2 an update of TRL takes minutes."""


class Exact(Course):
    """Judges what runs of ours judge, the whole text unless a chat model writes a program, and keeps what came of it."""

    def __init__(self, preset: bool, *parts: Any) -> None:
        super().__init__(*parts)
        self._preset = preset
        self.said: list[tuple[Task, Outcome]] = []
        self.seconds = 0.0

    def judge(self, tasks: Sequence[Task], answers: Sequence[str]) -> list[Outcome]:
        began = time.perf_counter()
        texts = [
            task.prefix + answer if self._preset or task.language == "text" else judged_text(task, answer)
            for task, answer in zip(tasks, answers, strict=True)
        ]
        outcomes = self._judge(tasks, texts)
        self.seconds += time.perf_counter() - began
        self.said += zip(tasks, outcomes, strict=True)
        return outcomes

    def take(self, step: int, seconds: float) -> ReinforceRecord:
        """The record of a step that took so long, and nothing kept."""
        groups = dict[tuple[Any, int], list[Outcome]]()
        for task, outcome in self.said:
            if outcome.reward is not None:
                groups.setdefault((task.bucket, task.index), []).append(outcome)
        counts = [(sum(o.passed for o in group), len(group)) for group in groups.values()]
        rollouts, judging = sum(n for _, n in counts), self.seconds
        rewards = [[o.reward or 0.0 for o in group] for group in groups.values()]
        dead = [passes for (passes, _), found in zip(counts, rewards, strict=True) if len(set(found)) == 1]
        record = ReinforceRecord(
            step=step,
            rollouts=rollouts,
            pass_rate=sum(k for k, _ in counts) / rollouts if rollouts else None,
            reward=sum(map(sum, rewards)) / rollouts if rollouts else None,
            bits_per_rollout=mean_entropy(counts) or 0.0,
            signal_share=signal_fraction(counts),
            groups=len(groups),
            dead_groups=len(dead),
            dead_fail=sum(not passes for passes in dead),
            dead_pass=sum(bool(passes) for passes in dead),
            infra=len(self.said) - rollouts,
            seconds=StepSeconds(execute=judging, learn=seconds - judging),
        )
        self.said, self.seconds = [], 0.0
        return record


class Writing(TrainerCallback):  # type: ignore[misc]
    """The files of the run: its steps, and evaluations by an engine of ours, whose policy gets the weights as they are."""

    def __init__(self, config: Config, course: Exact, engine: LocalEngine, log: RunLog, stop: StopRequest) -> None:
        self._config, self._course, self._engine, self._log, self._stop = config, course, engine, log, stop
        self._began = 0.0

    def evaluate(self, model: Any, step: int, name: str) -> None:
        self._engine.policy.model.load_state_dict(model.state_dict())
        held_out = self._course.held_out(self._config.evaluation.tasks)
        report = summarise([(task, best_of(outcomes)) for task, outcomes in attempt(self._engine, held_out)])
        kept = {key: report[key] for key in ("n", "accuracy", "accuracy_ci", "compression_rate")}
        self._log.event(EvaluationEvent(step=step, name=name, **kept))

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._began = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> Any:
        seconds, step, every = time.perf_counter() - self._began, state.global_step, self._config.evaluation.every
        self._log.step(self._course.take(step, seconds))
        if every and step % every == 0 and step < state.max_steps:
            self.evaluate(model, step, f"step {step}")
        if self._stop.signal is not None:
            control.should_save = control.should_training_stop = True
        elif step % SAVED_EVERY == 0:
            control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._log.flush()


def settings(config: Config, policy: Policy, o: argparse.Namespace) -> dict[str, Any]:
    """What TRL's configuration is told: what both sides share, how much at a time, and what is its best."""
    training, group = config.training, config.training.group_size
    whole = range(group, min(o.rows, training.batch_size) + 1, group)
    rows = max((rows for rows in whole if training.batch_size % rows == 0), default=group)
    shared = {
        "per_device_train_batch_size": rows, "gradient_accumulation_steps": training.batch_size // rows,
        "num_generations": group, "max_completion_length": training.max_new_tokens,
        "temperature": 1.0, "top_k": 0, "top_p": 1.0, "beta": 0.0, "max_steps": training.steps, "seed": config.seed,
        "use_cpu": policy.model.device.type == "cpu",
    }  # fmt: skip
    if o.best or o.portions:
        shared["steps_per_generation"] = 1
    if not o.best:
        return shared
    return shared | {
        "scale_rewards": "none", "bf16": choose_precision(policy.model, config.model.precision) == "bf16",
        "gradient_checkpointing": False, "max_grad_norm": training.max_grad_norm,
        "learning_rate": training.learning_rate, "entropy_coef": o.entropy,
    }  # fmt: skip


def optimiser(training: Training, policy: Policy) -> tuple[Any, Any]:
    """Ours, and our schedule."""
    found = build_optimiser(training.optimizer, policy.model.parameters(), training.learning_rate)
    return found, LambdaLR(found, lambda done: learning_rate(done + 1, training) / training.learning_rate)


def run(config: Config, o: argparse.Namespace, stop: StopRequest) -> int:
    """The exit code: that of a run that was stopped, when it was."""
    policy, trained = open_policy(config), open_policy(config)

    def ask(task: Task) -> str:
        return policy.prompt_text(task.asked) + task.prefix

    evaluated = evaluation_source(config, note)
    held_out = held_out_tasks(evaluated, config.evaluation.tasks)
    for task in held_out:  # both sides read the same tokens
        assert tuple(trained.tokenizer(ask(task)).input_ids) == policy.prompt_ids(task.asked, task.prefix), task
    source = training_source(config, note, held_out)
    controller = build_controller(config.controller, config.families, source.buckets(), config.training.steps)
    judge = open_judge(
        config.reward, config.training.max_lines, config.sandbox if config.runs_programs else None,
        config.sandbox.backend, note,
    )  # fmt: skip
    checkpoints = sorted(o.run_dir.glob("checkpoint-*"), key=step_of)
    begun = step_of(checkpoints[-1]) if checkpoints else -1
    with (
        Exact(policy.is_preset, config, source, evaluated, controller, judge) as course,
        RunLog(o.run_dir, begun) as log,
    ):
        engine = open_local_engine(policy, judge, config.training, config.model)
        writing, lessons = Writing(config, course, engine, log, stop), Lessons(course, ask=ask)
        told = settings(config, trained, o)
        versions = f"TRL {trl.__version__}, transformers {transformers.__version__}, torch {torch.__version__}"
        text = f"{versions}, {torch.get_num_threads()} threads: {told}"
        log.event(StartEvent(step=max(begun, 0), model=config.model.name, engine="TRL", text=text))
        if not checkpoints:
            writing.evaluate(trained.model, 0, BEFORE)
        trainer = trl.GRPOTrainer(
            model=trained.model, processing_class=trained.tokenizer, reward_funcs=lessons.reward,
            train_dataset=lessons.stream(), callbacks=[lessons, writing],
            optimizers=optimiser(config.training, trained) if o.best else (None, None),
            args=trl.GRPOConfig(
                output_dir=str(o.run_dir), shuffle_dataset=False, save_strategy="no", save_total_limit=1, report_to=[],
                disable_tqdm=True, logging_strategy="no", dataloader_pin_memory=False, **told,
            ),
        )  # fmt: skip
        trainer.train(resume_from_checkpoint=str(checkpoints[-1]) if checkpoints else None)
        if trainer.state.global_step < config.training.steps:
            assert stop.signal is not None
            return 128 + stop.signal
        writing.evaluate(trained.model, config.training.steps, AFTER)
        log.write_summary(summary(o.run_dir, config.training.steps))
    for checkpoint in o.run_dir.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    return 0


def step_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def summary(folder: Path, steps: int) -> Summary:
    """Of a run that has been evaluated for the last time."""
    history = read_history(folder)
    rollouts = sum(record.rollouts or 0 for record in history.rl)
    bits = sum((record.bits_per_rollout or 0.0) * (record.rollouts or 0) for record in history.rl)
    before, after = ({"n": e.n, "accuracy": e.accuracy} for e in (history.evaluations[0], history.evaluations[-1]))
    return Summary(
        schema_version=1, run=str(folder), steps=steps, rollouts=rollouts, eval=SummaryEval(before=before, after=after),
        bits=SummaryBits(per_rollout=bits / rollouts if rollouts else None, total=bits),
    )  # fmt: skip


def note(text: str) -> None:
    print(text, file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("curriculum", help="a packaged name or a file")
    parser.add_argument("--warm", type=Path, required=True, help="the run whose policy is gone on from")
    parser.add_argument("--run-dir", type=Path, required=True, help="the folder of this run")
    parser.add_argument("--best", action="store_true", help="with what is best for it, in place of its defaults")
    parser.add_argument("--rate", type=float, help="learning rate with --best (default: the curriculum's)")
    parser.add_argument("--rows", type=positive, default=ROWS, help="rollouts at a time (default: %(default)s)")
    parser.add_argument("--portions", action="store_true", help="sample that many at a time too, as --best does")
    parser.add_argument("--entropy", type=float, default=0.0,
                        help="weight of the entropy of a token, with --best (default: %(default)s)")  # fmt: skip
    parser.add_argument("--adapter", action="store_true", help="the controller of the curriculum chooses the tasks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="updates (default: the curriculum's)")
    parser.add_argument("--eval-freq", type=int, default=10, help="updates between evaluations (default: %(default)s)")
    parser.add_argument("--eval-samples", type=int, help="held-out tasks (default: the curriculum's)")
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any key of the curriculum")
    o = parser.parse_args()
    if (o.rate is not None or o.entropy) and not o.best:
        parser.error("--rate and --entropy: as it comes TRL has its own; add --best")
    if o.portions and o.best:
        parser.error("--portions: --best does so anyway; remove --portions")
    asked = {
        "seed": o.seed, "model.name": str(o.warm), "training.steps": o.steps, "evaluation.every": o.eval_freq,
        "evaluation.tasks": o.eval_samples, "controller.kind": None if o.adapter else "uniform",
        "training.learning_rate": o.rate,
    }  # fmt: skip
    changes = parse_settings(o.set) | {key: value for key, value in asked.items() if value is not None}
    config = load_config(find_curriculum(o.curriculum), changes | {"sandbox.backend": o.sandbox})
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore", module="(torch|transformers|trl|accelerate)")
    with StopRequest() as stop:
        return run(config, o, stop)


if __name__ == "__main__":
    sys.exit(main())
