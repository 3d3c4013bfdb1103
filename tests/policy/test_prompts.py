from __future__ import annotations

from kolmocli.language.program import SIGNATURES
from kolmocli.policy.policy import Policy
from kolmocli.policy.prompts import readable_prompt
from kolmocli.tasks.sequences.prompt import sequence_prompt


def test_every_function_is_explained() -> None:
    prompt = readable_prompt(sequence_prompt((4, 5), "dsl"), None)
    assert all(f"{name}(" in prompt for name in SIGNATURES)
    assert "4, 5" in prompt


def test_a_chat_template_is_used_where_there_is_one(chat_policy: Policy) -> None:
    prompt = readable_prompt(sequence_prompt((4, 5), "dsl"), chat_policy.tokenizer)
    assert prompt.startswith("<s><user>Write the shortest program")
    assert prompt.endswith("4, 5<assistant>")
