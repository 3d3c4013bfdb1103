"""From a configuration to the parts of a run, and from a checkpoint to where they were."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from kolmocli.checkpoints import latest_checkpoint, settle, silent
from kolmocli.config import Config
from kolmocli.config.controller import build_controller
from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Controller
from kolmocli.engine.base import Engine
from kolmocli.engine.judging import most_limits, open_judge
from kolmocli.engine.local import open_local_engine
from kolmocli.engine.monarch.engine import open_monarch_engine
from kolmocli.engine.monarch.messages import GeneratorSettings
from kolmocli.engine.references import check_references, failing_buckets
from kolmocli.errors import KolmoError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.files import require_utf8
from kolmocli.learning.learner import Learner
from kolmocli.learning.saving import load_state, save_checkpoint
from kolmocli.learning.trained import load_trained, open_learner
from kolmocli.monitor.display import Display
from kolmocli.monitor.events import StartEvent
from kolmocli.monitor.reader import read_metrics
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.tensorboard import TensorBoardLog, require_tensorboard
from kolmocli.monitor.writer import RunLog
from kolmocli.pace import Pace
from kolmocli.policy.adapters import rank_of
from kolmocli.policy.loading import choose_device
from kolmocli.policy.order import sums_in_order
from kolmocli.policy.policy import Policy
from kolmocli.policy.precision import choose_precision
from kolmocli.policy.presets import is_preset
from kolmocli.tasks.sources import evaluation_source, tasks_of_files, training_source
from kolmocli.training.evaluation import Evaluation
from kolmocli.training.folder import (
    data_digests,
    held,
    new_folder,
    point_latest,
    refuse_changed,
    refuse_gaps,
    refuse_other_data,
    refuse_used,
    resumable,
    resume_command,
)
from kolmocli.training.methods.base import Methods
from kolmocli.training.methods.entropy_target import HeldEntropy, require_reachable
from kolmocli.training.methods.opening import open_methods
from kolmocli.training.moment import Moment, Remembered
from kolmocli.training.precision import keep_precision, with_precision
from kolmocli.training.recorder import Recorder
from kolmocli.training.run import Run
from kolmocli.training.signals import StopRequest
from kolmocli.training.standing import MASTERED_STEPS
from kolmocli.training.state import RunState, Totals
from kolmocli.training.threads import with_threads
from kolmocli.training.weigh import Weigh


@dataclass(frozen=True, slots=True)
class RunOptions:
    run_dir: Path | None = None
    resume: bool = False
    stop_at: int | None = None
    verbose: bool = False
    quiet: bool = False
    allow_gaps: bool = False
    """Resume although lines of metrics.jsonl are missing."""
    plugins: tuple[str, ...] = ()
    """The run's arguments, for the command that continues it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a run."""

    run: Run
    controller: Controller
    engine: Engine
    weigh: Weigh
    methods: Methods
    learner: Learner
    evaluation: Evaluation
    recorder: Recorder
    log: RunLog


