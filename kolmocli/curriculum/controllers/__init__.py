"""The kinds that come with kolmo: importing one registers it. In this order they are listed, the default first."""

# isort: off
from kolmocli.curriculum.controllers.rasch import RaschLevel
from kolmocli.curriculum.controllers.integral import IntegralLevel
from kolmocli.curriculum.controllers.staircase import StaircaseLevel
from kolmocli.curriculum.controllers.pool import PoolLevel
from kolmocli.curriculum.controllers.thompson import ThompsonLevel
from kolmocli.curriculum.controllers.window import WindowLevel
from kolmocli.curriculum.controllers.sec import AdvantageBandit
from kolmocli.curriculum.controllers.uniform import UniformLevel
from kolmocli.curriculum.controllers.sequential import SequentialLevel

__all__ = [
    "AdvantageBandit",
    "IntegralLevel",
    "PoolLevel",
    "RaschLevel",
    "SequentialLevel",
    "StaircaseLevel",
    "ThompsonLevel",
    "UniformLevel",
    "WindowLevel",
]
