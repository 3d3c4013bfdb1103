"""The kinds that come with kolmo: importing one registers it. In this order they are listed, the default first."""

# isort: off
from kolmocli.curriculum.controllers.rasch import RaschLevel
from kolmocli.curriculum.controllers.integral import IntegralLevel
from kolmocli.curriculum.controllers.staircase import StaircaseLevel
from kolmocli.curriculum.controllers.uniform import UniformLevel

__all__ = [
    "IntegralLevel",
    "RaschLevel",
    "StaircaseLevel",
    "UniformLevel",
]
