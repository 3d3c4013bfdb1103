"""Targets of the policy's own making: which are admitted, what the proposer earns, which are kept."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.contrib.methods.self_play import BUCKET, SelfPlay, Target, TargetPool
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Experience, Group, Request
from kolmocli.engine.report import Cost
from kolmocli.errors import UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.language.coder import coded_bits
from kolmocli.language.program import Program, parse
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.monitor.records import BucketRecord, ReinforceRecord, SelfPlayRecord
from kolmocli.policy.rollout import Rollout
from kolmocli.sandbox.base import Status
from kolmocli.tasks.family import open_families
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task
from kolmocli.tasks.sources import evaluation_source, training_source
from tests.tasks.sequences.test_environment import Interpreted

RAMP, LONGER, RUNS = "range_func_up(3, 8)", "range_func_up(3, 40)", "a = repeat_num(3, 7)\nb = repeat_list(2, a)"
ROLLOUT = Rollout((1,), (2, 3), (0.0, 0.0), (0, 1), "", True)


def config(**settings: Any) -> Config:
    return Config.model_validate(
        {
            "families": {"a": {"levels": [{"bases": [1, 1], "modifiers": [0, 0], "reuse": 0}]}},
            "methods": {"self_play": {"share": 0.5, **settings}},
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


@dataclass
class Play:
    """What was proposed for a step."""

    step: int
    tasks: list[SequenceTask]
    targets: Sequence[Target | None]


class Player(SelfPlay):
    """Self-play with a policy that writes what it is told to."""

    def __init__(self, source: object, settings: Config) -> None:
        play: Any = settings.methods["self_play"]
        training = settings.training
        groups = max(1, round(play.share * training.batch_size / training.group_size))
        super().__init__(
            play,
            source,
            groups=groups,
            target=settings.controller.target,
            sample=self.write,
            seed=lambda step: 7 * step,
        )  # type: ignore[arg-type]
        self.texts: Sequence[str] = ()
        self.steps = 0

    def write(self, request: Request) -> Experience:
        (task,) = request.tasks
        assert isinstance(task, SequenceTask) and task.target == ()
        assert (request.samples, request.seed) == (self._settings.proposals, 7 * self.steps)
        outcomes = judge([task] * len(self.texts), self.texts, Interpreted(), Terms(Relative(0.25), 8))  # type: ignore[arg-type]
        return Experience([Group(task, [ROLLOUT] * len(outcomes), outcomes)], Cost(2 * len(outcomes), 0.5, 0.25))


def player(source: object = None, **settings: Any) -> Player:
    return Player(source or Admitting(), config(**settings))


def propose(mine: Player, *texts: str) -> Play:
    mine.texts, mine.steps = texts, mine.steps + 1
    tasks = [task for task in mine.propose(mine.steps) if isinstance(task, SequenceTask)]
    return Play(mine.steps, tasks, mine.proposals[mine.steps].targets)


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
    play = propose(player(Admitting(held_out=range(1, 6))), text)
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
    mine = player()
    assert mine.groups == 2
    assert len(propose(mine, RAMP, LONGER, RUNS).tasks) == 2
    for text in (RAMP, LONGER):
        mine.pool.update(*pair(text), near=True)
    play = propose(mine, RUNS)
    assert targets(play.tasks) == [pair(RAMP)[0], (7,) * 6]
    assert targets(propose(mine).tasks) == [pair(RAMP)[0], pair(LONGER)[0]]  # nothing new
    assert [task.index for task in play.tasks] == [2, 3]


def pair(text: str) -> tuple[tuple[int, ...], Program]:
    (outcome,) = judge([sequence_task(BUCKET, 0, ())], [text], Interpreted(), Terms(Relative(0.25), 8))  # type: ignore[arg-type]
    assert outcome.value is not None
    return outcome.value, parse(text)


def test_the_rest_of_a_step_is_drawn() -> None:
    mine, drawn = player(), sequence_task(Bucket("a", 1), 0, (1,))
    mine.texts, mine.steps = (RAMP,), 1
    tasks = mine.tasks(1, 4, lambda count: [drawn] * count)
    assert [task.bucket for task in tasks] == [drawn.bucket] * 3 + [BUCKET]


def test_a_family_of_the_same_name_is_refused() -> None:
    tasks = Admitting()
    tasks.buckets = lambda: [BUCKET]  # type: ignore[method-assign]
    with pytest.raises(UsageError, match=r"methods\.self_play makes a family self-play"):
        player(tasks)


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
    mine = Player(source, settings)
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
    weighted = mine.lessons(play.step, [played(t, k) for t, k in zip(play.tasks, (4, 8, 1), strict=True)])
    rewards = [0.5, 0.0, 0.125, 0.0, 0.5]
    others = [(sum(rewards) - r) / 4 for r in rewards]
    assert [w.weights[0] for w in weighted] == pytest.approx([r - o for r, o in zip(rewards, others, strict=True)])
    assert mine.record == SelfPlayRecord(proposals=5, admitted=4, reward=pytest.approx(0.225), pool=1)


def test_what_was_not_measured_or_lost_is_no_reward() -> None:
    mine = player(weight=2.0)  # two groups
    play = propose(mine, RAMP, LONGER, RUNS, "nonsense")
    weighted = mine.lessons(play.step, [played(play.tasks[0], 4), played(play.tasks[1], 0, lost=8)])
    assert [w.weights for w in weighted] == [[1.0, 0.0], [-1.0, 0.0]]  # the ramp and the nonsense
    assert mine.lessons(propose(mine).step, []) == []


def test_a_proposer_without_weight_learns_nothing() -> None:
    mine = player(weight=0.0)
    play = propose(mine, RAMP, "nonsense")
    assert mine.lessons(play.step, [played(play.tasks[0], 4)]) == []


def test_targets_near_the_target_pass_rate_are_kept_until_they_no_longer_are() -> None:
    mine = player(share=1.0)
    play = propose(mine, RAMP, LONGER, RUNS)
    mine.lessons(play.step, [played(t, k) for t, k in zip(play.tasks, (2, 7, 5), strict=True)])
    assert [entry["target"] for entry in mine.pool.entries] == [[3, 4, 5, 6, 7, 8], [7] * 6]
    again = propose(mine)
    mine.lessons(again.step, [played(again.tasks[0], 5), played(again.tasks[1], 8)])
    assert [entry["target"] for entry in mine.pool.entries] == [[3, 4, 5, 6, 7, 8]]
    again = propose(mine)
    mine.lessons(again.step, [played(again.tasks[0], 0, lost=8)])
    assert len(mine.pool) == 1
    assert targets(propose(mine, RAMP).tasks) == [tuple(range(3, 9))]  # played again, and not new


def test_what_was_played_longest_ago_is_played_next() -> None:
    pool = TargetPool([], 1)
    for text in (RAMP, LONGER, RUNS):
        pool.update(*pair(text), near=True)
    assert [str(program) for _, program in pool.first(2)] == [str(parse(RAMP)), str(parse(LONGER))]
    pool.update(*pair(RAMP), near=True)
    assert [target for target, _ in pool.first(3)] == [pair(text)[0] for text in (LONGER, RUNS, RAMP)]


def test_the_pool_is_plain_json_and_is_taken_up() -> None:
    mine, again = player(), player()
    play = propose(mine, RAMP, RUNS)
    mine.lessons(play.step, [played(task, 4) for task in play.tasks])
    again.load_state_dict(json.loads(json.dumps(mine.state_dict())))
    again.steps = mine.steps
    assert len(again.pool) == 2
    assert propose(again, LONGER) == propose(mine, LONGER)


def test_proposals_count_in_tokens_and_time() -> None:
    mine = player()
    assert mine.cost() == Cost()
    mine.lessons(propose(mine, RAMP, RUNS).step, [])
    assert mine.cost() == Cost(4, 0.5, 0.25)
    assert mine.proposals == {}


def test_it_is_shown_with_the_families_and_its_share() -> None:
    mine = player()
    play = propose(mine, RAMP)
    other = played(sequence_task(Bucket("a", 1), 0, (1,)), 4)
    record = ReinforceRecord(buckets={"a": BucketRecord(weight=1.0, n=16)})
    buckets = mine.metrics(record, [played(play.tasks[0], 4), other, other]).buckets
    assert buckets is not None
    assert {name: (b.weight, b.top, b.state, b.n) for name, b in buckets.items()} == {
        "a": (pytest.approx(2 / 3), None, None, 16),
        "self-play": (pytest.approx(1 / 3), 1, "self-play", 0),
    }
