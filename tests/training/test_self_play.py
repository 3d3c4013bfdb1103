"""Targets of the policy's own making: which are admitted, what the proposer earns, which are kept."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Collected, Group
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.language.coder import coded_bits
from kolmocli.language.program import Program, parse
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.family import open_families
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.pool import Pool
from kolmocli.training.self_play import BUCKET, Play, SelfPlay
from kolmocli.training.state import RunState
from tests.tasks.sequences.test_environment import Interpreted

RAMP, LONGER, RUNS = "range_func_up(3, 8)", "range_func_up(3, 40)", "a = repeat_num(3, 7)\nb = repeat_list(2, a)"
ROLLOUT = Rollout((1,), (2, 3), (0.0, 0.0), (0, 1), "", True)


def config(**settings: Any) -> Config:
    return Config.model_validate(
        {
            "families": {"a": {"levels": [{"bases": [1, 1], "modifiers": [0, 0], "reuse": 0}]}},
            "self_play": {"share": 0.5, **settings},
            "training": {"batch_size": 32, "group_size": 8},
        }
    )


class Admitting:
    """A source that admits everything but one sequence."""

    split = "train"

    def __init__(self, held_out: Sequence[int] = ()) -> None:
        self.held_out = tuple(held_out)

    def buckets(self) -> list[Bucket]:
        return [Bucket("a", 1)]

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return sequence != self.held_out


class Writing:
    """An engine whose policy writes these programs when it is asked for some."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def collect(self, tasks: Sequence[SequenceTask], *, samples: int, seed: int | None) -> Collected:
        assert [task.target for task in tasks] == [()]
        outcomes = judge([tasks[0]] * len(self.texts), self.texts, Interpreted(), Terms(Relative(0.25), 8))  # type: ignore[arg-type]
        return Collected([Group(tasks[0], [ROLLOUT] * len(outcomes), outcomes)], 2 * len(outcomes), 0.5, 0.25)


def player(state: RunState | None = None, tasks: object = None, **settings: Any) -> SelfPlay:
    return SelfPlay(config(**settings), tasks or Admitting(), state or RunState())  # type: ignore[arg-type]


def propose(mine: SelfPlay, *texts: str) -> Play:
    return mine.propose(Writing(*texts), seed=0)  # type: ignore[arg-type]


def played(task: SequenceTask, passes: int, lost: int = 0) -> Group:
    outcomes = [Outcome("", 1, i < passes, Status.OK, float(i < passes)) for i in range(8 - lost)]
    outcomes += [Outcome("", 1, False, Status.INFRA, None)] * lost
    return Group(task, [ROLLOUT] * 8, outcomes)


def targets(tasks: Sequence[SequenceTask]) -> list[tuple[int, ...]]:
    return [task.target for task in tasks]


# --- what becomes a target


def test_what_a_proposal_makes_is_a_target_whose_answer_is_known() -> None:
    play = propose(player(), RAMP, RUNS)
    assert targets(play.tasks) == [(3, 4, 5, 6, 7, 8), (7,) * 6]
    assert [task.bucket for task in play.tasks] == [BUCKET, BUCKET]
    assert str(play.tasks[1].program) == "sequence_1 = repeat_num(3, 7)\nsequence_2 = repeat_list(2, sequence_1)"


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "get_subsequence_with_jumps(x, 0)",
        "a = range_func_up(1, 3)\nb = get_subsequence_with_jumps(a, 0)",  # fails
        "set_list([4, 9, 2, 7])",  # a literal
        "a = range_func_up(1, 3)\nb = set_list([4, 9, 2, 7])",  # a literal again
        "set_list([])",  # nothing, which is what was asked for
        "range_func_up(3, 3)",  # one item
        "range_func_up(0, 300)",  # too long
        "range_func_up(1, 5)",  # held out
    ],
)
def test_what_is_no_target(text: str) -> None:
    play = propose(player(tasks=Admitting(held_out=range(1, 6))), text)
    assert (play.tasks, list(play.targets)) == ([], [None])


