"""Find the beginning and end of an answer in a model's text: end tokens, thoughts, and tags around an answer.

What goes above the answer leaves its line breaks behind, so that line i stays line i. All of it takes time linear in the
text: it is a stranger's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

END_TOKENS = {
    "Llama 3": ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|start_header_id|>"),
    "Llama 2, Mistral": ("</s>", "[INST]", "[/INST]"),
    "Qwen, Yi, SmolLM": ("<|im_end|>", "<|endoftext|>", "<|im_start|>"),
    "Gemma": ("<end_of_turn>", "<start_of_turn>", "<eos>"),
    "DeepSeek": ("<\uff5cend\u2581of\u2581sentence\uff5c>", "<\uff5cUser\uff5c>", "<|EOT|>"),
    "Phi, GLM": ("<|end|>", "<|user|>", "<|observation|>"),
    "Command R": ("<|END_OF_TURN_TOKEN|>",),
    "gpt-oss": ("<|return|>", "<|call|>"),
    "InternLM": ("<eoa>", "[UNUSED_TOKEN_145]"),
    "EXAONE": ("[|endofturn|]",),
    "Kimi": ("[EOS]",),
    "StarCoder": ("<file_sep>", "<reponame>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>"),
    "SmolVLM, Idefics": ("<end_of_utterance>",),
    "T5, BERT": ("<pad>", "<unk>", "[PAD]", "[SEP]"),
    "MBPP's own prompt": ("[DONE]",),
}
"""End tokens of well-known models, where a decoder leaves them in the text."""
_BEGIN = re.compile(
    r"\s*+(?:<s>|<bos>|<\|begin_of_text\|>|<\uff5cbegin\u2581of\u2581sentence\uff5c>|<\uff5cAssistant\uff5c>|<\|assistant\|>"
    r"|<\|im_start\|>[ \t]*(?:assistant)?|<start_of_turn>[ \t]*(?:model)?"
    r"|<\|start_header_id\|>[ \t]*assistant[ \t]*<\|end_header_id\|>)"
)
"""Tokens that may stand before an answer."""
_ENDS = re.compile(
    "|".join(
        [
            *(re.escape(token) for tokens in END_TOKENS.values() for token in tokens),
            r"<([|\uff5c])[\w\u2581]{1,40}\1>",
            "<EOT>",
        ]
    )
)
_THOUGHTS = (
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"), ("<seed:think>", "</seed:think>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"), ("<|channel|>analysis", "<|channel|>final<|message|>"),
)  # fmt: skip
_TAGS = (
    ("<answer>", "</answer>"), ("[BEGIN]", "[DONE]"), ("[PYTHON]", "[/PYTHON]"), ("<python>", "</python>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
)  # fmt: skip
_QUOTES = "\"'`"
_QUOTING = re.compile(r"\\.|\"\"\"|'''|[\"']")
_TRIPLE = re.compile(r"\"\"\"|'''")

Spans = Sequence[tuple[int, int]]


def answer_within(text: str) -> str:
    """The answer alone: no byte-order mark, no thought before it, no tags around it, nothing from an end token on.

    A thought that never ends holds no answer: what comes back is blank. An end token within a string of a program is a
    part of the program.
    """
    text = _begun(_thought_over(text.removeprefix("\ufeff")))
    for opening, closing in _TAGS:
        text = _within(text, opening, closing)
    return before_end(text)


def before_end(text: str) -> str:
    """The text up to its first end token that stands in no string."""
    if (first := _ENDS.search(text)) is None:
        return text
    documented = triple_quoted(text)
    line, strings = (-1, -1), list[tuple[int, int]]()
    for found in _ENDS.finditer(text, first.start()):
        at = found.start()
        if within(at, documented):
            continue
        if at >= line[1]:
            end = text.find("\n", at)
            line = text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end
            strings = [(line[0] + start, line[0] + stop) for start, stop in _strings(text[slice(*line)])]
        if not within(at, strings):
            return text[:at]
    return text


def triple_quoted(text: str) -> list[tuple[int, int]]:
    """Spans of closed strings in three quotes."""
    spans, opened = list[tuple[int, int]](), None
    for found in _TRIPLE.finditer(text):
        if opened is None:
            opened = found
        elif found[0] == opened[0]:
            spans.append((opened.start(), found.end()))
            opened = None
    return spans


def within(place: int, spans: Spans) -> bool:
    """Whether a place lies in one of some spans, which are in order."""
    at = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return at >= 0 and place < spans[at][1]


def _strings(line: str) -> Iterator[tuple[int, int]]:
    """The strings of a line of code that end on it. An apostrophe of prose closes nothing, and so begins none."""
    opened: re.Match[str] | None = None
    for found in _QUOTING.finditer(line):
        if found[0][0] == "\\":
            continue
        if opened is None:
            opened = found
        elif found[0] == opened[0]:
            yield opened.start(), found.end()
            opened = None


def _begun(text: str) -> str:
    begun = 0
    while (found := _BEGIN.match(text, begun)) is not None:
        begun = found.end()
    return _blank(text[:begun]) + text[begun:]


def _thought_over(text: str) -> str:
    """The text behind its last thought; nothing of one that goes on to the end."""
    for opening, closing in _THOUGHTS:
        at = text.rfind(closing)
        while at > 0 and text[at - 1] in _QUOTES:  # a program that speaks of it
            at = text.rfind(closing, 0, at)
        if at >= 0:
            end = at + len(closing)
            text = _blank(text[:end]) + text[end:]
        begun = text.find(opening)
        if begun >= 0 and not text[text.rfind("\n", 0, begun) + 1 : begun].strip():
            text = text[:begun]
    return text


def _within(text: str, opening: str, closing: str) -> str:
    """Text between the last opening tag that begins a line and the closing one."""
    begun = text.rfind(opening)
    if begun >= 0 and not text[text.rfind("\n", 0, begun) + 1 : begun].strip():
        end = begun + len(opening)
        text = _blank(text[:end]) + text[end:]
    closed = text.find(closing)
    return text if closed < 0 or (closed > 0 and text[closed - 1] in _QUOTES) else text[:closed]


def _blank(text: str) -> str:
    return "\n" * text.count("\n")
