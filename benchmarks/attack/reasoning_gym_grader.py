"""reasoning-gym's scorers: the usual comparison of texts, and that of a family that evaluates (countdown)."""

import reasoning_gym


def grade(answer, right):
    """`chain_sum`, which has the scorer that most families share. Its full score is 1."""
    return reasoning_gym.create_dataset("chain_sum", size=1, seed=0).score_answer(answer, {"answer": right})


def countdown(answer, right):
    entry = {"answer": right, "metadata": {"numbers": [int(right)], "target": int(right)}}
    return reasoning_gym.create_dataset("countdown", size=1, seed=0).score_answer(answer, entry)
