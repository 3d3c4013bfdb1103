"""Tasks of all kinds in one batch: run, winners confirmed elsewhere, scored."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.program import parse
from kolmocli.sandbox import Sandbox, open_sandbox
from kolmocli.sandbox.base import Call, Job, Opaque, Raised, Status, Value, Verdict
from kolmocli.tasks.answers.digits import sum_digits
from kolmocli.tasks.base import Attempt, Task, text_bits
from kolmocli.tasks.code.checks import Check, Checks
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.judging import SandboxJudge, judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import sequence_task

TERMS = Terms(Relative(0.25))
SEVENS = sequence_task(Bucket("runs", 1), 4, (7, 7, 7))
IN_PYTHON = sequence_task(Bucket("runs", 1), 5, (7, 7, 7), language="python")
DIGITS = sum_digits([123, 45, 67])
ANY = Bucket("any", 1)


def task(check: Callable[[Value], bool], language: str = "python", index: int = 0) -> Task:
    return Task(prompt="?", check=check, language=language, bucket=ANY, index=index)  # type: ignore[arg-type]


def seven(value: Any) -> bool:
    return value in (7, (7,))


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox("embedded", workers=1) as sandbox:
        yield sandbox


class Scripted:
    """A sandbox that ends programs as it was told, by their first line, and notes what it was asked to run. Of several
    ends a program has one after the other."""

    def __init__(self, **ends: Status | Sequence[Status]) -> None:
        self.ends = {name: [end] if isinstance(end, Status) else list(end) for name, end in ends.items()}
        self.batches: list[list[Job]] = []

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        self.batches.append(list(jobs))
        return [self._run(job) for job in jobs]

    def _run(self, job: Job) -> Verdict:
        ends = self.ends.get(job.program.split("\n")[0], [Status.OK])
        status = ends.pop(0) if len(ends) > 1 else ends[0]
        return Verdict(status, ((7,),), container=f"container of {job.program}")


def judged(given: Task, text: str, sandbox: object) -> Outcome:
    return judge([given], [text], sandbox, TERMS)[0]  # type: ignore[arg-type]


# --- one batch


def test_kinds_of_all_languages_are_judged_in_one_batch(box: Sandbox) -> None:
    cases = [
        (SEVENS, "a = repeat_num(3, 7)", True, coded_bits(parse("repeat_num(3, 7)"))),
        (IN_PYTHON, "output = [7] * 3", True, text_bits("output = [7] * 3")),
        (IN_PYTHON, "output = repeat_num(3, 7)", False, None),  # not in scope
        (DIGITS, DIGITS.reference, True, None),
        (DIGITS, "[ANSWER] 27", False, None),
        (task(lambda value: sum(value) == 6), "output = [1, 2, 3]", True, 8 * 18),
        (task(lambda value: sum(value) == 7), "output = [1, 2, 3]", False, None),
        (task(lambda value: value == (5, 5), "dsl"), "repeat_num(2, 5)", True, 8 * 16),
        (task(lambda text: text.endswith("fish"), "text"), "a red fish", True, None),
        (SEVENS, "not a line", False, None),
    ]
    outcomes = judge([t for t, *_ in cases], [str(text) for _, text, *_ in cases], box, TERMS)
    assert [(o.passed, o.bits) for o in outcomes] == [(passed, bits) for *_, passed, bits in cases]
    assert [o.literal_bits for o in outcomes[:2]] == [literal_bits((7, 7, 7)), text_bits("7,7,7")]
    assert all(o.literal_bits is None for o in outcomes[3:9])
    assert outcomes[1].reward is not None and outcomes[1].reward < 1  # longer than the sequence itself
    assert all((o.reward or 0) >= 1 for o in outcomes if o.passed and o is not outcomes[1])
    assert all(o.reward == 0 for o in outcomes if not o.passed)


def test_an_outcome_is_at_the_place_of_its_text_and_each_task_needs_one(box: Sandbox) -> None:
    tasks = [task(lambda value, i=i: value == i) for i in range(6)]  # type: ignore[misc]
    texts = ["output = 0", "", "output = 2", "1 / 0", "output = 5", "output = 5"]
    outcomes = judge(tasks, texts, box, TERMS)
    assert [o.passed for o in outcomes] == [True, False, True, False, False, True]
    assert [o.text for o in outcomes] == texts
    with pytest.raises(ValueError, match="shorter"):
        judge(tasks, texts[:5], box, TERMS)
    assert judge([], [], box, TERMS) == []


@pytest.mark.parametrize("value", [Raised("ValueError"), Opaque("generator"), None])
def test_a_check_never_sees_what_is_no_value(value: object) -> None:
    seen: list[object] = []
    given = task(lambda value: not seen.append(value))  # type: ignore[func-returns-value]
    outcome = given.attempt("x", TERMS).outcome(Verdict(Status.OK, (value,)))
    assert isinstance(outcome, Outcome)
    assert (outcome.passed, outcome.value, seen) == (False, None, [])


FORGED = """\
from collections import _sys as sys
os = sys.modules["os"]
[os.write(3, rb'LINE' + b"\\n!OK\\n"), os._exit(0)]
"""


@pytest.mark.docker
@pytest.mark.parametrize(
    ("line", "passed"), [('{"e": "ValueError"}', False), ('{"o": "generator"}', False), ("null", False), ("[7]", True)]
)
def test_a_forged_line_is_no_value(line: str, passed: bool) -> None:
    """The check holds for every value, and the program writes the last line of its report itself."""
    with open_sandbox("docker", workers=1) as sandbox:
        outcome = judged(task(lambda value: True), FORGED.replace("LINE", line), sandbox)
    assert (outcome.status, outcome.passed) == (Status.OK, passed)


# --- a winner is run again


def test_winners_alone_run_once_more_in_another_container() -> None:
    box = Scripted(missed=Status.RUNTIME)
    tasks, texts = [task(seven), task(seven), DIGITS, SEVENS], ["passed", "missed", "[ANSWER] 28", "a = set_list([1])"]
    outcomes = judge(tasks, texts, box, TERMS)  # type: ignore[arg-type]
    assert [o.passed for o in outcomes] == [True, False, True, False]
    first, again = box.batches
    assert [(job.program, job.avoid) for job in first] == [
        ("passed", None), ("missed", None), ("sequence_1 = set_list([1])", None),
    ]  # fmt: skip
    assert [(job.program, job.avoid) for job in again] == [("passed", "container of passed")]
    assert again[0] == replace(first[0], avoid=again[0].avoid)


def test_what_passes_once_only_does_not_pass() -> None:
    outcome = judged(task(seven), "luck", Scripted(luck=[Status.OK, Status.RUNTIME]))
    assert (outcome.passed, outcome.status, outcome.reward, outcome.bits) == (False, Status.RUNTIME, 0.0, None)


def test_a_group_runs_the_same_program_once() -> None:
    box = Scripted()
    tasks = [task(seven, index=9)] * 3 + [task(lambda value: value == (8,), index=10), task(seven, "dsl")]
    outcomes = judge(tasks, ["x"] * 5, box, TERMS)  # type: ignore[arg-type]
    assert [o.passed for o in outcomes] == [True, True, True, False, True]
    assert [[(job.program, job.language) for job in batch] for batch in box.batches] == [
        [("x", "python"), ("x", "dsl")],
        [("x", "python"), ("x", "dsl")],
    ]
    assert outcomes[0] == outcomes[2]


def test_programs_of_one_task_are_one_group() -> None:
    """Of which no two run back to back in one container."""
    box = Scripted()
    judge([task(seven, index=3), task(seven, index=3), task(seven, index=4)], ["a", "b", "c"], box, TERMS)  # type: ignore[arg-type]
    groups = [job.group for job in box.batches[0]]
    assert groups[0] == groups[1] != groups[2]
    assert 0 not in groups


# --- faults


@pytest.mark.parametrize("status", [Status.INFRA, Status.CANCELLED])
@pytest.mark.parametrize("kind", [task(seven), IN_PYTHON, SEVENS], ids=["checked", "python", "dsl"])
def test_a_fault_is_masked_and_never_scored(kind: Task, status: Status) -> None:
    text = "a = repeat_num(3, 7)"
    outcome = judged(kind, text, Scripted(**{text: status, "sequence_1 = repeat_num(3, 7)": status}))
    assert (outcome.passed, outcome.status, outcome.reward, outcome.bits) == (False, status, None, None)


def test_a_fault_of_the_second_run_is_masked_too() -> None:
    outcome = judged(task(seven), "x", Scripted(x=[Status.OK, Status.INFRA]))
    assert (outcome.passed, outcome.status, outcome.reward) == (False, Status.INFRA, None)


# --- checks


def test_a_check_sees_the_plain_value(box: Sandbox) -> None:
    seen: list[object] = []

    def check(value: object) -> bool:
        seen.append(value)
        return True

    for text in ("[1, 2]", "output = (1, 2)", "range(1, 3)", "5", "'ab'", "b'ab'"):
        assert judged(task(check), text, box).passed
    assert seen[::2] == seen[1::2] == [[1, 2], (1, 2), range(1, 3), 5, "ab", b"ab"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("1 / 0", Status.RUNTIME),
        ("output = [7", Status.SYNTAX),
        ("[7]\nraise ValueError", Status.RUNTIME),
        ("None", Status.OK),
        ("x = len", Status.OK),
        ("", Status.OK),
    ],
)
def test_a_check_is_not_asked_where_there_is_no_value(box: Sandbox, text: str, status: Status) -> None:
    def refuse(value: object) -> bool:
        raise AssertionError(value)

    outcome = judged(task(refuse), text, box)
    assert (outcome.passed, outcome.status, outcome.reward, outcome.value) == (False, status, 0.0, None)
    assert outcome.formatted == (status is not Status.SYNTAX)


@pytest.mark.parametrize("language", ["python", "text"])
def test_a_check_that_raises_counts_as_failed(box: Sandbox, language: str) -> None:
    outcome = judged(task(lambda value: value[10] == 1, language), "7", box)
    assert (outcome.passed, outcome.status, outcome.reward) == (False, Status.OK, 0.0)
    assert outcome.value == (7 if language == "python" else None)


@pytest.mark.parametrize("verdict", [True, False, np.True_, np.False_])
def test_a_check_says_true_or_false(box: Sandbox, verdict: Any) -> None:
    assert judged(task(lambda value: verdict), "output = [7]", box).passed is bool(verdict)


async def later(value: object) -> bool:
    return False


NO_VERDICTS: dict[str, Callable[[Any], Any]] = {
    "NaN": lambda value: math.nan, "a word": lambda value: "no", "a list": lambda value: [False], "nothing": lambda value: None,
    "a number": lambda value: 1, "a long number": lambda value: 10**5000, "an array": lambda value: np.array([False]), "a coroutine": later,
    "itself": lambda value: value, "a function": lambda value: later,
}  # fmt: skip


@pytest.mark.parametrize("language", ["python", "text"])
@pytest.mark.parametrize("check", NO_VERDICTS.values(), ids=NO_VERDICTS)
def test_a_check_that_says_anything_else_ends_the_run(box: Sandbox, check: Callable[[Any], Any], language: str) -> None:
    """Most of these count as true: such a check would pass everything."""
    with pytest.raises(UsageError, match=r"^any/1: its check (returned .* and not True or False|is an async function)"):
        judged(task(check, language), "output = [7]", box)


def test_a_check_that_ends_python_is_a_line(box: Sandbox) -> None:
    with pytest.raises(UsageError, match=r"^any/1: its check ended Python \(exit 3\); let it return$"):
        judged(task(lambda value: sys.exit(3)), "output = [7]", box)


@dataclass(frozen=True)
class OwnJudge(Task):
    """A judge of somebody's own, which pays and passes what it is told."""

    verdict: Any = True
    pay: Any = 1.0

    def attempt(self, text: str, terms: Terms) -> Attempt:
        return OwnAttempt(self, text)