def open_run(config: Config, options: RunOptions, display: Display, stack: ExitStack) -> Parts:
    """Everything that is opened is closed by `stack`.

    Raises:
        UsageError: a used or unsuitable run folder, an unknown model, data that cannot be used.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
    """
    if options.run_dir is not None:
        require_utf8(options.run_dir)
    if not options.resume and options.run_dir is not None:
        refuse_used(options.run_dir)
    resumed = stack.enter_context(held(resumable(options.run_dir), display.note)) if options.resume else None
    if config.log == "tensorboard":
        require_tensorboard()
    held_out = held_out_tasks(evaluation_source(config, display.note), config.evaluation.tasks)
    source = training_source(config, display.note, held_out)
    controller = build_controller(config.controller, config.families, source.buckets(), config.training.steps)
    files = [name for name in (config.data.train, config.data.eval) if name is not None]
    check_references(config.data, files, config.sandbox, config.sandbox.backend, display.note)
    here = None if config.engine.kind == "monarch" else config.sandbox  # programs run where the generators are
    references = failing_buckets(source, here, config.sandbox.backend)
    for bucket, why in references.items():
        display.note(f"{bucket}: {why}")
    data = data_digests(config.data)
    checkpoint = _checkpoint(resumed, display.note) if resumed else None
    saved, tensors = load_state(checkpoint) if checkpoint else ({}, {})
    if resumed:
        own = resumed / "config.yaml"
        before = saved["config"] if checkpoint else load_config(own, to_look=True).model_dump(mode="json")
        config = keep_precision(config, before)
        refuse_changed(before, config)
        config = with_threads(config, before.get("threads"), display.note, stack)
    else:
        config = with_threads(config, None, display.note, stack)
    if checkpoint:
        refuse_other_data(saved["data"], data)
        refuse_gaps(checkpoint, saved, display.note, allowed=options.allow_gaps)
        display.note(f"resuming from {checkpoint}")
    place = choose_device(config.model.device).type
    stack.enter_context(sums_in_order(place, config.training.deterministic, display.note))
    policy = open_policy(config, checkpoint, display.note)
    looked_at = chain(held_out, (source.task(bucket, 0) for bucket in source.buckets()))
    policy.require_room((policy.prompt_ids(task.asked) for task in looked_at), config.training.max_new_tokens)
    if config.training.entropy_target is not None:
        require_reachable(config.training.entropy_target, policy)
    if config.adapter_rank and is_preset(config.model.name):
        display.note(f"{config.model.name} is drawn at random and stays so: only its adapters learn")
    policy.precision = choose_precision(policy.model, config.model.precision, display.note)
    config = with_precision(config, policy.precision)
    pace = Pace()
    engine = open_engine(config, policy, display.note, pace)
    stack.callback(engine.close)
    state, totals = RunState(phase="warmup" if config.warmup.max_steps else "rl"), Totals()
    methods, weigh, value = open_methods(config, source, engine, policy)
    learner = open_learner(
        policy,
        config.training,
        model=config.model.name,
        seed=config.seed,
        ratio_cap=config.ratio_cap,
        read_states=None if value is None else value.read,
        pace=pace,
    )
    if (held_at := config.training.entropy_target) is not None:
        methods.add("entropy_target", HeldEntropy(held_at, config.training, learner, engine))
    remembered = Remembered(state, totals, controller, methods)
    if checkpoint:
        remembered.load_state_dict({**saved, "methods": tensors["methods"]})
        learner.load_state_dict(tensors["optimiser"])
    for note in learner.scorer.notes:
        display.note(f"{config.model.name}: {note}")
    folder = resumed or stack.enter_context(new_folder(config, options.run_dir, display.note))
    if options.run_dir is None or not options.run_dir.is_symlink():
        point_latest(folder)
    log = stack.enter_context(_open_log(config.log, folder, options, state if checkpoint else None))
    recorder = Recorder(
        log, display, engine, controller, methods, state, totals, about=_about(config, folder),
        warm_steps=config.warmup.max_steps, parameters=policy.parameters, references=references,
        verbose=options.verbose,
    )  # fmt: skip

    def write_checkpoint() -> Path:
        now = remembered.state_dict()
        learnt = {"optimiser": learner.state_dict(), "methods": now.pop("methods")}
        trainer = {**now, "config": config.model_dump(mode="json"), "data": data, "lines": log.lines}
        return save_checkpoint(folder, state.step, policy, learnt, trainer)

    run = Run(
        folder, state, recorder, source, seed=config.seed, last=config.training.steps,
        checkpoint_every=config.checkpoint_every, stop=stack.enter_context(StopRequest()), stop_at=options.stop_at,
        pace=pace, moment=lambda: Moment(remembered, policy), write_checkpoint=write_checkpoint,
        go_on=resume_command(folder, options.plugins, config.engine, config.sandbox.backend),
        mastered=MASTERED_STEPS if config.training.stop_when == "mastered" else None,
    )  # fmt: skip
    run.checkpoint = checkpoint
    name, kind, backend = config.model.name, config.engine.kind, engine.health().backend
    text = f"{name} on {policy.model.device}{_adapted(policy)}, sandbox {backend}"
    recorder.event(StartEvent(step=state.step, model=name, engine=kind, sandbox=backend, text=text))
    recorder.note_references()
    evaluation = Evaluation(run, engine, held_out, config.evaluation.every)
    return Parts(run, controller, engine, weigh, methods, learner, evaluation, recorder, log)


