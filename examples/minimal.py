"""REINFORCE from nothing in one screen, on kolmo's own parts: warm start, rollout, judge, advantages, learner.

python examples/minimal.py
"""

import random
from statistics import mean

import torch

import kolmocli as kolmo
from kolmocli.curriculum import Bucket
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.learning.batches import Weighted
from kolmocli.learning.learner import Learner
from kolmocli.learning.returns import advantages
from kolmocli.policy.loading import load_policy
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import sequence_task

GROUP, STEPS, TERMS = 8, 10, Terms(Relative(length_weight=0.25))


def ramp(rng: random.Random) -> kolmo.Task:
    start = rng.randrange(20)
    program = parse(f"output = range_func_up({start}, {start + rng.randrange(2, 7)})")
    return sequence_task(Bucket("ramps", 1), rng.randrange(1 << 20), tuple(evaluate(program)), program)


def main() -> None:
    rng, numbers = random.Random(0), torch.Generator().manual_seed(0)
    policy = load_policy("tiny", device="cpu", seed=0)
    learner = Learner(policy, learning_rate=2e-3, max_grad_norm=1.0, entropy_bonus=0.0)
    for _ in range(40):  # a policy that never passes learns nothing: first it imitates
        answers = policy.answers([ramp(rng) for _ in range(32)])
        learner.step([Weighted(a, [1.0] * len(a.tokens)) for a in answers])
    with kolmo.open_sandbox("auto", workers=2) as sandbox:
        for step in range(1, STEPS + 1):
            tasks = [ramp(rng) for _ in range(8)]
            rollouts = policy.rollout(
                [task.asked for task in tasks], samples=GROUP, max_new_tokens=24, generator=numbers
            )
            owners = [task for task in tasks for _ in range(GROUP)]
            outcomes = judge(owners, [rollout.text for rollout in rollouts], sandbox, TERMS)
            rewards = [outcome.reward for outcome in outcomes]
            weights = [a for i in range(0, len(rewards), GROUP) for a in advantages(rewards[i : i + GROUP], "rloo")]
            batch = [Weighted(r, [a] * len(r.tokens)) for r, a in zip(rollouts, weights, strict=True) if a]
            report = learner.step(batch, learning_rate=5e-4)
            print(f"step {step:2}  passed {mean(o.passed for o in outcomes):4.0%}  loss {report.loss:+.3f}")


if __name__ == "__main__":
    main()