@dataclass(frozen=True)
class OwnAttempt:
    task: OwnJudge
    text: str

    job = None

    def outcome(self, verdict: Verdict | None) -> Outcome:
        return Outcome(self.text, 1, self.task.verdict, Status.OK, self.task.pay)


def test_a_judge_of_ones_own_says_true_or_false_and_pays_a_number() -> None:
    own = OwnJudge(prompt="?", bucket=ANY)
    assert judged(replace(own, verdict=np.True_), "7", None).passed is True
    for verdict in (math.nan, "no", None, 1):
        with pytest.raises(UsageError, match=r"^any/1: its check returned"):
            judged(replace(own, verdict=verdict), "7", None)
    assert judged(replace(own, pay=None), "7", None).reward is None
    for pay in (math.nan, math.inf, "1", [1.0]):
        with pytest.raises(UsageError, match=r"^any/1: its judge paid .*; a reward is a finite number"):
            judged(replace(own, pay=pay), "7", None)


def test_a_task_without_a_check_has_no_judge() -> None:
    with pytest.raises(UsageError, match="any/1: a task needs `check`, or a judge of its own"):
        judged(Task(prompt="?", bucket=ANY), "7", None)


# --- the same work is done once


def test_programs_of_a_group_are_run_once_and_for_each_of_their_calls() -> None:
    area, volume = (
        CodeTask(prompt="?", tests=Checks((Check(Call.of(name, 3), 7),)), index=i) for i, name in enumerate(("f", "g"))
    )
    box = Scripted()
    outcomes = judge([area, area, volume, task(seven)], ["same"] * 4, box, TERMS)  # type: ignore[arg-type]
    assert [(job.program, job.calls) for job in box.batches[0]] == [
        ("same", (Call.of("f", 3),)), ("same", (Call.of("g", 3),)), ("same", ()),
    ]  # fmt: skip
    assert [o.passed for o in outcomes] == [False, False, False, True]  # one result is (7,)


