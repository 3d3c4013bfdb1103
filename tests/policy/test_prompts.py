from __future__ import annotations

from kolmocli.language.program import SIGNATURES
from kolmocli.policy.policy import Policy
from kolmocli.policy.prompts import explained_prompt


def test_every_function_is_explained() -> None:
    prompt = explained_prompt((4, 5), None)
    assert all(f"{name}(" in prompt for name in SIGNATURES)
    assert "4, 5" in prompt


def test_a_chat_template_is_used_where_there_is_one(chat_policy: Policy) -> None:
    prompt = explained_prompt((4, 5), chat_policy.tokenizer)
    assert prompt.startswith("<s><user>Write the shortest program")
    assert prompt.endswith("4, 5<assistant>")