def test_a_target_and_a_coded_length_come_once() -> None:
    same_length = "range_func_up(4, 9)"
    assert coded_bits(parse(RAMP)) == coded_bits(parse(same_length)) != coded_bits(parse(LONGER))
    assert targets(propose(player(), RAMP, RAMP, same_length, LONGER).tasks) == [
        tuple(range(3, 9)),
        tuple(range(3, 41)),
    ]
    assert len(propose(player(slots=2), RAMP, RAMP, same_length).tasks) == 2


def test_lines_that_the_result_does_not_need_are_not_counted() -> None:
    (task,) = propose(player(), f"x = set_list([1, 2, 3])\n{RAMP}").tasks
    assert str(task.program) == f"sequence_1 = {RAMP}"


def test_no_more_groups_than_its_share_half_of_them_for_what_is_kept() -> None:
    state = RunState()
    mine = player(state)
    assert mine.groups == 2
    assert len(propose(mine, RAMP, LONGER, RUNS).tasks) == 2
    for text in (RAMP, LONGER):
        mine.pool.settle(*pair(text), near=True)
    play = propose(mine, RUNS)
    assert targets(play.tasks) == [pair(RAMP)[0], (7,) * 6]
    assert targets(propose(mine).tasks) == [pair(RAMP)[0], pair(LONGER)[0]]  # nothing new
    assert [task.index for task in play.tasks] == [2, 3]


def pair(text: str) -> tuple[tuple[int, ...], Program]:
    (outcome,) = judge([sequence_task(BUCKET, 0, ())], [text], Interpreted(), Terms(Relative(0.25), 8))  # type: ignore[arg-type]
    assert outcome.value is not None
    return outcome.value, parse(text)


def test_without_a_share_nothing_happens() -> None:
    mine, engine = player(share=0.0), None
    play = mine.propose(engine, seed=0)  # type: ignore[arg-type]
    assert (play, mine.settle(play, []), mine.metrics, mine.families([])) == (Play(), [], None, {})


def test_a_family_of_the_same_name_is_refused() -> None:
    tasks = Admitting()
    tasks.buckets = lambda: [BUCKET]  # type: ignore[method-assign]
    with pytest.raises(UsageError, match=r"self_play\.share is on and makes a family self-play"):
        player(tasks=tasks)
    player(tasks=tasks, share=0.0)


# --- held-out tasks


def test_it_never_proposes_what_is_held_out() -> None:
    """Hundreds of programs of the families themselves: the reference programs of all held-out tasks among them."""
    settings = config(proposals=2, slots=10**6)
    level = {
        "bases": [1, 2],
        "modifiers": [0, 0],
        "reuse": 0,
        "interleave": 0,
        "base_length": [2, 6],
        "values": [0, 40],
    }
    settings = settings.model_copy(
        update={"families": Config.model_validate({"families": {"a": {"levels": [level]}}}).families}
    )
    held_out = held_out_tasks(evaluation_source(settings, print), 150)
    source, other = training_source(settings, print, held_out), open_families(settings.families, "eval", 0)
    assert all(task.program is not None for task in held_out)
    texts = [str(task.program) for task in held_out]
    rng = random.Random(4)
    texts += [str(sample(rng, SamplerConfig.model_validate(level)).program) for _ in range(400)]
    mine = SelfPlay(settings, source, RunState())
    mine.groups = len(texts)
    play = propose(mine, *texts)
    assert len(play.tasks) > 100
    assert not {*targets(play.tasks)} & {*targets(held_out)}
    for task in play.tasks:
        assert task.program is not None
        assert not other.admits(task.program, task.target)
    assert all(target is None for target in play.targets[: len(held_out)])


# --- what it is worth


