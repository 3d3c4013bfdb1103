"""`kolmo train`: open a run folder, take up what it holds, train, evaluate, and write the summary."""

from __future__ import annotations

import errno
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kolmocli.checkpoints import latest_checkpoint, settle
from kolmocli.config import Config
from kolmocli.config.controller import build_controller
from kolmocli.config.file import load_config
from kolmocli.engine.opening import open_engine
from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.learning.saving import load_state
from kolmocli.monitor.live import Eyes, open_eyes
from kolmocli.monitor.plots import write_report
from kolmocli.monitor.reader import read_metrics
from kolmocli.monitor.tensorboard import TensorBoardLog, require_tensorboard
from kolmocli.monitor.writer import RunLog
from kolmocli.policy.adapters import rank_of
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import is_preset
from kolmocli.policy.trained import load_trained
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.assess import AFTER, BEFORE, assess
from kolmocli.training.folder import claim_folder, data_digests, refuse_changed, refuse_other_data, refuse_used
from kolmocli.training.hints import Hints
from kolmocli.training.loop import reinforce
from kolmocli.training.self_play import SelfPlay
from kolmocli.training.session import ReachedStop, Session, Stopped
from kolmocli.training.signals import StopRequest
from kolmocli.training.state import RunState
from kolmocli.training.summary import summarise
from kolmocli.training.warmstart import warm_start

__all__ = ["RunOptions", "Stopped", "train"]

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class RunOptions:
    run_dir: Path | None = None
    resume: bool = False
    stop_at: int | None = None
    verbose: bool = False
    quiet: bool = False


def train(config: Config, options: RunOptions) -> dict[str, Any]:
    """Train to the end, or to `stop_at`, and return the summary that was written.

    Raises:
        UsageError: a used or unsuitable run folder, an unknown model, data that cannot be used.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
        Stopped: after a signal, when everything is saved.
        KolmoError: there is no room on the disk; what was saved before is as it was.
    """
    try:
        return _open_and_run(config, options)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        place = error.filename or options.run_dir or "the run folder"
        raise KolmoError(f"{place}: {error.strerror}; make room and go on with --resume") from error


def _open_and_run(config: Config, options: RunOptions) -> dict[str, Any]:
    if not options.resume and options.run_dir is not None:
        refuse_used(options.run_dir)
    if config.log == "tensorboard":
        require_tensorboard()
    with ExitStack() as stack:
        eyes = stack.enter_context(open_eyes(options.quiet))
        held_out = held_out_tasks(evaluation_source(config, eyes.note), config.evaluation.tasks)
        tasks = training_source(config, eyes.note, held_out)
        controller = build_controller(config.controller, config.families, tasks.buckets(), config.training.steps)
        data = data_digests(config)
        checkpoint = _checkpoint(config, options, eyes)
        saved, optimiser = load_state(checkpoint) if checkpoint else ({}, {})
        if checkpoint:
            refuse_changed(saved["config"], config)
            refuse_other_data(saved["data"], data)
            eyes.note(f"resuming from {checkpoint}")
        policy = load_trained(config, checkpoint)
        if config.adapter_rank and is_preset(config.model.name):
            eyes.note(f"{config.model.name} is drawn at random and stays so: only the adapters beside it learn")
        engine = open_engine(config, policy, eyes.note)
        stack.callback(engine.close)
        state = RunState(phase="warmup" if config.warmup.max_steps else "rl")
        if checkpoint:
            state = RunState(**saved["run"])
            controller.load_state_dict(saved["controller"])
            engine.load(optimiser)
        for note in engine.notes():
            eyes.note(f"{config.model.name}: {note}")
        hints, self_play = Hints(config, tasks.buckets(), state.hints), SelfPlay(config, tasks, state)
        run_dir = claim_folder(config, options.run_dir, resume=options.resume)
        log = stack.enter_context(_open_log(config, run_dir, options, state if checkpoint else None))
        session = Session(
            config, run_dir, engine, controller, tasks, held_out, log, eyes,
            stack.enter_context(StopRequest()), config.model.name, policy.parameters,
            state=state, hints=hints, self_play=self_play, data=data, stop_at=options.stop_at, verbose=options.verbose, checkpoint=checkpoint,
        )  # fmt: skip
        backend = engine.health().backend
        session.event(
            "start", model=session.model, engine=config.engine.kind, sandbox=backend,
            text=f"{session.model} on {policy.model.device}{_adapted(policy)}, sandbox {backend}",
        )  # fmt: skip
        return _run(session)


