"""Chat templates of strangers: in bounds of time, memory and length, and their errors as one line."""

from __future__ import annotations

import sys

import pytest

from kolmocli.errors import UsageError
from kolmocli.policy import templates
from kolmocli.policy.policy import Policy
from kolmocli.policy.prompts import readable_prompt
from kolmocli.tasks.base import Prompt

LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}"
DOUBLINGS = "{% set n = namespace(x='xx') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (LOOPS, "not done after"),
        ("{{ 'x' * 100000000000 }}", "more than 1 GiB"),
        ("{{ 'x'|center(100000000000) }}", "more than 1 GiB"),
        (DOUBLINGS, "more than 1 GiB|not done after"),
        ("{{ 'x' * 5000000 }}", "wrote 5,000,000 characters of a prompt of 5"),
        ("{{ 10 ** 10 ** 10 }}", r"the operator \*\*"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "recursion"),
        ("{{ 1 // 0 }}", "by zero"),
        ("{{ messages.x.y }}", "no attribute"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ raise_exception('no system prompt') }}", "no system prompt"),
        ("{% for", "unexpected"),
        ("{# none #}", "it writes nothing"),
        ("{{ '\\ud800' }}", "surrogates not allowed"),
        ({"default": "{{\n10 ** 10 ** 10 }}", "tool_use": ""}, r"the operator \*\*"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_template_that_cannot_be_used_is_one_line(
    template: str | dict[str, str], said: str, chat_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(templates, "SECONDS", 0.2)
    monkeypatch.setattr(chat_policy.tokenizer, "chat_template", template)
    with pytest.raises(UsageError, match=f"its chat template cannot be used: .*({said})") as caught:
        readable_prompt(Prompt("hello"), chat_policy.tokenizer)
    assert "\n" not in str(caught.value)


def test_a_template_that_asks_for_the_date_is_told_the_same_every_day(
    chat_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = "Today is {{ strftime_now('%d %b %Y, %H:%M') }}. {{ messages[0].content }}"
    monkeypatch.setattr(chat_policy.tokenizer, "chat_template", template)
    assert readable_prompt(Prompt("hello"), chat_policy.tokenizer) == "Today is 01 Jan 2025, 00:00. hello"


def test_limits_end_with_the_template(chat_policy: Policy) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS), sys.gettrace()
    assert "hello" in readable_prompt(Prompt("hello"), chat_policy.tokenizer)
    assert (resource.getrlimit(resource.RLIMIT_AS), sys.gettrace()) == before


def test_a_power_in_the_words_of_a_template_is_no_operator(
    chat_policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_policy.tokenizer, "chat_template", "**{{ messages[0].content }}** {{ '2 ** 3' }}")
    assert readable_prompt(Prompt("hello"), chat_policy.tokenizer) == "**hello** 2 ** 3"


def test_a_template_without_a_system_prompt_gets_one_turn(chat_policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    template = "{% if messages[0].role == 'system' %}{{ raise_exception('none') }}{% endif %}{{ messages[0].content }}"
    monkeypatch.setattr(chat_policy.tokenizer, "chat_template", template)
    assert readable_prompt(Prompt("hello", "you count"), chat_policy.tokenizer) == "you count\n\nNow: hello"
