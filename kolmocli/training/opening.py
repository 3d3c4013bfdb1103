"""From a configuration to the parts of a run, and from a checkpoint to where they were."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kolmocli.checkpoints import silent
from kolmocli.config import Config
from kolmocli.curriculum.base import Controller
from kolmocli.engine.base import Engine
from kolmocli.engine.judging import fitted, open_judge
from kolmocli.engine.monarch.engine import open_monarch_engine
from kolmocli.engine.monarch.messages import GeneratorSettings
from kolmocli.engine.opening import open_local_engine
from kolmocli.files import require_utf8
from kolmocli.learning.learner import Learner
from kolmocli.learning.saving import save_checkpoint, understood
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
from kolmocli.tasks.sources import tasks_of_files
from kolmocli.training.evaluation import Evaluation
from kolmocli.training.folder import (
    held,
    new_folder,
    point_latest,
    refuse_used,
    resumable,
    resume_command,
)
from kolmocli.training.inputs import Inputs, open_inputs
from kolmocli.training.methods.base import Methods
from kolmocli.training.methods.entropy_target import HeldEntropy, require_reachable
from kolmocli.training.methods.opening import open_methods
from kolmocli.training.moment import Moment, Remembered
from kolmocli.training.precision import with_precision
from kolmocli.training.recorder import Recorder
from kolmocli.training.resumed import LeftState, left_state
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


def open_run(asked: Config, options: RunOptions, display: Display, stack: ExitStack) -> Parts:
    """Everything that is opened is closed by `stack`.

    Raises:
        UsageError: a used or unsuitable run folder, an unknown model, data that cannot be used.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
    """
    resumed = _claimed(options, display.note, stack)
    if asked.log == "tensorboard":
        require_tensorboard()
    inputs = open_inputs(asked, display.note)
    before = left_state(resumed, display.note)
    kept = before.goes_on_with(asked, inputs.data, display.note, gaps=options.allow_gaps)
    writer = _open_writer(kept, before, inputs, display.note, stack)
    training = _open_training(writer, before, inputs)
    for note in training.learner.scorer.notes:
        display.note(f"{writer.config.model.name}: {note}")
    folder = resumed or stack.enter_context(new_folder(writer.config, options.run_dir, display.note))
    if options.run_dir is None or not options.run_dir.is_symlink():
        point_latest(folder)
    parts = _open_parts(folder, inputs, before, writer, training, options, display, stack)
    _say_start(parts, writer)
    return parts


def _claimed(options: RunOptions, note: Callable[[str], None], stack: ExitStack) -> Path | None:
    """The folder of the run to resume, held against others; None for a new run, whose folder must not be used yet."""
    if options.run_dir is not None:
        require_utf8(options.run_dir)
    if options.resume:
        return stack.enter_context(held(resumable(options.run_dir), note))
    if options.run_dir is not None:
        refuse_used(options.run_dir)
    return None


@dataclass(frozen=True, slots=True)
class _Writer:
    """The policy and the engine that samples from it; the configuration names their precision and threads."""

    config: Config
    policy: Policy
    engine: Engine
    pace: Pace


def _open_writer(
    kept: Config, before: LeftState, inputs: Inputs, note: Callable[[str], None], stack: ExitStack
) -> _Writer:
    settled = with_threads(kept, before.threads, note, stack)
    place = choose_device(settled.model.device).type
    stack.enter_context(sums_in_order(place, settled.training.deterministic, note))
    policy = open_policy(settled, before.checkpoint, note)
    policy.require_room((policy.prompt_ids(task.asked) for task in inputs.samples()), settled.training.max_new_tokens)
    if settled.training.entropy_target is not None:
        require_reachable(settled.training.entropy_target, policy)
    if settled.adapter_rank and is_preset(settled.model.name):
        note(f"{settled.model.name} is drawn at random and stays so: only its adapters learn")
    policy.precision = choose_precision(policy.model, settled.model.precision, note)
    config, pace = with_precision(settled, policy.precision), Pace()
    engine = open_engine(config, policy, note, pace)
    stack.callback(engine.close)
    return _Writer(config, policy, engine, pace)


@dataclass(frozen=True, slots=True)
class _Training:
    """The learner, and all that a checkpoint remembers of it."""

    weigh: Weigh
    learner: Learner
    remembered: Remembered


def _open_training(writer: _Writer, before: LeftState, inputs: Inputs) -> _Training:
    config = writer.config
    state = RunState(phase="warmup" if config.warmup.max_steps else "rl")
    methods, weigh, value = open_methods(config, inputs.source, writer.engine, writer.policy)
    learner = open_learner(
        writer.policy, config.training, model=config.model.name, seed=config.seed, ratio_cap=config.ratio_cap,
        read_states=None if value is None else value.read, pace=writer.pace,
    )  # fmt: skip
    if (held_at := config.training.entropy_target) is not None:
        methods.add("entropy_target", HeldEntropy(held_at, config.training, learner, writer.engine))
    remembered = Remembered(state, Totals(), inputs.controller, methods)
    if before.checkpoint:
        with understood(before.checkpoint):
            remembered.load_state_dict({**before.saved, "methods": before.tensors["methods"]})
            learner.load_state_dict(before.tensors["optimiser"])
    return _Training(weigh, learner, remembered)


def _open_parts(
    folder: Path, inputs: Inputs, before: LeftState, writer: _Writer, training: _Training, options: RunOptions,
    display: Display, stack: ExitStack,
) -> Parts:  # fmt: skip
    config, policy, engine, remembered = writer.config, writer.policy, writer.engine, training.remembered
    state, methods = remembered.state, remembered.methods
    log = stack.enter_context(_open_log(config.log, folder, options, state if before.checkpoint else None))
    recorder = Recorder(
        log, display, engine, inputs.controller, methods, state, remembered.totals, about=_about(config, folder),
        warm_steps=config.warmup.max_steps, parameters=policy.parameters, references=inputs.references,
        verbose=options.verbose,
    )  # fmt: skip

    def write_checkpoint() -> Path:
        now = remembered.state_dict()
        learnt = {"optimiser": training.learner.state_dict(), "methods": now.pop("methods")}
        trainer = {**now, "config": config.model_dump(mode="json"), "data": inputs.data, "lines": log.lines}
        return save_checkpoint(folder, state.step, policy, learnt, trainer)

    run = Run(
        folder, state, recorder, inputs.source, seed=config.seed, last=config.training.steps,
        checkpoint_every=config.checkpoint_every, stop=stack.enter_context(StopRequest()), stop_at=options.stop_at,
        pace=writer.pace, moment=lambda: Moment(remembered, policy), write_checkpoint=write_checkpoint,
        go_on=resume_command(folder, options.plugins, config.engine, config.sandbox.backend),
        mastered=MASTERED_STEPS if config.training.stop_when == "mastered" else None,
    )  # fmt: skip
    run.checkpoint = before.checkpoint
    evaluation = Evaluation(run, engine, inputs.held_out, config.evaluation.every)
    return Parts(run, inputs.controller, engine, training.weigh, methods, training.learner, evaluation, recorder, log)


def _say_start(parts: Parts, writer: _Writer) -> None:
    config, policy = writer.config, writer.policy
    name, kind, backend = config.model.name, config.engine.kind, writer.engine.health().backend
    text = f"{name} on {policy.model.device}{_adapted(policy)}, sandbox {backend}"
    parts.recorder.event(StartEvent(step=parts.run.state.step, model=name, engine=kind, sandbox=backend, text=text))
    parts.recorder.note_references()


def open_policy(config: Config, checkpoint: Path | None = None, warn: Callable[[str], None] = silent) -> Policy:
    """The policy that is trained, as a run begins with it or as it was in this checkpoint."""
    return load_trained(
        config.model, config.training, seed=config.seed, adapter_rank=config.adapter_rank, alphabet=config.alphabet,
        checkpoint=checkpoint, warn=warn,
    )  # fmt: skip


def open_engine(config: Config, policy: Policy, warn: Callable[[str], None], pace: Pace | None = None) -> Engine:
    """The engine that is asked for."""
    sandbox, most = fitted(config.sandbox if config.runs_programs else None, tasks_of_files(config.data))
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
