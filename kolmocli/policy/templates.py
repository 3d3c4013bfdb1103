"""Chat templates are programs that come with a model. Jinja's sandbox keeps them from everything but time and memory, and
here they get a bound of both: what one does beyond it, or raises, is one line."""

from __future__ import annotations

import datetime
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType
from typing import Any

import jinja2

from kolmocli.errors import UsageError

SECONDS = 5.0
"""Processor time for one prompt. Templates in use take less than a thousandth of it."""
_MEMORY = 1 << 30
"""Bytes beyond what the process has."""
_CLOCK, _DAY = re.compile(r"""\bstrftime_now\(\s*(["'])([^"'\\]*)\1\s*\)"""), datetime.datetime(2025, 1, 1)
"""Templates such as Llama's tell the model the date. It is told this one: a run that is resumed tomorrow has the same prompts."""
_LONGEST = 1 << 20
"""Characters that a template may add to what it is given."""


class TemplateTrouble(UsageError):
    """A chat template that cannot be used."""


def rendered(messages: Sequence[dict[str, str]], tokenizer: Any) -> str:
    """The messages as this tokenizer's chat template writes them, up to where the answer begins.

    Raises:
        TemplateTrouble: it takes too long or too much memory, writes too much, or refuses these messages.
    """
    given = sum(len(message["content"]) for message in messages)
    try:
        own = tokenizer.chat_template
        for template in own.values() if isinstance(own, dict) else [own]:
            _refuse_powers(str(template))
        dated = {"chat_template": _CLOCK.sub(_date, own)} if isinstance(own, str) and _CLOCK.search(own) else {}
        with _bounded():
            text = str(
                tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True, **dated)
            )
        if not text.encode():  # which half of a surrogate pair has no bytes for
            raise ValueError("it writes nothing")
        if len(text) > 4 * given + _LONGEST:
            raise ValueError(f"it wrote {len(text):,} characters of a prompt of {given:,}")
    except Exception as error:  # whatever its author made it do
        said = " ".join(str(error).split())[:160] or type(error).__name__
        name = getattr(tokenizer, "name_or_path", "") or "the model"
        raise TemplateTrouble(f"{name}: its chat template cannot be used: {said}; repair its chat_template") from None
    return text


def _date(asked: re.Match[str]) -> str:
    return repr(_DAY.strftime(asked[2]))


@cache
def _refuse_powers(template: str) -> None:
    """`10 ** 10 ** 10` is one operation, which nothing ends before its time. No template needs a power."""
    with suppress(jinja2.TemplateSyntaxError):  # is said when it is compiled
        if any(kind == "operator" and said == "**" for _, kind, said in jinja2.Environment().lex(template)):
            raise ValueError("it has the operator **")


@contextmanager
def _bounded() -> Iterator[None]:
    """Limits for the Python that runs inside, which stop it between two of its lines."""
    end, before = time.thread_time() + SECONDS, sys.gettrace()

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if time.thread_time() > end:
            raise TimeoutError(f"it was not done after {SECONDS:g} s")
        return trace

    with _memory():
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)


@contextmanager
def _memory() -> Iterator[None]:
    """A limit of the address space, on the system that keeps one. It is of the process, for less than a millisecond."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm", "rb") as file:
        most = int(file.read().split()[0]) * resource.getpagesize() + _MEMORY
    if soft not in (-1, resource.RLIM_INFINITY):
        most = min(most, soft)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    except MemoryError:
        raise ValueError(f"it asked for more than {_MEMORY >> 30} GiB") from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
