"""`kolmo eval`: a policy on held-out tasks, as one report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kolmocli.engine.references import check_references
from kolmocli.errors import UsageError
from kolmocli.evaluation.attempts import attempts_by
from kolmocli.evaluation.continuation import continuation_report, hold_out
from kolmocli.evaluation.report import PLAIN, Reporting, full_report
from kolmocli.evaluation.samples import best_of
from kolmocli.evaluation.selection import Wanted, select
from kolmocli.pace import Pace
from kolmocli.sandbox.opening import Backend
from kolmocli.seeds import derived_seed
from kolmocli.tasks.sequences.task import SequenceTask


def evaluate(
    target: str,
    wanted: Wanted,
    *,
    samples: int,
    seed: int | None,
    device: str,
    sandbox: Backend,
    temperature: float | None = None,
    reporting: Reporting = PLAIN,
    warn: Callable[[str], None],
    pace: Pace | None = None,
) -> dict[str, Any]:
    """The report of a policy, with `pass_at_k` for several samples.

    One sample is greedy. Several are drawn at `temperature`, by default `training.temperature`; a task then counts by
    its best one.

    Raises:
        UsageError: no model under that name, or nothing that says which tasks to use.
    """
    selection = select(target, wanted, warn)
    config = selection.config
    sequences = [task for task in selection.tasks if isinstance(task, SequenceTask)]
    if len(sequences) < len(selection.tasks) and reporting != PLAIN:
        raise UsageError("--hold-out, --kt-compatible and --search are for sequences, and these tasks are questions")
    if temperature is not None:
        training = config.training.model_copy(update={"temperature": temperature})
        config = config.model_copy(update={"training": training})
    if (file := config.data.eval or config.data.train) is not None:
        check_references(config.data, [file], config.sandbox, sandbox, warn)
    held = [hold_out(task, reporting.hold_out) for task in sequences] if reporting.hold_out else []
    languages = {task.language for task in selection.tasks}
    sampling = None if samples == 1 else derived_seed(config.seed if seed is None else seed, "eval")
    attempts = attempts_by(
        target, [h.task for h in held] or selection.tasks, config,
        samples=samples, seed=sampling, device=device, sandbox=sandbox, warn=warn, pace=pace,
    )  # fmt: skip
    report = {
        "model": target,
        "samples": samples,
        "temperature": None if samples == 1 else config.training.temperature,
        "language": "dsl" if languages == {"dsl"} else None,
        **full_report(attempts, samples, "dsl", reporting),
        "cut_off": sum(outcome.cut_off for _, outcomes in attempts for outcome in outcomes),
    }
    if reporting.hold_out:
        report |= continuation_report(held, [best_of(outcomes) for _, outcomes in attempts])
    return report if selection.shared is None else {**report, "shared": selection.shared}
