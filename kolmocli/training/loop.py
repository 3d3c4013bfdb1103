"""REINFORCE with a curriculum, from top to bottom.

Differences from the textbook, with reasons:
1. The baseline is leave-one-out within a group, not divided by a standard deviation; or a value head's (`methods/value.py`).
2. Groups whose advantages are all zero are left out of the denominator, and counted (`weigh.py`).
3. A fault of the sandbox masks the rollout; it is never a reward.
4. Buckets come from a controller that sees passes and nothing else.
5. A curriculum may ask for more ways to learn (`methods/`): tasks begun for the policy or of its own making, programs that missed
   as answers to what they really make, more rollouts than are learned from, the warm start's answers on.
"""

from __future__ import annotations

from kolmocli.config import Training
from kolmocli.curriculum.base import Controller
from kolmocli.engine.base import Engine, Request
from kolmocli.learning.learner import Learner
from kolmocli.tasks.base import Task
from kolmocli.training.evaluation import Evaluation
from kolmocli.training.methods.base import Methods
from kolmocli.training.recorder import Recorder
from kolmocli.training.run import Run
from kolmocli.training.schedule import is_measured, learning_rate
from kolmocli.training.weigh import Weigh


def reinforce(
    run: Run,
    training: Training,
    controller: Controller,
    engine: Engine,
    weigh: Weigh,
    methods: Methods,
    learner: Learner,
    evaluation: Evaluation,
    recorder: Recorder,
) -> None:
    """Train until the last step, or until the run is asked to stop."""

    groups_per_step, samples = training.batch_size // training.group_size, training.group_size * training.best_of

    def choose(step: int) -> Request | None:
        """The tasks of a step: those of the buckets that the controller proposes, unless a method has others."""

        def draw(count: int) -> list[Task]:
            return [run.draw(bucket) for bucket in controller.propose(count, run.rng("propose", step))]

        if step > run.last:
            return None
        return Request(methods.tasks(step, groups_per_step, draw), samples, run.seed("rollout", step))

    for step in run.steps(between=evaluation.after_step):  # owns the counter, checkpoints, --stop-at, signals
        recorder.doing("rollout")
        experience = methods.supplement(step, engine.rollout(choose, step))  # write, run, judge
        groups = experience.groups

        recorder.doing("learn")
        batch = weigh(step, groups) + methods.lessons(step, groups)
        noise = is_measured(step, training.noise_every)
        report = learner.step(batch, learning_rate(step, training), noise=noise, updates=training.updates)
        methods.learned(report, groups)

        noticed = controller.observe(run.results(groups))
        methods.observe(groups)
        recorder.step(step, experience, batch, report, noticed)
        run.divergence.observe(step, report, groups)
