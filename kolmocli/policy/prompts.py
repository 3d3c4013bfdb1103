"""A prompt as one text: bare for the presets, through the chat template of any other model that has one."""

from __future__ import annotations

from typing import Any

from jinja2 import TemplateError

from kolmocli.policy.characters import ANSWER, QUESTION
from kolmocli.policy.presets import Alphabet
from kolmocli.policy.tokenizer import PROGRAM, SEQUENCE
from kolmocli.tasks.base import Prompt

_MARKS: dict[Alphabet, tuple[str, str]] = {"programs": (SEQUENCE, PROGRAM), "characters": (QUESTION, ANSWER)}
"""What stands before the prompt of a preset, and between it and the answer."""


def preset_prompt(prompt: Prompt, alphabet: Alphabet) -> str:
    before, after = _MARKS[alphabet]
    return before + prompt.shortest + after


def readable_prompt(prompt: Prompt, tokenizer: Any) -> str:
    """A system prompt and a user's turn; without a chat template the one above the other."""
    together = f"{prompt.system}\n\nNow: {prompt.text}" if prompt.system else prompt.text
    if not getattr(tokenizer, "chat_template", None):
        return together + "\n"
    user = {"role": "user", "content": prompt.text}
    if not prompt.system:
        return _chat([user], tokenizer)
    try:
        return _chat([{"role": "system", "content": prompt.system}, user], tokenizer)
    except TemplateError:  # templates without system prompts refuse them
        return _chat([{**user, "content": together}], tokenizer)


def _chat(messages: list[dict[str, str]], tokenizer: Any) -> str:
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