def _run(session: Session) -> dict[str, Any]:
    torch.manual_seed(session.config.seed)
    try:
        _train(session)
    except ReachedStop:
        session.eyes.note(f"reached step {session.state.step}; go on with --resume --run-dir {session.run_dir}")
    except Stopped:
        _conclude(session)  # without plots: whoever asks for a stop does not wait for them
        raise
    summary = _conclude(session)
    if session.config.report:
        _draw(session)
    session.show("done")
    return summary


class _NoMorePictures(Exception):
    """A signal came while the pictures were drawn."""


def _draw(session: Session) -> None:
    """Plots and page. Everything of the run is saved by now, so whatever goes wrong here is told and fails nothing."""

    def between() -> None:
        if session.stop.signal is not None:
            raise _NoMorePictures(f"stopped by {session.stop.name}")

    try:
        write_report(session.run_dir, between)
    except (Exception, KeyboardInterrupt) as error:
        reason = " ".join(f"{type(error).__name__ if not str(error) else error}".split())
        session.eyes.note(f"the run is complete, its report is not ({reason}): kolmo report {session.run_dir} draws it")


def _train(session: Session) -> None:
    """What is left to do of the run."""
    config, state = session.config, session.state
    if state.phase == "warmup":
        warm_start(session)
        state.phase = "rl"
        if config.checkpoint_every:
            session.save()
    if BEFORE not in state.evaluations:
        assess(session, BEFORE)
    if owed := _owed_evaluation(session):
        assess(session, owed)
    reinforce(session, lambda name: assess(session, name))
    if state.phase != "done":
        assess(session, AFTER)
        state.phase = "done"
        session.save()


def _owed_evaluation(session: Session) -> str | None:
    """The evaluation that a stop in the middle of it left undone."""
    state, every = session.state, session.config.evaluation.every
    due = every and state.step and state.step % every == 0 and state.step < session.config.training.steps
    return name if due and (name := f"step {state.step}") not in state.evaluations else None


def _conclude(session: Session) -> dict[str, Any]:
    session.note_time()
    summary = summarise(session)
    session.log.write_summary(summary)
    return summary


def _checkpoint(config: Config, options: RunOptions, eyes: Eyes) -> Path | None:
    """The newest complete checkpoint of the run to resume; None when there is none yet, or for a fresh run."""
    if not options.resume:
        return None
    if options.run_dir is None or not (options.run_dir / "config.yaml").is_file():
        raise UsageError(f"--resume: no run in {options.run_dir}; name one with --run-dir")
    settle(options.run_dir)
    found = latest_checkpoint(options.run_dir, lambda folder: eyes.note(f"{folder} is damaged and passed over"))
    if found is None:
        refuse_changed(load_config(options.run_dir / "config.yaml").model_dump(mode="json"), config)
        eyes.note(f"{options.run_dir} holds no complete checkpoint yet: beginning again")
    return found


def _open_log(config: Config, run_dir: Path, options: RunOptions, resumed: RunState | None) -> RunLog:
    """The log of a fresh run; of a resumed one up to where it goes on; emptied where it begins again."""
    mirror = (lambda: TensorBoardLog(run_dir, read_metrics(run_dir))) if config.log == "tensorboard" else None
    if not options.resume:
        return RunLog(run_dir, mirror=mirror)
    step, warm_steps = (resumed.step, resumed.warm_steps) if resumed else (-1, 0)
    return RunLog(run_dir, step, warm_step=warm_steps, mirror=mirror)


def _adapted(policy: Policy) -> str:
    if policy.base is None:
        return ""
    trained = sum(p.numel() for p in policy.model.parameters() if p.requires_grad)
    bits = " in 8 bits" if policy.base.load_in_8bit else ""
    return (
        f"{bits} with adapters of rank {rank_of(policy.model)} ({trained:,} of {policy.parameters:,} parameters train)"
    )
