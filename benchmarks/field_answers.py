"""Answers in words and formulas: what is right passes, what is wrong does not, and how many are judged a second."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kolmocli.tasks.answers.formulas import described
from kolmocli.tasks.answers.places import has_form
from kolmocli.tasks.answers.shapes import question
from kolmocli.tasks.judging import SandboxJudge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary


def pairs(folder: Path, aloud: bool) -> bool:
    """Answers with a box, each with what is right: no wrong one may pass, and few right ones fail."""
    cases = list(rows(folder / "pairs.jsonl"))
    counts = counted("pairs", cases, [one.passed for one in judged(cases)], aloud)
    print(f"pairs: {said(counts)}; {described('auto')}")
    return counts[False, True] == 0 and counts[True, False] <= 0.03 * len(cases)


def mathverify(folder: Path, aloud: bool) -> bool:
    """math-verify's own tests. Strictly: a text without a place for its answer is put in a box as it is. As read: where a
    sentence is around the answer, what a reader would take for it counts, too."""
    cases = list(rows(folder / "mathverify.jsonl"))
    boxed = [
        case if has_form(case["completion"]) else {**case, "completion": f"\\boxed{{{case['completion']}}}"}
        for case in cases
    ]
    strict = [one.passed for one in judged(boxed)]
    lenient = [bool(one.lenient) for one in judged(cases)]
    read = [a or (b and is_prose(case["completion"])) for a, b, case in zip(strict, lenient, cases, strict=True)]
    print(f"mathverify, strictly: {said(counted('mathverify', cases, strict, False))}")
    counts = counted("mathverify", cases, read, aloud)
    print(f"mathverify, as read: {said(counts)}; {described('auto')}")
    return counts[False, True] == 0 and counts[True, True] >= 205


def is_prose(text: str) -> bool:
    """Whether there is a sentence around the answer."""
    return len(re.findall(r"(?<![\\A-Za-z{])[A-Za-z]{2,}", text)) > 2 or ":" in text


def speed(folder: Path, aloud: bool) -> bool:
    """Answers judged a second: where no formula is parsed, and where one is. Every text is another one."""
    plain = [
        {"answer": str(7 * i), "completion": f"So it is {i} times 7.\n\\boxed{{{7 * i + i % 2}}}"} for i in range(4000)
    ]
    formulas = [{"answer": f"x^2+{i}x", "completion": f"\\boxed{{x(x+{i})}}"} for i in range(1, 600)]
    formulas += [
        {"answer": f"\\frac{{\\sqrt{{{i}}}}}{{{i}}}", "completion": f"\\boxed{{\\frac{{1}}{{\\sqrt{{{i}}}}}}}"}
        for i in range(2, 400)
    ]
    judged([{"answer": "2x", "completion": "\\boxed{x+x}"}])  # the process is there
    rates = []
    for name, cases in (("no formula", plain), ("a formula each", formulas)):
        begun = time.perf_counter()
        passed = sum(one.passed for one in judged(cases))
        rates.append(len(cases) / (time.perf_counter() - begun))
        print(f"speed, {name}: {rates[-1]:,.0f} answers a second ({passed:,} of {len(cases):,} pass)")
    return rates[0] >= 1_000 and rates[1] >= 100


def rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def judged(cases: list[dict[str, Any]]) -> list[Outcome]:
    """One batch, as training judges."""
    tasks = [question({"question": "?", "answer": case["answer"]}) for case in cases]
    return SandboxJudge(None, Terms(Binary()))(tasks, [case["completion"] for case in cases])


def counted(name: str, cases: list[dict[str, Any]], passed: list[bool], aloud: bool) -> Counter[tuple[bool, bool]]:
    """How many by (is right, passes)."""
    for case, passes in zip(cases, passed, strict=True):
        if aloud and passes != case["right"]:
            what = "passes" if passes else "is refused"
            print(f"  {name}: {what}: {case['answer'][:60]!r} {case['completion'][-100:]!r}")
    return Counter((case["right"], passes) for case, passes in zip(cases, passed, strict=True))


def said(counts: Counter[tuple[bool, bool]]) -> str:
    right, others = counts[True, True] + counts[True, False], counts[False, True] + counts[False, False]
    return f"{counts[True, True]} of {right} right accepted, {counts[False, False]} of {others} wrong refused"
