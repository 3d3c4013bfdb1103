"""`kolmo train`: the warm start, REINFORCE, the evaluations around it, and the summary."""

from __future__ import annotations

import errno
from contextlib import ExitStack
from typing import Any

import torch

from kolmocli.config import Config
from kolmocli.console import warn
from kolmocli.errors import KolmoError
from kolmocli.monitor.display import Enduring, open_display
from kolmocli.monitor.plots import write_report
from kolmocli.training.divergence import Diverged
from kolmocli.training.evaluation import AFTER, BEFORE
from kolmocli.training.loop import reinforce
from kolmocli.training.opening import Parts, RunOptions, open_run
from kolmocli.training.run import ReachedStop, Run, Stopped
from kolmocli.training.summary import summarise
from kolmocli.training.transcripts import transcripts_of
from kolmocli.training.warmstart import warm_start

__all__ = ["RunOptions", "Stopped", "train"]

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def train(config: Config, options: RunOptions) -> dict[str, Any]:
    """Train to the end, or to `stop_at`, and return the summary that was written.

    Raises:
        UsageError: a used or unsuitable run folder, an unknown model, data that cannot be used.
        EnvironmentMissing: the sandbox or the device that was asked for is not there.
        Stopped: after a signal, when everything is saved.
        Diverged: the numbers of the policy are not finite any more; what it was is saved.
        KolmoError: there is no room on the disk; what was saved before is as it was.
    """
    try:
        with ExitStack() as stack:
            display = stack.enter_context(Enduring(open_display(options.quiet)))
            return _run(config, open_run(config, options, display, stack))
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        place = error.filename or options.run_dir or "the run folder"
        raise KolmoError(f"{place}: {error.strerror}; make room and go on with --resume") from error


def _run(config: Config, parts: Parts) -> dict[str, Any]:
    run, recorder = parts.run, parts.recorder
    torch.manual_seed(config.seed)
    ended = "done"
    try:
        with run.stoppable():
            _train(config, parts)
    except ReachedStop:
        ended = "stopped"
        recorder.note(f"reached step {run.state.step}; go on with: {run.go_on}")
    except (Stopped, Diverged):
        _conclude(config, parts)  # without plots: a stop does not wait for them
        recorder.doing("stopped")
        raise
    summary = _conclude(config, parts)
    if config.report:
        _draw(run)
    recorder.doing(ended)
    return summary


def _train(config: Config, parts: Parts) -> None:
    """The rest of the run."""
    run, evaluation = parts.run, parts.evaluation
    state = run.state
    if state.phase == "warmup":
        transcripts = transcripts_of(config, run.source, parts.learner.policy)
        warm_start(run, parts.engine, parts.learner, config.warmup, transcripts)
        state.phase = "rl"
        if config.checkpoint_every:
            run.save()
    if BEFORE not in state.evaluations:
        evaluation.evaluate(BEFORE)
    evaluation.after_step(state.step)
    reinforce(
        run, config.training, parts.controller, parts.engine, parts.weigh, parts.methods, parts.learner, evaluation,
        parts.recorder,
    )  # fmt: skip
    if state.phase != "done":
        evaluation.evaluate(AFTER)
        state.phase = "done"
        run.save()


def _conclude(config: Config, parts: Parts) -> dict[str, Any]:
    run, recorder = parts.run, parts.recorder
    recorder.note_time()
    summary = summarise(
        run.folder, run.state, recorder.totals, parts.engine.health(), target=config.controller.target,
        epochs=run.epochs, checkpoint=run.checkpoint, room=recorder.room(), ends=recorder.ends(),
    )  # fmt: skip
    parts.log.write_summary(summary)
    return summary.to_json()


class _NoMorePictures(Exception):
    """A signal came while the pictures were drawn."""


def _draw(run: Run) -> None:
    """Plots and page. Everything of the run is saved by now, so what goes wrong here is a warning and fails nothing."""

    def between() -> None:
        if run.stop.signal is not None:
            raise _NoMorePictures(f"stopped by {run.stop.name}")

    try:
        write_report(run.folder, between)
    except (Exception, KeyboardInterrupt) as error:
        reason = " ".join(f"{type(error).__name__ if not str(error) else error}".split())
        # Under --quiet too: nothing else says that the page is missing.
        warn(f"kolmo: the run is complete, its report is not ({reason}): kolmo report {run.folder} draws it")
