"""The value head: a regression that forgets, and values that the sampler and the trainer agree on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from kolmocli.errors import UsageError
from kolmocli.learning.regression import Regression
from kolmocli.learning.value import ValueHead
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import ValuedRollout
from kolmocli.policy.scoring import Scorer
from tests.policies import prompts, taught, tiny

HIDDEN = 6


def bare() -> Regression:
    return Regression(HIDDEN)


def lines(seed: int, count: int = 4000) -> torch.Tensor:
    return torch.randn(count, HIDDEN, generator=torch.Generator().manual_seed(seed))


def fitted(*steps: tuple[torch.Tensor, torch.Tensor]) -> Regression:
    head = bare()
    for states, returns in steps:
        head.observe(states, returns, torch.ones(len(states)))
        head.fit()
    return head


def some_returns(states: torch.Tensor, sign: float = 1.0) -> torch.Tensor:
    return sign * (states @ torch.arange(1.0, HIDDEN + 1) + 2.0)


def test_it_expects_nothing_before_it_was_fitted() -> None:
    assert not bare()(lines(0)).any()


def test_it_finds_what_is_linear_in_the_states() -> None:
    states, others = lines(0), lines(1)
    torch.testing.assert_close(
        fitted((states, some_returns(states)))(others), some_returns(others), rtol=0.01, atol=0.05
    )


def test_the_unit_of_the_reward_does_not_matter() -> None:
    states = lines(0)
    small, large = (fitted((states, unit * some_returns(states)))(lines(1)) for unit in (1.0, 1024.0))
    torch.testing.assert_close(large, 1024.0 * small)


def test_a_line_that_counts_twice_is_two_lines() -> None:
    states, noise = lines(0), lines(2)[:, 0]
    counts = torch.tensor([1.0, 2.0]).repeat(len(states) // 2)
    head = bare()
    head.observe(states, noise, counts)
    head.fit()
    twice = counts.long()
    torch.testing.assert_close(
        head.weight, fitted((states.repeat_interleave(twice, 0), noise.repeat_interleave(twice))).weight
    )


def test_what_is_old_is_forgotten() -> None:
    before = [(states, some_returns(states, -1.0)) for states in map(lines, range(40))]
    after = [(states, some_returns(states)) for states in map(lines, range(40, 120))]
    states = lines(999)
    torch.testing.assert_close(fitted(*before, *after)(states), some_returns(states), rtol=0.1, atol=0.5)


def test_it_goes_on_exactly_where_it_was_saved() -> None:
    steps = [(states, some_returns(states)) for states in map(lines, range(4))]
    saved = fitted(*steps[:2])
    resumed = bare()
    resumed.load_state_dict(saved.state_dict())
    for states, returns in steps[2:]:
        for head in (saved, resumed):
            head.observe(states, returns, torch.ones(len(states)))
            head.fit()
    assert torch.equal(resumed.weight, saved.weight)
    assert torch.equal(resumed.weight, fitted(*steps).weight)


def test_a_model_whose_states_are_out_of_reach_is_refused() -> None:
    with pytest.raises(UsageError, match=r"baseline: no value head fits this model \(it is not a transf.*\); use rloo"):
        ValueHead(Policy("none", torch.nn.Linear(2, 2), None))


# --- of a policy's rollouts


def with_values(policy: Policy) -> Policy:
    """The policy with a head that says something of every state."""
    valued = Policy(policy.name, policy.model, policy.tokenizer, policy.base)
    valued.value = head = ValueHead(valued)
    head.regression.weight.copy_(torch.linspace(-1.0, 1.0, len(head.regression.weight)))
    return valued


def sampled(policy: Policy, **options: Any) -> Any:
    return policy.rollout(
        prompts(), samples=8, max_new_tokens=24, generator=torch.Generator().manual_seed(0), **options
    )


@pytest.mark.parametrize("kind", ["preset", "another shape", "adapters"])
def test_the_sampler_and_the_trainer_agree_on_every_value(kind: str, chat_folder: Path) -> None:
    if kind == "preset":
        policy = with_values(taught())
    else:
        rank = 2 if kind == "adapters" else 0
        policy = with_values(load_policy(str(chat_folder), device="cpu", train=Adaptation(rank)))
    written = sampled(policy)
    with torch.inference_mode():
        states = Scorer(policy.model, policy.pad_id)(written).states_KD
        assert states is not None
        assert policy.value is not None
        scored = policy.value(states)
    found = torch.tensor([v for r in written for v in r.values])
    torch.testing.assert_close(found, scored, rtol=1e-4, atol=1e-4)
    assert found.std() > 0.01


def test_a_head_changes_nothing_of_what_is_written() -> None:
    plain, valued = sampled(tiny()), sampled(with_values(tiny()))
    assert [r.tokens for r in plain] == [r.tokens for r in valued]
    assert [r.logprobs for r in plain] == [r.logprobs for r in valued]
    assert not any(isinstance(r, ValuedRollout) for r in plain)
    assert all(len(r.values) == len(r.tokens) for r in valued)


def test_a_line_starts_at_the_beginning_and_after_every_break() -> None:
    for rollout in sampled(taught()):
        ended = [i for i, token in enumerate(rollout.tokens) if "\n" in taught().tokenizer.decode([token])]
        assert rollout.starts == [0, *(i + 1 for i in ended if i + 1 < len(rollout.tokens))]
