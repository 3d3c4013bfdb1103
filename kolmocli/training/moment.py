"""The state of a run apart from weights and optimiser; and a moment of it, to which an interrupted step returns."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, fields
from typing import Any

from kolmocli.curriculum.base import Controller
from kolmocli.policy.policy import Policy
from kolmocli.training.methods.base import Methods
from kolmocli.training.state import RunState, Totals


@dataclass(frozen=True, slots=True)
class Remembered:
    """All of it, as it is now. The random numbers of a step belong to its number: there is nothing of them to remember."""

    state: RunState
    totals: Totals
    controller: Controller
    methods: Methods

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON but for `methods`, which may have tensors in it."""
        return {
            "run": asdict(self.state),
            "totals": asdict(self.totals),
            "controller": self.controller.state_dict(),
            "methods": self.methods.state_dict(),
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        _fill(self.state, RunState(**saved["run"]))
        _fill(self.totals, Totals(**saved["totals"]))
        self.controller.load_state_dict(saved["controller"])
        self.methods.load_state_dict(saved["methods"])


class Moment:
    """The state before a step. The policy's weights are what the step changes last, and all at once."""

    def __init__(self, remembered: Remembered, policy: Policy) -> None:
        self._remembered, self._policy = remembered, policy
        self._saved, self._version = deepcopy(remembered.state_dict()), policy.version

    @property
    def is_past(self) -> bool:
        """Whether the step has been learned: then it is to be finished."""
        return self._policy.version != self._version

    def go_back(self) -> None:
        self._remembered.load_state_dict(self._saved)


def _fill(those: Any, others: Any) -> None:
    for field in fields(those):
        setattr(those, field.name, getattr(others, field.name))
