"""Choose the next tasks from observed passes: a controller that holds every family near a pass rate.

Pure Python, and useful without the rest: in a trainer of one's own, `controller` makes one, `propose` says what to
sample, and `observe` hears what passed. Importing this room registers the kinds that come with kolmo.
"""

from kolmocli.curriculum import controllers as _built_in
from kolmocli.curriculum.base import Belief, Bucket, Controller, FamilyMetrics, Ladder, Result
from kolmocli.curriculum.build import controller, make_controller
from kolmocli.curriculum.kinds import KINDS, register_controller
from kolmocli.curriculum.levels import LevelBase, LevelController, between, standing
from kolmocli.curriculum.settings import Setting

del _built_in

__all__ = [
    "KINDS",
    "Belief",
    "Bucket",
    "Controller",
    "FamilyMetrics",
    "Ladder",
    "LevelBase",
    "LevelController",
    "Result",
    "Setting",
    "between",
    "controller",
    "make_controller",
    "register_controller",
    "standing",
]
