"""The engine that a configuration asks for."""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.config import Config
from kolmocli.engine.local import LocalEngine
from kolmocli.engine.local import open_engine as open_local
from kolmocli.engine.monarch.engine import MonarchEngine, open_monarch_engine
from kolmocli.policy.policy import Policy


def open_engine(config: Config, policy: Policy, warn: Callable[[str], None]) -> LocalEngine | MonarchEngine:
    """Raises what opening that engine does."""
    if config.engine.kind == "monarch":
        return open_monarch_engine(config, policy, warn)
    return open_local(config, policy, config.sandbox.backend, warn)
