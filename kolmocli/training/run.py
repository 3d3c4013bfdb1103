"""`kolmo train`: open a run folder, take up what it holds, train, evaluate, and write the summary."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.curriculum.build import build_controller
from kolmocli.engine.local import LocalEngine
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.monitor.live import open_eyes
from kolmocli.monitor.plots import write_plots
from kolmocli.monitor.writer import RunLog
from kolmocli.policy.loading import load_policy
from kolmocli.sandbox import Limits, open_sandbox
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.assess import AFTER, BEFORE, assess
from kolmocli.training.checkpoint import latest_checkpoint, load_state
from kolmocli.training.folder import claim_folder, refuse_changed, refuse_used
from kolmocli.training.loop import reinforce
from kolmocli.training.session import ReachedStop, Session, Stopped
from kolmocli.training.signals import StopRequest
from kolmocli.training.state import RunState, in_band
from kolmocli.training.warmstart import warm_start

__all__ = ["RunOptions", "Stopped", "train"]


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
    """
    if not options.resume and options.run_dir is not None:
        refuse_used(options.run_dir)
    with ExitStack() as stack:
        eyes = stack.enter_context(open_eyes(options.quiet))
        tasks = training_source(config, eyes.note)
        held_out = held_out_tasks(evaluation_source(config, eyes.note), config.evaluation.tasks)
        controller = build_controller(config, tasks.buckets())
        checkpoint = _checkpoint(options)
        policy = load_policy(
            str(checkpoint) if checkpoint else config.model.name, device=config.model.device, seed=config.seed
        )
        limits = Limits(config.sandbox.cpu_ms, config.sandbox.wall_ms, config.sandbox.memory_mb)
        sandbox = open_sandbox(
            config.sandbox.backend, limits=limits, workers=config.sandbox.workers or None, warn=eyes.note
        )
        engine = LocalEngine(config, policy, sandbox)
        stack.callback(engine.close)
        state = RunState(phase="warmup" if config.warmup.max_steps else "rl")
        if checkpoint:
            saved, optimiser = load_state(checkpoint)
            refuse_changed(saved["config"], config.model_dump(mode="json"))
            state = RunState(**saved["run"])
            controller.load_state_dict(saved["controller"])
            engine.load(optimiser)
        run_dir = claim_folder(config, options.run_dir, resume=options.resume)
        log = stack.enter_context(
            RunLog(run_dir, state.step if checkpoint else None, warm_step=state.warm_steps if checkpoint else None)
        )
        session = Session(
            config, run_dir, engine, controller, tasks, held_out, log, eyes,
            stack.enter_context(StopRequest()), config.model.name, policy.parameters,
            state=state, stop_at=options.stop_at, verbose=options.verbose, checkpoint=checkpoint,
        )  # fmt: skip
        if checkpoint:
            eyes.note(f"resuming from {checkpoint}")
        session.event(
            "start", model=session.model, engine=config.engine, sandbox=sandbox.health().backend,
            text=f"{session.model} on {policy.model.device}, sandbox {sandbox.health().backend}",
        )  # fmt: skip
        return _run(session)


def _run(session: Session) -> dict[str, Any]:
    torch.manual_seed(session.config.seed)
    state = session.state
    try:
        if state.phase == "warmup":
            warm_start(session)
            state.phase = "rl"
        if BEFORE not in state.evaluations:
            assess(session, BEFORE)
        reinforce(session, lambda name: assess(session, name))
        if state.phase != "done":
            assess(session, AFTER)
            state.phase = "done"
            session.save()
    except ReachedStop:
        session.eyes.note(f"reached step {state.step}; go on with --resume --run-dir {session.run_dir}")
    session.note_time()
    summary = summarise_run(session)
    session.log.write_summary(summary)
    write_plots(session.run_dir)
    session.show("done")
    return summary


def summarise_run(session: Session) -> dict[str, Any]:
    """summary.json, see docs/metrics.md."""
    state, health = session.state, session.engine.health()
    rates = state.pass_rates
    seconds = {k: round(state.seconds.get(k, 0.0), 3) for k in ("warmup", "rollout", "execute", "learn", "eval", "total")}
    return {
        "schema_version": 1,
        "run": str(session.run_dir),
        "steps": state.step,
        "warmup_steps": state.warm_steps,
        "rollouts": state.rollouts,
        "seconds": seconds,
        "pass_rate": {
            "target": session.config.controller.target,
            "mean": sum(rates) / len(rates) if rates else None,
            "in_band": in_band(rates, session.config.controller.target),
        },
        "bits": {
            "per_rollout": state.bits / state.rollouts if state.rollouts else None,
            "total": state.bits,
            "per_gflop": state.bits / (state.flops / 1e9) if state.flops else None,
        },
        "eval": {"before": state.evaluations.get(BEFORE), "after": state.evaluations.get(AFTER)},
        "sandbox": {
            "backend": health.backend,
            "executed": state.executed,
            "infra": state.infra,
            "programs_per_second": health.executed / health.busy_seconds if health.busy_seconds else None,
        },
        "checkpoint": str(session.checkpoint) if session.checkpoint else None,
    }


def _checkpoint(options: RunOptions) -> Path | None:
    """The newest complete checkpoint of the run to resume; None for a fresh run."""
    if not options.resume:
        return None
    if options.run_dir is None or not options.run_dir.is_dir():
        raise UsageError(f"--resume: no run in {options.run_dir}; name one with --run-dir")
    found = latest_checkpoint(options.run_dir)
    if found is None:
        raise UsageError(f"--resume: {options.run_dir} holds no complete checkpoint; start again in another folder")
    return found
