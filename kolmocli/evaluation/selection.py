"""Select the tasks of an evaluation: the held-out ones of a curriculum, or those of a file that the run has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kolmocli.checkpoints import silent
from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.models.known import require_brought
from kolmocli.paths import find_curriculum, model_folder
from kolmocli.policy.presets import is_preset
from kolmocli.tasks.base import Task
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.files.tables import is_data_set
from kolmocli.tasks.files.taskfile import TaskFile
from kolmocli.tasks.sources import evaluation_source, file_sources, languages_of, mixed, read_file, trained_file

_ROOM = 512
"""Tokens of an answer in words or in Python, where no run says how long one may be."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Request for tasks of a curriculum or of a file, with their number and strictness. With both, the tasks are the file's, and
    all else is as the curriculum says."""

    curriculum: str | None = None
    data: str | None = None
    tasks: int | None = None
    strict: bool = False
    columns: str | None = None
    """The file's columns, as `data.columns` has them."""
    max_tokens: int | None = None
    """Tokens of an answer; None: as the configuration says, or enough for a file where there is no run."""


@dataclass(frozen=True, slots=True)
class Selection:
    """`shared` is how many records of the file were skipped because they share something with the run's training file; None
    where there is nothing to compare."""

    config: Config
    tasks: list[Task]
    shared: int | None = None


def select(target: str | None, wanted: Wanted, warn: Callable[[str], None]) -> Selection:
    """The tasks for a run, a model, or (None) a model that is somewhere else.

    Raises:
        UsageError: nothing says which tasks, the file cannot be used, or it holds only what the run was trained on.
    """
    config = config_for(target, wanted, warn)
    count = wanted.tasks or config.evaluation.tasks
    if wanted.data is None:
        return Selection(config, held_out_tasks(evaluation_source(config, warn), count))
    file = read_file(wanted.data, config.data, warn)
    if len(file.records) and not _config(target, wanted).runs_programs:
        raise UsageError(
            f"--data {wanted.data}: a file holds sequences to write programs for, {target} answers questions"
        )
    shared = None
    if target is not None and (trained := _trained_on(target, wanted, warn)) is not None:
        file, shared = file.without(trained)
        if shared:
            _say_shared(wanted, shared, file, target, warn)
    return Selection(config, held_out_tasks(mixed(file_sources(file, "eval", config)), count), shared)


def config_for(target: str | None, wanted: Wanted, warn: Callable[[str], None] = silent) -> Config:
    """Configuration for a run, a model, or (None) a model that is somewhere else, with the requested file.

    Raises:
        UsageError: nothing says which tasks.
    """
    config = _config(target, wanted, warn)
    if wanted.max_tokens is not None:
        config = _answering_with(wanted.max_tokens, config)
    if wanted.data is None:
        return config
    columns = wanted.columns or (None if wanted.curriculum is None else config.data.columns)
    data = config.data.model_copy(
        update={"eval": wanted.data, "strict": wanted.strict or config.data.strict, "columns": columns}
    )
    config = config.model_copy(update={"data": data})
    said = wanted.max_tokens is not None or wanted.curriculum is not None
    if said or (target is not None and _own_config(target) is not None):
        return config
    return config if languages_of(data) <= {"dsl"} else _answering_with(_ROOM, config)


def _answering_with(tokens: int, config: Config) -> Config:
    return config.model_copy(update={"training": config.training.model_copy(update={"max_new_tokens": tokens})})


def _say_shared(wanted: Wanted, shared: int, rest: TaskFile, target: str, warn: Callable[[str], None]) -> None:
    kept = len(rest)
    what = "a sequence, a program skeleton or a prompt" if rest.listed else "a sequence or a program skeleton"
    said = f"{wanted.data}: {shared:,} records share {what} with what {target} was trained on"
    if wanted.strict:
        raise UsageError(f"{said}; leave out --strict to evaluate on the other {kept:,}")
    if not kept:
        raise UsageError(f"{said}, and there are no others")
    warn(f"{said} and are left out")


def _trained_on(target: str, wanted: Wanted, warn: Callable[[str], None]) -> Taken | None:
    """Training data of a run's file; None for what is no run, or was trained on families alone."""
    own = _own_config(target)
    if own is None or own.data.train is None:
        return None
    if not Path(own.data.train).is_file() and not is_data_set(own.data.train):
        said = f"{target} was trained on {own.data.train}, which is not there: what {wanted.data} shares with it"
        if wanted.strict:
            raise UsageError(f"{said} cannot be checked; put it back, or leave out --strict")
        warn(f"{said} is not checked")
        return None
    return trained_file(own.data).taken


def _config(target: str | None, wanted: Wanted, warn: Callable[[str], None] = silent) -> Config:
    """The named curriculum; else the run's own; else, for a data file, the quickstart's settings."""
    if wanted.curriculum is not None:
        return load_config(find_curriculum(wanted.curriculum), note=warn)
    own = None if target is None else _own_config(target)
    if own is not None:
        return own
    if wanted.data is not None:
        return load_config(find_curriculum("quickstart"), {})
    if target is not None and not is_preset(target) and not model_folder(target).exists():
        require_brought(target)
        raise UsageError(
            f"{target}: there is no such run, and no such folder; name one that is there, or, of a model on the hub, its "
            "tasks with --curriculum or --data"
        )
    what = "an endpoint" if target is None else target
    raise UsageError(f"{what} is not a run: name its tasks with --curriculum or --data")


def _own_config(target: str) -> Config | None:
    """The configuration of a run, or of the run that a checkpoint lies in."""
    folder = model_folder(target)
    for place in (folder, folder.parent.parent):
        if (place / "config.yaml").is_file():
            return load_config(place / "config.yaml", {}, to_look=True)
    return None