def test_the_proposer_earns_most_for_what_is_passed_half_the_time() -> None:
    mine = player(share=1.0)
    play = propose(mine, RAMP, LONGER, RUNS, "nonsense", RAMP)
    weighted = mine.settle(play, [played(t, k) for t, k in zip(play.tasks, (4, 8, 1), strict=True)])
    rewards = [0.5, 0.0, 0.125, 0.0, 0.5]
    others = [(sum(rewards) - r) / 4 for r in rewards]
    assert [w.weights[0] for w in weighted] == pytest.approx([r - o for r, o in zip(rewards, others, strict=True)])
    assert mine.metrics == {"proposals": 5, "admitted": 4, "reward": pytest.approx(0.225), "pool": 1}


def test_what_was_not_measured_or_lost_is_no_reward() -> None:
    mine = player(weight=2.0)  # two groups
    play = propose(mine, RAMP, LONGER, RUNS, "nonsense")
    weighted = mine.settle(play, [played(play.tasks[0], 4), played(play.tasks[1], 0, lost=8)])
    assert [w.weights for w in weighted] == [[1.0, 0.0], [-1.0, 0.0]]  # the ramp and the nonsense
    assert mine.settle(propose(mine), []) == []


def test_a_proposer_without_weight_learns_nothing() -> None:
    mine = player(weight=0.0)
    play = propose(mine, RAMP, "nonsense")
    assert mine.settle(play, [played(play.tasks[0], 4)]) == []


def test_targets_near_the_target_pass_rate_are_kept_until_they_no_longer_are() -> None:
    state = RunState()
    mine = player(state, share=1.0)
    play = propose(mine, RAMP, LONGER, RUNS)
    mine.settle(play, [played(t, k) for t, k in zip(play.tasks, (2, 7, 5), strict=True)])
    assert [entry["target"] for entry in state.pool] == [[3, 4, 5, 6, 7, 8], [7] * 6]
    again = propose(mine)
    mine.settle(again, [played(again.tasks[0], 5), played(again.tasks[1], 8)])
    assert [entry["target"] for entry in state.pool] == [[3, 4, 5, 6, 7, 8]]
    again = propose(mine)
    mine.settle(again, [played(again.tasks[0], 0, lost=8)])
    assert len(mine.pool) == 1
    assert targets(propose(mine, RAMP).tasks) == [tuple(range(3, 9))]  # played again, and not new


def test_what_was_played_longest_ago_is_played_next() -> None:
    pool = Pool([], 1)
    for text in (RAMP, LONGER, RUNS):
        pool.settle(*pair(text), near=True)
    assert [str(program) for _, program in pool.first(2)] == [str(parse(RAMP)), str(parse(LONGER))]
    pool.settle(*pair(RAMP), near=True)
    assert [target for target, _ in pool.first(3)] == [pair(text)[0] for text in (LONGER, RUNS, RAMP)]


def test_the_pool_is_plain_json_and_is_taken_up() -> None:
    state = RunState()
    mine = player(state)
    play = propose(mine, RAMP, RUNS)
    mine.settle(play, [played(task, 4) for task in play.tasks])
    saved = RunState(**json.loads(json.dumps(state.to_json())))
    assert saved == state
    assert propose(player(saved), LONGER) == propose(mine, LONGER)


def test_proposals_count_in_tokens_and_time() -> None:
    play = propose(player(), RAMP, RUNS)
    whole = play.with_cost(Collected([], 10, 1.0, 2.0))
    assert (whole.tokens, whole.rollout_seconds, whole.execute_seconds) == (14, 1.5, 2.25)
    assert Play().with_cost(whole) == whole


def test_it_is_shown_beside_the_families_with_its_share() -> None:
    mine = player()
    play = propose(mine, RAMP)
    shown = mine.families([*play.tasks, sequence_task(Bucket("a", 1), 0, (1,)), sequence_task(Bucket("a", 1), 1, (1,))])
    assert {name: (f.weight, f.top, f.state) for name, f in shown.items()} == {
        "self-play": (pytest.approx(1 / 3), 1, "self-play")
    }