def open_policy(config: Config, checkpoint: Path | None = None, warn: Callable[[str], None] = silent) -> Policy:
    """The policy that is trained, as a run begins with it or as it was in this checkpoint."""
    return load_trained(
        config.model, config.training, seed=config.seed, adapter_rank=config.adapter_rank, alphabet=config.alphabet,
        checkpoint=checkpoint, warn=warn,
    )  # fmt: skip


def open_engine(config: Config, policy: Policy, warn: Callable[[str], None], pace: Pace | None = None) -> Engine:
    """The engine that is asked for."""
    sandbox = config.sandbox if config.runs_programs else None
    most = most_limits(sandbox, tasks_of_files(config.data))
    if config.engine.kind == "monarch":
        settings = GeneratorSettings(
            config.seed, config.model, config.training, config.reward, sandbox, config.adapter_rank, config.alphabet,
            most,
        )  # fmt: skip
        return open_monarch_engine(policy, config.engine, settings, warn, pace)
    judge = open_judge(config.reward, config.training.max_lines, sandbox, config.sandbox.backend, warn, most)
    return open_local_engine(policy, judge, config.training, config.model, pace)


def _about(config: Config, folder: Path) -> Snapshot:
    """The view of a run that has not begun."""
    return Snapshot(
        name=folder.name, state="starting", step=0, steps=config.training.steps, seconds=0.0, model=config.model.name,
        engine=config.engine.kind, target=config.controller.target,
    )  # fmt: skip


def _checkpoint(folder: Path, note: Callable[[str], None]) -> Path | None:
    """The newest complete checkpoint of the run to resume; None when there is none yet.

    Raises:
        KolmoError: there are some, and all are damaged, or their folder is out of reach: to begin again would throw away
            what they were reached by.
    """
    place = folder / "checkpoints"
    if os.path.lexists(place) and not place.is_dir():  # a link to a disk that is not there now, for one
        raise KolmoError(
            f"{place}: leads to no folder; put the checkpoints back where they were, or remove it to begin again"
        )
    settle(folder)
    damaged: list[str] = []
    found = latest_checkpoint(folder, damaged.append)
    if found is None and damaged:
        raise KolmoError(f"{damaged[0]}, and no other is intact; put one back, or remove {place} to begin again")
    for line in damaged:
        note(line)
    if found is None:
        note(f"{folder} holds no complete checkpoint yet: beginning again")
    return found


def _open_log(kind: str, folder: Path, options: RunOptions, resumed: RunState | None) -> RunLog:
    """The log of a fresh run; of a resumed one up to where it goes on; emptied where it begins again."""
    mirror = (lambda: TensorBoardLog(folder, read_metrics(folder))) if kind == "tensorboard" else None
    if not options.resume:
        return RunLog(folder, mirror=mirror)
    step, warm_steps = (resumed.step, resumed.warm_steps) if resumed else (-1, 0)
    return RunLog(folder, step, warm_step=warm_steps, mirror=mirror)


def _adapted(policy: Policy) -> str:
    if policy.base is None:
        return ""
    trained = sum(p.numel() for p in policy.model.parameters() if p.requires_grad)
    bits = " in 8 bits" if policy.base.load_in_8bit else ""
    return (
        f"{bits} with adapters of rank {rank_of(policy.model)} ({trained:,} of {policy.parameters:,} parameters train)"
    )
