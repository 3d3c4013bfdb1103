"""A course in TRL's trainers: what they sample is what the controller proposed, and it hears what came of it."""

from __future__ import annotations

import json
import socket
import warnings
from pathlib import Path
from typing import Any

import pytest

import kolmocli as kolmo
from kolmocli.errors import UsageError
from kolmocli.policy.building import build_preset, tokenizer_of
from tests.conftest import command_environment
from tests.integrations.stories import Listening, open_stories
from tests.warm import Command

pytestmark = pytest.mark.trl

GROUPS, SAMPLES = 3, 4
ROOT = Path(__file__).parents[2]
PROCESS = Path(__file__).with_name("trl_process.py")


def ask(task: Any) -> str:
    return f"<question>{task.asked.shortest}<answer>"


def train(
    kind: str,
    folder: Path,
    course: Listening,
    steps: int,
    resume: bool | str = False,
    hears: bool = True,
    **settings: Any,
) -> Any:
    """A trainer that has run."""
    import trl

    from kolmocli.integrations.trl import Lessons

    lessons = Lessons(course, ask=ask)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TRL's own, and torch's about pinned memory
        chosen = {
            "per_device_train_batch_size": GROUPS * SAMPLES, "beta": 0.0, "shuffle_dataset": False, "save_strategy": "steps",
            "save_steps": 2,
        } | settings  # fmt: skip
        chosen["lr_scheduler_type"] = "constant"  # as it stands, a shorter run would be another one
        arguments = getattr(trl, f"{kind}Config")(
            output_dir=str(folder), num_generations=SAMPLES, max_steps=steps,
            max_completion_length=6, use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[],
            logging_steps=1, disable_tqdm=True, seed=0, **chosen,
        )  # fmt: skip
        trainer = getattr(trl, f"{kind}Trainer")(
            model=build_preset("tiny", 0, "characters"), processing_class=tokenizer_of("characters"), args=arguments,
            reward_funcs=lessons.reward, train_dataset=lessons.stream(), eval_dataset=lessons.held_out(2 * GROUPS),
            callbacks=[lessons] if hears else [],
        )  # fmt: skip
        trainer.train(resume_from_checkpoint=resume)
    return trainer


@pytest.mark.parametrize("kind", ["GRPO", "RLOO"])
def test_the_controller_hears_once_per_version_of_the_policy_and_nothing_that_could_not_be_judged(
    kind: str, tmp_path: Path
) -> None:
    course = open_stories()
    trainer = train(kind, tmp_path, course, 3)
    assert [len(results) for results in course.told] == [GROUPS] * 3
    judged = [sum(r.rollouts for r in results) for results in course.told]
    passes = [sum(r.passes for r in results) for results in course.told]
    assert sum(judged) < 3 * GROUPS * SAMPLES  # some were masked
    unread = [o.unread for o in course.judged if o.reward is not None]
    assert 0 < sum(r.unread for results in course.told for r in results) == sum(unread) < len(unread)
    means = [log["rewards/reward/mean"] for log in trainer.state.log_history if "rewards/reward/mean" in log]
    assert means == pytest.approx([p / j for p, j in zip(passes, judged, strict=True)])
    shares = [log["kolmo/stories/weight"] for log in trainer.state.log_history if "kolmo/stories/weight" in log]
    assert shares == [1.0] * 3


def test_what_is_sampled_is_what_was_proposed_one_batch_ahead(tmp_path: Path) -> None:
    course = open_stories()
    train("GRPO", tmp_path, course, 3)
    state = course.state_dict()
    assert state["draws"] == 4
    kept = json.loads((tmp_path / "checkpoint-3" / "trainer_state.json").read_text())["stateful_callbacks"]["Lessons"]
    assert len(kept["waiting"]) == GROUPS
    drawn = dict(state["drawn"])
    for family, level, _ in kept["waiting"]:
        drawn[f"{family}/{level}"] -= 1
    seen: dict[str, int] = dict.fromkeys(drawn, 0)
    for result in (result for results in course.told for result in results):
        seen[str(result.bucket)] += 1
    assert seen == drawn


def test_batches_that_are_used_for_several_updates_are_heard_once(tmp_path: Path) -> None:
    course = open_stories()
    train("GRPO", tmp_path, course, 4, num_iterations=2)
    assert [len(results) for results in course.told] == [GROUPS] * 2


def test_several_batches_of_one_update_are_heard_together(tmp_path: Path) -> None:
    course = open_stories()
    train("GRPO", tmp_path, course, 2, gradient_accumulation_steps=2)
    assert [len(results) for results in course.told] == [2 * GROUPS] * 2


