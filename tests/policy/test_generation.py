"""Generation in batches is generation one by one, and its log-probabilities are those the trainer computes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kolmocli.policy import generation
from kolmocli.policy.generated import Generated
from kolmocli.policy.generation import generate
from kolmocli.policy.logprobs import pack, token_logprobs
from kolmocli.policy.policy import Policy
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.rows import padded
from kolmocli.policy.scoring import Scorer
from tests.policies import TARGETS, prompts, tiny
from tests.policy.families import FAMILIES, LEAN, VOCABULARY, make


def seeded(seed: int | None) -> torch.Generator | None:
    return None if seed is None else torch.Generator().manual_seed(seed)


def rollouts(
    policy: Policy, targets: Any = TARGETS, samples: int = 1, seed: int | None = None, length: int = 40
) -> list[Rollout]:
    return policy.rollout(prompts(targets), samples=samples, max_new_tokens=length, generator=seeded(seed))


@torch.inference_mode()
def trainer_logprobs(policy: Policy, written: list[Rollout]) -> list[torch.Tensor]:
    ids, attention, program = pack(written, policy.pad_id)
    logprobs, _ = token_logprobs(policy.model, ids, attention)
    return [row[mask] for row, mask in zip(logprobs, program, strict=True)]


def assert_scored_alike(policy: Policy, written: list[Rollout]) -> None:
    for rollout, scored in zip(written, trainer_logprobs(policy, written), strict=True):
        torch.testing.assert_close(torch.tensor(rollout.logprobs), scored, rtol=0, atol=1e-5)


def test_greedy_tokens_do_not_depend_on_the_batch(policy: Policy) -> None:
    together = rollouts(policy)
    alone = [rollouts(policy, [target])[0] for target in TARGETS]
    assert [r.tokens for r in together] == [r.tokens for r in alone]
    assert len({len(r.prompt) for r in together}) > 1


def test_greedy_tokens_are_those_of_transformers(policy: Policy) -> None:
    for rollout in rollouts(policy, TARGETS[:3]):
        prompt = torch.tensor([rollout.prompt])
        theirs = policy.model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=40, do_sample=False
        )[0, len(rollout.prompt) :]
        assert list(rollout.tokens) == theirs.tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_sampler_and_the_trainer_agree_on_every_log_probability(policy: Policy, seed: int) -> None:
    written = rollouts(policy, samples=8, seed=seed)
    assert_scored_alike(policy, written)
    assert len({len(r.tokens) for r in written}) > 3  # rows have left the batch at different times


def test_the_sampler_and_the_trainer_agree_on_a_model_of_another_shape(chat_policy: Policy) -> None:
    assert_scored_alike(chat_policy, rollouts(chat_policy, TARGETS[:3], samples=4, seed=0, length=20))


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in LEAN])
def test_the_sampler_and_the_trainer_agree_on_every_family(family: str) -> None:
    model = make(family)
    asked = [[5, 6, 7], list(range(8, 20)), list(range(30, 37))]
    written = generate(
        model, asked, samples=2, max_new_tokens=9, stop_ids=(2, -1), pad_id=0, generator=seeded(0)
    )  # fmt: skip
    for row, found in enumerate(written):
        prompt = asked[row // 2]
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([prompt + found.tokens])).logits[0, len(prompt) - 1 : -1]
        exact = torch.log_softmax(logits, -1).gather(-1, torch.tensor(found.tokens)[:, None])[:, 0]
        torch.testing.assert_close(torch.tensor(found.logprobs), exact, rtol=0, atol=2e-5)


def test_a_stop_that_is_no_token_stops_nothing() -> None:
    model = make("llama")
    model.lm_head.bias = torch.nn.Parameter(torch.zeros(VOCABULARY))
    with torch.no_grad():
        model.lm_head.bias[-1] = 1e4
    written = generate(model, [[5, 6]], samples=1, max_new_tokens=4, stop_ids=(-1,), pad_id=0, generator=None)
    assert written[0].tokens == [VOCABULARY - 1] * 4


@pytest.mark.parametrize("temperature", [0.5, 1.5])
def test_the_sampler_and_the_trainer_agree_at_another_temperature(policy: Policy, temperature: float) -> None:
    written = policy.rollout(
        prompts(), samples=4, max_new_tokens=20, generator=seeded(0), temperature=temperature
    )  # fmt: skip
    scorer = Scorer(policy.model, policy.pad_id)
    with torch.inference_mode():
        scored, at_one = (scorer(written, t).logprobs_K for t in (temperature, 1.0))
    sampled = torch.tensor([x for r in written for x in r.logprobs])
    torch.testing.assert_close(sampled, scored, rtol=0, atol=1e-5)
    assert (sampled - at_one).abs().max() > 0.1


def test_a_lower_temperature_keeps_to_what_is_likely(policy: Policy) -> None:
    cold, warm = (
        policy.rollout(prompts(), samples=8, max_new_tokens=8, generator=seeded(0), temperature=t) for t in (1e-4, 1.0)
    )
    greedy = [r.tokens for r in policy.rollout(prompts(), samples=1, max_new_tokens=8, generator=None)]
    assert [r.tokens for r in cold] == [tokens for tokens in greedy for _ in range(8)]
    assert [r.tokens for r in warm] != [r.tokens for r in cold]


def test_padding_does_not_matter_to_the_trainer(policy: Policy) -> None:
    written = rollouts(policy, samples=2, seed=3)
    for one, scored in zip(written, trainer_logprobs(policy, written), strict=True):
        torch.testing.assert_close(trainer_logprobs(policy, [one])[0], scored, rtol=0, atol=1e-5)


def test_one_seed_gives_one_set_of_rollouts(policy: Policy) -> None:
    assert rollouts(policy, samples=4, seed=5) == rollouts(policy, samples=4, seed=5)
    assert rollouts(policy, samples=4, seed=5) != rollouts(policy, samples=4, seed=6)


@pytest.mark.parametrize("steps", [3, 8, 1000])
@pytest.mark.parametrize("lean", [True, False])
def test_looking_more_rarely_for_rows_that_have_ended_changes_nothing(
    policy: Policy, steps: int, lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU, where looking is waiting."""
    asked = [policy.prompt_ids(prompt) for prompt in prompts()]

    def written() -> tuple[list[Generated], list[int]]:
        told: list[int] = []
        found = generate(
            policy.model, asked, samples=8, max_new_tokens=40, stop_ids=policy.stop_ids, pad_id=policy.pad_id,
            generator=seeded(0), lean=lean, finished=lambda row, _: told.append(row),
        )  # fmt: skip
        return found, told

    at_once, told = written()
    monkeypatch.setitem(generation._STEPS_BETWEEN_LOOKS, "cpu", steps)
    later, told_later = written()
    assert [(g.tokens, g.finished) for g in at_once] == [(g.tokens, g.finished) for g in later]
    for a, b in zip(at_once, later, strict=True):
        torch.testing.assert_close(torch.tensor(a.logprobs), torch.tensor(b.logprobs), rtol=0, atol=2e-5)
    assert told == told_later  # the first to end is the first to be told of
    assert len({len(g.tokens) for g in at_once}) > 3


