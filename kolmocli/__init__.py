"""kolmo: REINFORCE on tasks that a program can check, each kind of task held near a 50 % pass rate.

    import kolmocli as kolmo

Names are imported at their first use: sandbox, controllers and archives need no torch, `train` and `evaluate` do. docs/library.md shows them all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
if TYPE_CHECKING:
    from kolmocli.archive import compress as compress, decompress as decompress, explain as explain, open as open
    from kolmocli.config.baselines import register_baseline as register_baseline
    from kolmocli.curriculum import (
        Bucket as Bucket,
        Ladder as Ladder,
        LevelBase as LevelBase,
        Result as Result,
        controller as controller,
        register_controller as register_controller,
    )
    from kolmocli.errors import KolmoError as KolmoError
    from kolmocli.evaluation.library import evaluate as evaluate
    from kolmocli.integrations.course import open_course as open_course
    from kolmocli.integrations.environment import make_env as make_env
    from kolmocli.language.guide import shipped_guide as shipped_guide
    from kolmocli.language.program import Program as Program
    from kolmocli.language.search.solver import solve as solve
    from kolmocli.sandbox import Call as Call, Job as Job, open_sandbox as open_sandbox
    from kolmocli.tasks.base import Prompt as Prompt, Task as Task
    from kolmocli.tasks.family import family as family
    from kolmocli.tasks.reward import register_reward as register_reward
    from kolmocli.training.library import train as train
    from kolmocli.training.methods.base import Method as Method, register_method as register_method

_ROOMS = {
    "archive": ("compress", "decompress", "explain", "open"),
    "config.baselines": ("register_baseline",),
    "curriculum": ("Bucket", "Ladder", "LevelBase", "Result", "controller", "register_controller"),
    "errors": ("KolmoError",),
    "evaluation.library": ("evaluate",),
    "integrations.course": ("open_course",),
    "integrations.environment": ("make_env",),
    "language.guide": ("shipped_guide",),
    "language.program": ("Program",),
    "language.search.solver": ("solve",),
    "sandbox": ("Call", "Job", "open_sandbox"),
    "tasks.base": ("Prompt", "Task"),
    "tasks.family": ("family",),
    "tasks.reward": ("register_reward",),
    "training.library": ("train",),
    "training.methods.base": ("Method", "register_method"),
}
_PLACES = {name: room for room, names in _ROOMS.items() for name in names}
__all__ = ["__version__", *sorted(_PLACES)]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kolmocli.extras import needing

    with needing(f"kolmocli.{name}"):
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_PLACES]
