"""A pass-rate sampler over a file of prompts, in TRL's own trainers."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from kolmocli.errors import UsageError
from kolmocli.integrations.torch import PassRateSampler
from kolmocli.policy.building import build_preset, tokenizer_of
from kolmocli.seeds import content_key

pytestmark = pytest.mark.trl

GROUPS, SAMPLES, PROMPTS = 3, 4, 30


class Listening(PassRateSampler):
    """Notes what it was told."""

    told: list[dict[int, tuple[float, int]]]

    def observe(self, indices: Any, passes: Any, rollouts: Any, *, age: int = 0) -> None:
        self.told = [
            *getattr(self, "told", []),
            {i: (p, r) for i, p, r in zip(indices, passes, rollouts, strict=True)},
        ]
        super().observe(indices, passes, rollouts, age=age)


def read_rows(folder: Path) -> Any:
    """The prompts, from a file."""
    from datasets import load_dataset

    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"prompt": f"<question>{n}<answer>", "number": n, "level": n % 3}) for n in range(PROMPTS)]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    return load_dataset("json", data_files=str(folder / "rows.jsonl"), split="train", cache_dir=str(folder / "cache"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return read_rows(tmp_path_factory.mktemp("rows"))


def right(completions: list[str], number: list[int], **_: Any) -> list[float | None]:
    """Of the prompt alone, so that a resumed run has the same rewards. Prompts with 7 cannot be judged."""
    return [None if n % 10 == 7 else float(content_key(str(n)) % 2) for n in number]


def short(completions: list[str], **_: Any) -> list[float]:
    return [1.0] * len(completions)


def train(
    kind: str, folder: Path, rows: Any, prompts: PassRateSampler, steps: int, resume: str | None = None, judge: int = 1,
    **settings: Any,
) -> Any:  # fmt: skip
    import trl

    from kolmocli.integrations.trl_prompts import PassRateMixin

    trainer = type("Trainer", (PassRateMixin, getattr(trl, f"{kind}Trainer")), {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TRL's own, and torch's about pinned memory
        chosen = {"per_device_train_batch_size": GROUPS * SAMPLES, "max_steps": steps, "beta": 0.0, **settings}
        arguments = getattr(trl, f"{kind}Config")(
            output_dir=str(folder), num_generations=SAMPLES, max_completion_length=2, use_cpu=True, bf16=False,
            gradient_checkpointing=False, report_to=[], logging_steps=1, disable_tqdm=True, seed=0, save_strategy="steps",
            save_steps=2, lr_scheduler_type="constant", **chosen,
        )  # fmt: skip
        made = trainer(
            model=build_preset("tiny", 0, "characters"), processing_class=tokenizer_of("characters"), args=arguments,
            reward_funcs=[short, right], train_dataset=rows, prompts=prompts, judge=judge,
        )  # fmt: skip
        made.train(resume_from_checkpoint=resume)
    return made


def sampler(rows: Any, **options: Any) -> Listening:
    return Listening(rows, level="level", seed=5, **options)


@pytest.mark.parametrize("kind", ["GRPO", "RLOO"])
def test_every_update_tells_the_sampler_what_the_judge_said_of_whole_groups(
    kind: str, rows: Any, tmp_path: Path
) -> None:
    prompts = sampler(rows)
    trainer = train(kind, tmp_path, rows, prompts, 4)
    assert [len(told) for told in prompts.told] == [GROUPS] * 4
    for told in prompts.told:
        for number, result in told.items():
            score = right([""], [number])[0]
            assert result == ((0, 0) if score is None else (score * SAMPLES, SAMPLES))
    assert any(not rollouts for told in prompts.told for _, rollouts in told.values())
    assert len(prompts.prompts.waiting) == GROUPS  # TRL reads one batch ahead
    assert "kolmo/hard" in trainer.state.log_history[-2]


def test_batches_that_several_updates_share_are_told_once(rows: Any, tmp_path: Path) -> None:
    prompts = sampler(rows)
    train("GRPO", tmp_path, rows, prompts, 4, num_iterations=2)
    assert [len(told) for told in prompts.told] == [GROUPS] * 2


def test_batches_of_one_update_are_told_together(rows: Any, tmp_path: Path) -> None:
    prompts = sampler(rows)
    train("GRPO", tmp_path, rows, prompts, 2, gradient_accumulation_steps=2)
    assert [len(told) for told in prompts.told] == [2 * GROUPS] * 2


def test_a_resumed_run_draws_what_an_unbroken_one_draws(rows: Any, tmp_path: Path) -> None:
    whole, broken, resumed = sampler(rows), sampler(rows), sampler(rows)
    train("GRPO", tmp_path / "whole", rows, whole, 6)
    train("GRPO", tmp_path / "broken", rows, broken, 2)
    train("GRPO", tmp_path / "broken", rows, resumed, 6, resume=str(tmp_path / "broken" / "checkpoint-2"))
    assert [*broken.told, *resumed.told] == whole.told
    assert resumed.state_dict() == whole.state_dict()


def test_a_checkpoint_of_another_set_or_of_none_is_refused(rows: Any, tmp_path: Path) -> None:
    train("GRPO", tmp_path, rows, sampler(rows), 2)
    checkpoint = tmp_path / "checkpoint-2"
    fewer = rows.select(range(20))
    with pytest.raises(UsageError, match="the state is of 30 prompts in 3 buckets, and these are 20 in 1"):
        train("GRPO", tmp_path, fewer, Listening(fewer, seed=5), 4, resume=str(checkpoint))
    file = checkpoint / "trainer_state.json"
    state = json.loads(file.read_text())
    del state["stateful_callbacks"]["PassRateCallback"]
    file.write_text(json.dumps(state))
    with pytest.raises(UsageError, match="checkpoint of step 2 has no state of a PassRateSampler"):
        train("GRPO", tmp_path, rows, sampler(rows), 4, resume=str(checkpoint))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_steps": -1}, "set max_steps"),
        ({"restore_callback_states_from_checkpoint": True}, "remove it"),
        ({"remove_unused_columns": True}, "set remove_unused_columns=False"),
        ({"judge": 2}, "2 reward functions"),
    ],
)
def test_what_would_not_steer_is_refused(settings: dict[str, Any], words: str, rows: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        train("GRPO", tmp_path, rows, sampler(rows), 2, **settings)


def test_a_sampler_of_other_prompts_and_a_stream_are_refused(rows: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="prompts is for 20 prompts, and train_dataset has 30"):
        train("GRPO", tmp_path, rows, Listening(20), 2)
    with pytest.raises(UsageError, match="not a stream"):
        train("GRPO", tmp_path, rows.to_iterable_dataset(), sampler(rows), 2)
