"""The kinds of task that come with kolmo: importing this registers them."""

from kolmocli.tasks.answers.digits import REVERSE_DIGITS, SUM_DIGITS
from kolmocli.tasks.arithmetic import family as _arithmetic
from kolmocli.tasks.examples.family import EXAMPLES
from kolmocli.tasks.reasoning import family as _reasoning_gym
from kolmocli.tasks.sequences.sampled import SEQUENCE_KIND

BUILT_IN = tuple(kind.name for kind in (SEQUENCE_KIND, SUM_DIGITS, REVERSE_DIGITS, EXAMPLES))

del _arithmetic, _reasoning_gym
