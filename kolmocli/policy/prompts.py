"""What a policy is shown: the presets read a bare sequence or question, other models what is to be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import TemplateError

from kolmocli.policy.characters import ANSWER, QUESTION
from kolmocli.policy.tokenizer import PROGRAM, SEQUENCE
from kolmocli.tasks.base import Question

_EXPLANATION = """\
Write the shortest program that produces a sequence of integers. A program has one statement per line, \
`name = function(arguments)`; its result is the value of the last statement. Only these functions exist:
range_func_up(a, b): a, a+1, ..., b, with b included
range_func_interval(a, b, s): every s-th integer from a, with b excluded
repeat_num(n, v): v, n times
set_list([x, y, ...]): the list itself
repeat_list(k, x): x, k times over
reverse_list(x); scan_add(x): running sum
substitute(x, old, new); add_item_list(x, c); subtract_item_list(x, c); modulo_item_list(x, c)
get_subsequence_with_jumps(x, s): x[::s]; get_subsequence_between_indices(x, i, j): x[i:j]
max_n(x, n), min_n(x, n): the n largest, descending; the n smallest, ascending
filter(p, x), with p one of is_even, is_odd, is_not_zero
concatenate(x, y); interleave(x, y)
add_two_lists(x, y); subtract_two_lists(x, y); modulo_two_lists(x, y)
Example, for 1, 2, 3, 1, 2, 3:
sequence_1 = range_func_up(1, 3)
sequence_2 = repeat_list(2, sequence_1)
Answer with the program alone. Sequence:
"""


def preset_prompt(target: Sequence[int]) -> str:
    """The prompt of the presets. Separators are spent only where digits would run together."""
    plain = all(0 <= x <= 255 for x in target)
    return SEQUENCE + (" " if plain else ", ").join(map(str, target)) + PROGRAM


def explained_prompt(target: Sequence[int], tokenizer: Any) -> str:
    """The prompt for any other model, through its chat template where it has one."""
    text = _EXPLANATION + ", ".join(map(str, target))
    if getattr(tokenizer, "chat_template", None):
        return _chat([{"role": "user", "content": text}], tokenizer)
    return text + "\nProgram:\n"


def short_question(question: Question) -> str:
    """The prompt of the presets."""
    return QUESTION + question.short + ANSWER


def asked_question(question: Question, tokenizer: Any) -> str:
    """The prompt for any other model: a system prompt and a user's turn, through its chat template where it has one."""
    if not getattr(tokenizer, "chat_template", None):
        return f"{question.system}\n\nNow: {question.text}\n"
    user = {"role": "user", "content": question.text}
    try:
        return _chat([{"role": "system", "content": question.system}, user], tokenizer)
    except TemplateError:  # templates without system prompts refuse them
        return _chat([{**user, "content": f"{question.system}\n\nNow: {question.text}"}], tokenizer)


def _chat(messages: list[dict[str, str]], tokenizer: Any) -> str:
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
