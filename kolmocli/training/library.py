"""Training as a call: what `kolmo train` does, from Python."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kolmocli.checkpoints import silent
from kolmocli.config.file import read_curriculum
from kolmocli.errors import UsageError
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.family import Kind, register_kinds
from kolmocli.training.pretrained import gentler
from kolmocli.training.train import RunOptions, train as run_training


def train(
    curriculum: str | Path | Mapping[str, Any] = "quickstart",
    *,
    families: Sequence[Kind] = (),
    steps: int | None = None,
    seed: int | None = None,
    model: str | None = None,
    sandbox: Backend | None = None,
    settings: Mapping[str, Any] | None = None,
    run_dir: str | Path | None = None,
    resume: bool = False,
    stop_at: int | None = None,
    allow_gaps: bool = False,
    quiet: bool = True,
) -> dict[str, Any]:
    """Train a policy and return the summary, as docs/metrics.md describes it.

    Args:
        curriculum: a file, the name of a packaged one, or its content as a mapping.
        families: kinds of task of your own that the curriculum names. A function with the decorator `kolmo.family`
            is registered already; any other kind is registered here.
        steps: short for the setting `training.steps`.
        seed: short for the setting `seed`.
        model: short for the setting `model.name`. A pretrained one gets rates that suit it where the curriculum is for a
            small model, unless `settings` name them.
        sandbox: short for the setting `sandbox.backend`.
        settings: any other keys of the file, dotted: `{"training.batch_size": 64}`.
        run_dir: where the run goes; None: a new folder in `runs/`.
        resume: continue the run in `run_dir`, exactly where it stopped.
        stop_at: save and end after this step.
        allow_gaps: resume although lines of metrics.jsonl were lost.
        quiet: no progress on stderr.

    Raises:
        KolmoError: as `kolmo train` ends, in one line; `exit_code` has the kind of failure.
    """
    if stop_at is not None and stop_at < 0:
        raise UsageError(f"stop_at must be >= 0, got {stop_at}")
    if resume and run_dir is None:
        raise UsageError("resume continues a run: name it with run_dir")
    register_kinds(families)
    short = {"training.steps": steps, "seed": seed, "model.name": model, "sandbox.backend": sandbox}
    overrides = {**(settings or {}), **{key: value for key, value in short.items() if value is not None}}
    options = RunOptions(
        None if run_dir is None else Path(run_dir), resume, stop_at, quiet=quiet, allow_gaps=allow_gaps
    )
    note = silent if quiet else _say
    config = read_curriculum(curriculum, overrides, note)
    if "model.name" in overrides:
        name = "the curriculum" if isinstance(curriculum, Mapping) else Path(curriculum).name
        usual = gentler(read_curriculum(curriculum, to_look=True), config, overrides, name, note)
        config = read_curriculum(curriculum, {**overrides, **usual}) if usual else config
    return run_training(config, options)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
