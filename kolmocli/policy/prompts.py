"""A prompt as one text: bare for the presets, through the chat template of any other model that has one."""

from __future__ import annotations

import re
from typing import Any

from kolmocli.policy.presets import PROMPT_MARKS, Alphabet
from kolmocli.policy.segmenting import segmented
from kolmocli.policy.templates import TemplateTrouble, rendered
from kolmocli.tasks.base import Prompt

_BYTES = re.compile(r"\d{1,3}( \d{1,3})*")
"""A sequence that needs no other separators (`tasks/sequences/prompt.py`)."""


def preset_prompt(prompt: Prompt, alphabet: Alphabet, segments: bool = False) -> str:
    """With `segments` a sequence of bytes is shown as `segmented` writes it; anything else as it is."""
    before, after = PROMPT_MARKS[alphabet]
    shown = prompt.shortest
    if segments and _BYTES.fullmatch(shown):
        shown = segmented([int(item) for item in shown.split()])
    return before + shown + after


def readable_prompt(prompt: Prompt, tokenizer: Any) -> str:
    """A system prompt and a user's turn; without a chat template the one above the other."""
    together = f"{prompt.system}\n\nNow: {prompt.text}" if prompt.system else prompt.text
    if not getattr(tokenizer, "chat_template", None):
        return together + "\n"
    user = {"role": "user", "content": prompt.text}
    if not prompt.system:
        return rendered([user], tokenizer)
    try:
        return rendered([{"role": "system", "content": prompt.system}, user], tokenizer)
    except TemplateTrouble:  # templates without system prompts refuse them
        return rendered([{**user, "content": together}], tokenizer)