def test_evaluation_asks_held_out_tasks_and_tells_the_controller_nothing(tmp_path: Path) -> None:
    course = open_stories()
    trainer = train(
        "GRPO", tmp_path, course, 2, eval_strategy="steps", eval_steps=1, per_device_eval_batch_size=SAMPLES
    )
    scores = [log["eval_rewards/reward/mean"] for log in trainer.state.log_history if "eval_reward" in log]
    assert len(scores) == 2
    assert [len(results) for results in course.told] == [GROUPS] * 2


def test_a_resumed_run_draws_what_an_unbroken_one_draws(tmp_path: Path) -> None:
    whole, broken, resumed = open_stories(), open_stories(), open_stories()
    train("GRPO", tmp_path / "whole", whole, 4)
    train("GRPO", tmp_path / "broken", broken, 2)
    train("GRPO", tmp_path / "another", resumed, 4, resume=str(tmp_path / "broken" / "checkpoint-2"))
    buckets = [[result.bucket for result in results] for results in whole.told]
    assert [[result.bucket for result in results] for results in [*broken.told, *resumed.told]] == buckets
    for key in ("draws", "drawn"):  # what was sampled for them is TRL's, and differs
        assert resumed.state_dict()[key] == whole.state_dict()[key]


def test_a_checkpoint_of_another_course_or_of_none_is_refused(tmp_path: Path) -> None:
    train("GRPO", tmp_path, open_stories(), 2)
    with pytest.raises(
        UsageError, match=r"checkpoint of step 2 .*: it is of other tasks: seed was 0, is 7; go on from"
    ):
        train("GRPO", tmp_path, open_stories(seed=7), 4, resume=True)
    file = tmp_path / "checkpoint-2" / "trainer_state.json"
    state = json.loads(file.read_text())
    del state["stateful_callbacks"]["Lessons"]
    file.write_text(json.dumps(state))
    with pytest.raises(
        UsageError, match="checkpoint of step 2 does not hold the state of this course: it has no 'Lessons'"
    ):
        train("GRPO", tmp_path, open_stories(), 4, resume=True)


def test_a_shuffled_stream_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="set shuffle_dataset=False"):
        train("GRPO", tmp_path, open_stories(), 2, shuffle_dataset=True)


def test_a_trainer_that_does_not_tell_the_controller_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the controller hears nothing: give the trainer callbacks=\[lessons\]"):
        train("GRPO", tmp_path, open_stories(), 2, hears=False)


def test_a_trainer_that_would_drop_the_names_of_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="set remove_unused_columns=False"):
        train("GRPO", tmp_path, open_stories(), 2, remove_unused_columns=True)


def test_a_trainer_that_would_remake_the_callback_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="remove restore_callback_states_from_checkpoint"):
        train("GRPO", tmp_path, open_stories(), 2, restore_callback_states_from_checkpoint=True)


def test_programs_of_chat_models_are_judged_in_the_sandbox() -> None:
    from kolmocli.integrations.trl import Lessons

    with kolmo.open_course("python", sandbox="embedded") as course:
        lessons = Lessons(course)
        rows = list(lessons.held_out(30))
        assert [message["role"] for message in rows[0]["prompt"]] == ["system", "user"]
        tasks = course.held_out(30)
        right = [[{"role": "assistant", "content": f"Here:\n```python\n{task.reference}\n```"}] for task in tasks]
        columns = {key: [row[key] for row in rows] for key in ("family", "level", "index", "split")}
        assert lessons.reward(right, **columns) == [1.0] * len(rows)
        wrong = [[{"role": "assistant", "content": "0"}]] * len(rows)
        assert set(lessons.reward(wrong, **columns)) == {0.0}
        assert not course.state_dict()["drawn"]  # evaluation tells the controller nothing


def test_every_process_hears_what_all_of_them_sampled(tmp_path: Path) -> None:
    """Two processes of six rollouts each: the middle group of the three is sampled in both."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    processes = []
    for rank in "01":  # as torch.distributed.run names them
        names = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        processes.append(Command([str(tmp_path)], ROOT, command_environment(names), script=PROCESS))
    for process in processes:
        _, said = process.communicate(600)
        assert process.returncode == 0, said
    first, second = (json.loads((tmp_path / f"told-{rank}.json").read_text()) for rank in (0, 1))
    assert first == second
    assert [len(results) for results in first["told"]] == [GROUPS] * 3
    judged = [sum(rollouts for _, _, rollouts in results) for results in first["told"]]
    passes = [sum(passed for _, passed, _ in results) for results in first["told"]]
    assert GROUPS * SAMPLES >= max(judged) > (GROUPS - 1) * SAMPLES
    assert first["means"] == pytest.approx([p / j for p, j in zip(passes, judged, strict=True)])
    groups = [[(prompt, rollouts) for prompt, (_, rollouts) in results] for results in first["prompts"]]
    assert [len(results) for results in groups] == [GROUPS] * 3
    assert {rollouts for results in groups for _, rollouts in results} <= {0, SAMPLES}  # whole groups, or none of one