@pytest.mark.parametrize("lean", [True, False])
def test_tables_of_like_lengths_change_nothing_of_what_is_written(
    policy: Policy, lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [policy.prompt_ids(prompt) for prompt in prompts()]
    asked = [ids * (1 + 7 * (i % 3)) for i, ids in enumerate(asked)]  # long ones among short ones

    def written() -> tuple[list[Generated], dict[int, Generated]]:
        told: dict[int, Generated] = {}
        found = generate(
            policy.model, asked, samples=4, max_new_tokens=20, stop_ids=policy.stop_ids, pad_id=policy.pad_id,
            generator=seeded(0), lean=lean, finished=told.__setitem__,
        )  # fmt: skip
        return found, told

    monkeypatch.setattr(generation, "tables", lambda lengths, steps: [list(range(len(lengths)))])
    at_once, _ = written()
    several = [[i for i in range(len(asked)) if i % 3 == part] for part in (2, 1, 0)]
    monkeypatch.setattr(generation, "tables", lambda lengths, steps: several)
    apart, told = written()
    assert [g.tokens for g in apart] == [g.tokens for g in at_once]
    for a, b in zip(apart, at_once, strict=True):
        torch.testing.assert_close(torch.tensor(a.logprobs), torch.tensor(b.logprobs), rtol=0, atol=2e-5)
    assert [told[row] for row in range(len(apart))] == apart and list(told) != sorted(told)


def test_samples_of_one_task_differ(policy: Policy) -> None:
    assert len({r.tokens for r in rollouts(policy, TARGETS[:1], samples=8, seed=0)}) > 1


def test_a_continuation_ends_with_the_first_stop_or_at_the_limit(policy: Policy) -> None:
    for rollout in rollouts(policy, samples=16, seed=0, length=12):
        stops = [i for i, token in enumerate(rollout.tokens) if token in policy.stop_ids]
        assert rollout.finished == bool(stops)
        assert stops in ([], [len(rollout.tokens) - 1])
        assert rollout.finished or len(rollout.tokens) == 12


def test_samples_are_drawn_from_the_softmax() -> None:
    """The first token of many samples against its exact distribution: no count is five sigmas off."""
    policy, count = tiny(3), 4_000
    prompt = policy.prompt_ids(*prompts([(1, 2, 3)]))
    drawn = generate(
        policy.model, [prompt], samples=count, max_new_tokens=1, stop_ids=(), pad_id=0, generator=seeded(0)
    )
    with torch.inference_mode():
        p = torch.softmax(policy.model(torch.tensor([prompt])).logits[0, -1], -1)
    counts = torch.bincount(torch.tensor([g.tokens[0] for g in drawn]), minlength=len(p))
    assert ((counts - count * p).abs() < 5 * (count * p * (1 - p)).sqrt() + 5).all()


def test_left_padding_puts_every_prompt_at_the_end() -> None:
    ids, mask = padded([[1, 2, 3], [4]], pad=9, side="left")
    assert ids.tolist() == [[1, 2, 3], [9, 9, 4]]
    assert mask.tolist() == [[1, 1, 1], [0, 0, 1]]
