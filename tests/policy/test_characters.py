"""Questions for presets, character by character, and for models that can read."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from kolmocli.errors import UsageError
from kolmocli.policy.building import build_preset
from kolmocli.policy.characters import CHARACTERS, build_character_tokenizer
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import PRESETS, VOCABULARIES
from kolmocli.policy.prompts import readable_prompt
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.base import Prompt, Task
from tests.policies import save_hugging_face, tiny

TOKENIZER = build_character_tokenizer()
TASK = sum_digits([123, 45, 67])
QUESTION, WORKED = TASK.asked, TASK.reference


def reader(seed: int = 0) -> Policy:
    return load_policy("tiny", device="cpu", seed=seed, alphabet="characters")


def test_every_character_is_a_token_and_comes_back() -> None:
    text = "".join(CHARACTERS)
    ids = TOKENIZER(text, add_special_tokens=False).input_ids
    assert len(set(ids)) == len(ids) == len(CHARACTERS)
    assert TOKENIZER.decode(ids) == text
    assert len(TOKENIZER) == VOCABULARIES["characters"]


def test_the_tag_is_one_token() -> None:
    assert len(TOKENIZER("[ANSWER] 28", add_special_tokens=False).input_ids) == 3
    assert TOKENIZER.decode(TOKENIZER(WORKED, add_special_tokens=False).input_ids) == WORKED


def test_what_is_no_character_of_it_is_unknown() -> None:
    assert TOKENIZER("é", add_special_tokens=False).input_ids == [TOKENIZER.unk_token_id]


def test_a_preset_for_questions_is_smaller_by_its_embeddings(tmp_path: Path) -> None:
    policy = reader()
    assert policy.parameters == PRESETS["tiny"].count("characters") < PRESETS["tiny"].count()
    policy.save(tmp_path)
    again = load_policy(str(tmp_path), device="cpu", alphabet="characters")
    assert again.alphabet == policy.alphabet == "characters"
    assert again.prompt_ids(QUESTION) == policy.prompt_ids(QUESTION)
    assert AutoTokenizer.from_pretrained(tmp_path).decode(again.answer(QUESTION, WORKED).tokens[:-1]) == (WORKED)


def test_digits_begin_as_the_numbers_that_they_are() -> None:
    embeddings = build_preset("tiny", 0, "characters").get_input_embeddings().weight
    digits = embeddings[TOKENIZER.convert_tokens_to_ids([str(i) for i in range(10)])]
    near = torch.nn.functional.cosine_similarity(digits[5], digits[6], dim=0)
    far = torch.nn.functional.cosine_similarity(digits[5], digits[9], dim=0)
    assert near > far


def test_the_beginning_that_is_given_is_read_and_not_learnt() -> None:
    """A supervised answer and a rollout go on from the same tokens."""
    policy = reader()
    prompt, prefix = Prompt("1>4;0>3"), "def f(x): return "
    answer = policy.answer(prompt, prefix + "x+3", prefix)
    (rollout,) = policy.rollout([prompt], prefixes=[prefix], samples=1, max_new_tokens=4, generator=None)
    assert answer.prompt == rollout.prompt
    assert TOKENIZER.decode(answer.tokens[:-1]) == "x+3"
    assert answer.text == prefix + "x+3"
    task = Task(prompt=prompt, reference=answer.text, prefix=prefix)
    assert policy.answers([task, Task(prompt=prompt)]) == [answer]


def test_a_rollout_keeps_the_text_and_its_lines() -> None:
    policy = reader()
    rollouts = policy.rollout([QUESTION], samples=16, max_new_tokens=60, generator=torch.Generator().manual_seed(0))
    assert any("\n" in r.text for r in rollouts)
    for rollout in rollouts:
        assert rollout.prompt == policy.prompt_ids(QUESTION)
        assert max(rollout.lines) <= rollout.text.count("\n")


def test_a_preset_is_not_loaded_for_tasks_of_the_other_kind(tmp_path: Path) -> None:
    reader().save(tmp_path / "reader")
    with pytest.raises(UsageError, match="reader answers questions and has no words for programs"):
        load_policy(str(tmp_path / "reader"), device="cpu")
    tiny().save(tmp_path / "writer")
    with pytest.raises(UsageError, match="writer writes programs and has no letters for questions"):
        load_policy(str(tmp_path / "writer"), device="cpu", alphabet="characters")


@pytest.mark.parametrize("chat", [False, True], ids=["plain", "chat"])
def test_other_models_are_told_how_to_answer(tmp_path: Path, chat: bool) -> None:
    policy = load_policy(str(save_hugging_face(tmp_path, chat=chat)), device="cpu", alphabet="characters")
    asked = policy.tokenizer.decode(policy.prompt_ids(QUESTION))
    assert asked.count("<s>") == 1
    assert QUESTION.system in asked
    assert asked.index(QUESTION.system) < asked.index(QUESTION.text)
    assert ("<user>" in asked) == chat
    (rollout,) = policy.rollout([QUESTION], samples=1, max_new_tokens=4, generator=None)
    assert rollout.text == policy.tokenizer.decode(rollout.tokens, skip_special_tokens=True)


def test_a_template_without_system_prompts_gets_it_in_the_users_turn(tmp_path: Path) -> None:
    tokenizer = load_policy(str(save_hugging_face(tmp_path, chat=True)), device="cpu").tokenizer
    tokenizer.chat_template = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
    )
    asked = readable_prompt(QUESTION, tokenizer)
    assert asked.startswith("<user>" + QUESTION.system)
    assert asked.endswith(QUESTION.text)
