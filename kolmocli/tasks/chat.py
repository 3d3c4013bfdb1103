"""A task as a conversation: what a chat model is shown of it, and what of its answer is judged."""

from __future__ import annotations

from kolmocli.language.answers import program_part
from kolmocli.language.fences import Part
from kolmocli.tasks.base import Task
from kolmocli.tasks.code.languages import script_part


def messages(task: Task) -> list[dict[str, str]]:
    """The messages that a chat model gets: a system prompt, where there is one, and the question.

    The beginning of an answer, which some families give, is not shown: a template would close it, as a turn of its own.
    """
    said = [("system", task.asked.system), ("user", task.asked.text)]
    return [{"role": role, "content": content} for role, content in said if content]


def program_in(task: Task, answer: str) -> Part:
    """The lines of an answer that are the program."""
    if task.language in ("cpp", "javascript"):
        return script_part(answer, task.language)
    return program_part(answer, task.defines)


def judged_text(task: Task, answer: str) -> str:
    """The answer without prose and code fences around a program, and with the beginning that is given, unless it repeats
    that, spaced in any way."""
    text = answer if task.language == "text" else program_in(task, answer).text
    return text if _unspaced(text).startswith(_unspaced(task.prefix)) else task.prefix + text


def _unspaced(text: str) -> str:
    return "".join(text.split())
