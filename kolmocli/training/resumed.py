"""The state that a run to be resumed was left in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kolmocli.checkpoints import latest_checkpoint, settle
from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.errors import KolmoError
from kolmocli.learning.saving import load_state, understood
from kolmocli.training.folder import refuse_changed, refuse_gaps, refuse_other_data
from kolmocli.training.precision import keep_precision


@dataclass(frozen=True, slots=True)
class LeftState:
    """The newest checkpoint, its content, and the configuration of the run; all empty for a new one."""

    checkpoint: Path | None
    saved: Mapping[str, Any]
    """The trainer's state."""
    tensors: Mapping[str, Any]
    """That of the optimiser and of the methods."""
    config: dict[str, Any] | None

    @property
    def threads(self) -> int | None:
        return None if self.config is None else self.config.get("threads")

    def goes_on_with(
        self, asked: Config, data: Mapping[str, str], note: Callable[[str], None], *, gaps: bool
    ) -> Config:
        """The configuration that is asked for, in the precision of before.

        Raises:
            UsageError: with it or with these data the run would be another; or lines are lost, and no `gaps` are allowed.
        """
        if self.config is None:
            return asked
        kept = keep_precision(asked, self.config)
        refuse_changed(self.config, kept)
        if self.checkpoint is not None:
            with understood(self.checkpoint / "trainer.json"):
                refuse_other_data(self.saved["data"], data)
                refuse_gaps(self.checkpoint, self.saved, note, allowed=gaps)
            note(f"resuming from {self.checkpoint}")
        return kept


def left_state(folder: Path | None, note: Callable[[str], None]) -> LeftState:
    """The state of the run in this folder; None for a new run."""
    if folder is None:
        return LeftState(None, {}, {}, None)
    checkpoint = _checkpoint(folder, note)
    if checkpoint is None:
        return LeftState(None, {}, {}, load_config(folder / "config.yaml", to_look=True).model_dump(mode="json"))
    saved, tensors = load_state(checkpoint)
    with understood(checkpoint / "trainer.json"):
        return LeftState(checkpoint, saved, tensors, dict(saved["config"]))


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