def test_what_was_not_run_is_not_confirmed() -> None:
    """A check of an answer in words is asked once, however dear it is."""
    seen: list[object] = []
    given = task(lambda text: not seen.append(text), "text")  # type: ignore[func-returns-value]
    assert judge([given], ["a red fish"], None, TERMS)[0].passed
    assert seen == ["a red fish"]


# --- the judge of a run


def test_answers_in_words_need_no_sandbox() -> None:
    told = task(lambda text: text == "yes", "text")
    mine = SandboxJudge(None, TERMS)
    outcomes = mine([told, told, DIGITS], ["yes", "no", "[ANSWER] 28"])
    assert [(o.passed, o.reward, o.status) for o in outcomes] == [
        (True, 1.0, Status.OK), (False, 0.0, Status.OK), (True, 1.0, Status.OK),
    ]  # fmt: skip
    assert outcomes[0].bits is outcomes[0].value is outcomes[0].literal_bits is None
    assert (mine.health().backend, mine.health().executed) == ("none", 0)
    mine.close()


def test_nothing_is_run_where_nothing_could_come_of_it() -> None:
    box = Scripted()
    texts = ["yes", "[ANSWER] 28", "", "nonsense"]
    outcomes = judge([task(bool, "text"), DIGITS, SEVENS, SEVENS], texts, box, TERMS)  # type: ignore[arg-type]
    assert [o.passed for o in outcomes] == [True, True, False, False]
    assert box.batches == []


def test_a_judge_counts_and_closes_its_sandbox() -> None:
    mine = SandboxJudge(open_sandbox("embedded", workers=1), TERMS)
    assert [o.passed for o in mine([task(seven)] * 2, ["output = 7", "output = 8"])] == [True, False]
    assert (mine.health().backend, mine.health().executed) == ("embedded", 3)  # the winner twice
    mine.close()
    mine.close()
