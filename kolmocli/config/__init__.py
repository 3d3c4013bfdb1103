"""The one typed schema of a curriculum file. YAML, `--set`, `--help` and the docs come from here.

Unknown keys are errors. A description is the help text of its key, so it says what the value does.
"""

from kolmocli.config.controller import ControllerSection
from kolmocli.config.families import AnyFamily
from kolmocli.config.training import OptimiserKind, Training
from kolmocli.config.whole import Config

__all__ = [
    "AnyFamily",
    "Config",
    "ControllerSection",
    "OptimiserKind",
    "Training",
]
