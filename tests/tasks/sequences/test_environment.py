"""Stepping line by line and judging the whole text at once are the same environment."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

import pytest

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import KolmoError, UsageError
from kolmocli.integrations.environment import make_env
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.interpreter import ExecutionError, execute
from kolmocli.language.program import parse
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.sandbox import open_sandbox
from kolmocli.sandbox.base import Job, Sandbox, Status, Verdict
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Binary, ConstantMinusLength, Relative, RewardRule
from kolmocli.tasks.sequences.environment import STOP, KolmogorovEnv
from kolmocli.tasks.sequences.judge import Draft
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

MAX_LINES = 6
BUCKET = Bucket("any", 1)
SHORT = SamplerConfig(bases=(1, 3), base_length=(2, 6))
RULE = Relative(0.25)


class Interpreted:
    """A sandbox as fast as a test of thousands of programs needs: the project's own interpreter."""

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        return [self._run(job.program) for job in jobs]

    def _run(self, text: str) -> Verdict:
        try:
            values, status = execute(parse(text)), Status.OK
        except ExecutionError as error:
            values, status = error.values, Status.RUNTIME
        return Verdict(status, tuple(tuple(value) for value in values))


class Broken:
    """A sandbox that has lost everything."""

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        return [Verdict(Status.INFRA) for _ in jobs]


class Remembering:
    """The verdicts of another sandbox, each program run once: stepping asks for every prefix again."""

    def __init__(self, inner: Sandbox) -> None:
        self.inner = inner
        self.known: dict[str, Verdict] = {}

    def run(self, jobs: Sequence[Job]) -> list[Verdict]:
        new = list({job.program: job for job in jobs if job.program not in self.known}.values())
        for job, verdict in zip(new, self.inner.run(new), strict=True):
            self.known[job.program] = verdict
        return [self.known[job.program] for job in jobs]

    def run_all_prefixes(self, texts: Sequence[str]) -> None:
        programs = [Draft.read(text, MAX_LINES).program for text in texts]
        self.run([Job(str(p.prefix(n)), "dsl") for p in programs for n in range(1, len(p) + 1)])


@pytest.fixture(scope="module")
def embedded() -> Iterator[Sandbox]:
    box = open_sandbox("embedded", workers=2)
    yield box
    box.close()


# --- programs, right and wrong


def wrong_constant(rng: random.Random, lines: list[str]) -> None:
    i = rng.randrange(len(lines))
    lines[i] = re.sub(r"\b\d+\)", f"{rng.randrange(12)})", lines[i])


def garbled(rng: random.Random, lines: list[str]) -> None:
    i, junk = rng.randrange(len(lines)), rng.choice(["(", "sequence_99", "= =", "é", "\t", "import os"])
    at = rng.randrange(len(lines[i]) + 1)
    lines[i] = lines[i][:at] + junk + lines[i][at:]


def runtime_error(rng: random.Random, lines: list[str]) -> None:
    lines.insert(rng.randrange(len(lines)) + 1, "sequence_1 = get_subsequence_with_jumps(sequence_1, 0)")


def dead_lines(rng: random.Random, lines: list[str]) -> None:
    lines += ["sequence_30 = set_list([])", "sequence_31 = reverse_list(sequence_30)"][: rng.randint(1, 2)]


CORRUPTIONS: list[Callable[[random.Random, list[str]], None]] = [
    lambda rng, lines: None,
    lambda rng, lines: lines.pop(rng.randrange(len(lines))) and None,
    lambda rng, lines: lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines)),
    lambda rng, lines: lines.insert(rng.randrange(len(lines) + 1), rng.choice(["", "  "])),
    lambda rng, lines: lines.extend(["output = sequence_1"] * MAX_LINES),
    lambda rng, lines: lines.append(""),
    garbled,
    wrong_constant,
    runtime_error,
    dead_lines,
]


def attempts(count: int) -> list[tuple[SequenceTask, str]]:
    """Tasks with a text each: their reference after no to two corruptions."""
    rng, made = random.Random(5), []
    while len(made) < count:
        pair = sample(rng, SHORT)
        task = sequence_task(BUCKET, len(made), pair.sequence, pair.program)
        for _ in range(8):
            lines = str(pair.program).split("\n")
            for corrupt in rng.sample(CORRUPTIONS, rng.randint(1, 2)):
                if lines:
                    corrupt(rng, lines)
            made.append((task, "\n".join(lines)))
    return made[:count]


def play(env: KolmogorovEnv, task: SequenceTask, text: str) -> tuple[Outcome, float | None, int]:
    """One episode: outcome, the sum of its rewards, its number of lines."""
    env.reset(options={"task": task})
    total, lines = 0.0, text.split("\n")
    for number, line in enumerate([*lines, STOP], start=1):
        _, reward, terminated, truncated, _ = env.step(line)
        total += reward
        if terminated or truncated:
            assert env.outcome is not None
            return env.outcome, None if truncated else total, min(number, len(lines))
    raise AssertionError("the episode has no end")


def assert_equal(cases: Sequence[tuple[SequenceTask, str]], sandbox: Sandbox) -> list[Outcome]:
    whole = judge([t for t, _ in cases], [text for _, text in cases], sandbox, Terms(RULE, MAX_LINES))
    env = KolmogorovEnv(sandbox, Terms(RULE, MAX_LINES))
    for (task, text), outcome in zip(cases, whole, strict=True):
        assert play(env, task, text) == (outcome, outcome.reward, outcome.end), text
    return whole


def test_stepping_is_judging_for_thousands_of_programs() -> None:
    whole = assert_equal(attempts(2_000), Interpreted())
    statuses = {status: sum(o.status is status for o in whole) for status in (Status.OK, Status.SYNTAX, Status.RUNTIME)}
    assert min(statuses.values()) > 100, statuses
    assert 300 < sum(o.passed for o in whole) < 1_700


def test_stepping_is_judging_in_the_embedded_sandbox(embedded: Sandbox) -> None:
    cases = attempts(80)
    box = Remembering(embedded)
    box.run_all_prefixes([text for _, text in cases])
    assert assert_equal(cases, box) == assert_equal(cases, Interpreted())


@pytest.mark.slow
def test_stepping_is_judging_in_the_embedded_sandbox_for_thousands_of_programs(embedded: Sandbox) -> None:
    cases = attempts(3_000)
    box = Remembering(embedded)
    box.run_all_prefixes([text for _, text in cases])
    assert assert_equal(cases, box) == assert_equal(cases, Interpreted())


# --- one outcome at a time

RAMP = sequence_task(BUCKET, 0, (1, 2, 3, 1, 2, 3))
GOOD = "sequence_1 = range_func_up(1, 3)\nsequence_2 = repeat_list(2, sequence_1)"


def judged(text: str, task: SequenceTask = RAMP, rule: RewardRule = RULE, max_lines: int = MAX_LINES) -> Outcome:
    return judge([task], [text], Interpreted(), Terms(rule, max_lines))[0]  # type: ignore[arg-type]


def test_the_episode_ends_at_the_first_line_whose_value_is_the_target() -> None:
    outcome = judged(GOOD + "\nsequence_3 = reverse_list(sequence_2)\nnot a line")
    assert (outcome.passed, outcome.end, outcome.text, outcome.status) == (True, 2, GOOD, Status.OK)
    assert outcome.bits == coded_bits(parse(GOOD))


def test_lines_after_the_last_that_is_allowed_do_not_count() -> None:
    assert not judged(GOOD, max_lines=1).passed
    assert judged(GOOD, max_lines=1).end == 1


def test_blank_lines_are_no_statements() -> None:
    outcome = judged("\n\n" + GOOD.replace("\n", "\n\n"), max_lines=2)
    assert (outcome.passed, outcome.end, outcome.text) == (True, 5, GOOD)


def test_a_line_that_fails_ends_the_episode_there() -> None:
    outcome = judged(
        "sequence_1 = range_func_up(1, 3)\nsequence_2 = get_subsequence_with_jumps(sequence_1, 0)\nnonsense"
    )
    assert (outcome.status, outcome.end, outcome.formatted, outcome.reward) == (Status.RUNTIME, 2, True, 0.0)
    assert len(outcome.text.split("\n")) == 2


def test_a_line_that_is_not_of_the_language_ends_the_episode_there() -> None:
    outcome = judged("sequence_1 = range_func_up(1, 3)\nimport os\n" + GOOD)
    assert (outcome.status, outcome.end, outcome.formatted, outcome.reward) == (Status.SYNTAX, 2, False, 0.0)


@pytest.mark.parametrize("text", ["", "\n", " \n "])
def test_an_empty_program_fails(text: str) -> None:
    assert judged(text, rule=Binary()).reward == -1.0
    env = KolmogorovEnv(Interpreted(), Terms(Binary(), MAX_LINES))  # type: ignore[arg-type]
    assert env.reset(options={"task": RAMP})[0] == f"# {RAMP.asked.shortest}"


def test_the_decision_to_stop_belongs_to_an_episode_that_did_not_pass() -> None:
    text = "sequence_1 = range_func_up(1, 3)\n"
    assert judged(text).end == 2  # the end mark stands on the line that it leaves empty
    env = KolmogorovEnv(Interpreted(), Terms(Binary(), MAX_LINES))
    assert play(env, RAMP, text)[1] == -1.0


def test_a_fault_of_the_sandbox_is_no_reward() -> None:
    (outcome,) = judge([RAMP], [GOOD], Broken(), Terms(RULE, MAX_LINES))  # type: ignore[arg-type]
    assert (outcome.reward, outcome.passed, outcome.status) == (None, False, Status.INFRA)
    env = KolmogorovEnv(Broken(), Terms(RULE, MAX_LINES))  # type: ignore[arg-type]
    env.reset(options={"task": RAMP})
    assert env.step("sequence_1 = range_func_up(1, 3)")[1:] == (0.0, False, True, {"fault": "INFRA"})


@pytest.mark.parametrize("text", ["sequence_1 = set_list([{}])", "a = set_list([{}])\nb = a\noutput = b"])
def test_a_literal_copy_earns_no_bonus(text: str) -> None:
    outcome = judged(text.format(", ".join(map(str, RAMP.target))))
    assert outcome.passed
    assert outcome.copied
    assert outcome.reward == 1.0
    assert not judged(GOOD).copied


def test_the_reward_is_that_of_the_rule_for_the_coded_bits() -> None:
    bits, literal = coded_bits(parse(GOOD)), literal_bits(RAMP.target)
    assert judged(GOOD).reward == RULE.success(bits, literal) > 1.0
    assert judged(GOOD, rule=ConstantMinusLength(100, 0.1)).reward == pytest.approx(100 - 0.1 * bits)
    assert judged(GOOD, rule=Binary()).reward == 1.0


def test_a_process_reward_pays_for_what_is_explained() -> None:
    rule = Relative(0.25, partial=0.4)
    half = "sequence_1 = range_func_up(1, 3)"
    assert judged(half, rule=rule).reward == pytest.approx(0.4 * 3 / 6)
    assert judged(half + "\nnonsense", rule=rule).reward == pytest.approx(0.4 * 3 / 6)
    assert judged("set_list([9])", rule=rule).reward == judged("nonsense", rule=rule).reward == 0.0
    assert judged(half, rule=Binary(partial=0.4)).reward == pytest.approx(-1 + 0.4 * 3 / 6)
    assert judged(GOOD, rule=rule).reward == judged(GOOD).reward
    env = KolmogorovEnv(Interpreted(), Terms(rule, MAX_LINES))
    assert play(env, RAMP, half + "\n")[1] == judged(half + "\n", rule=rule).reward


def test_the_values_of_an_episode_come_with_the_lines_where_they_were_made() -> None:
    outcome = judged("\n" + GOOD + "\nsequence_3 = reverse_list(sequence_2)")
    assert (outcome.trace, outcome.ends) == (((1, 2, 3), RAMP.target), (2, 3))
    failed = judged("a = range_func_up(1, 3)\nb = get_subsequence_with_jumps(a, 0)\nc = reverse_list(a)")
    assert (failed.trace, failed.ends) == (((1, 2, 3),), (1,))


# --- as Gymnasium knows it


def test_a_step_before_the_first_reset_or_after_the_end_is_an_error() -> None:
    env = KolmogorovEnv(Interpreted(), Terms(RULE, MAX_LINES))  # type: ignore[arg-type]
    with pytest.raises(KolmoError, match="reset the environment first"):
        env.step("sequence_1 = range_func_up(1, 3)")
    env.reset(options={"task": RAMP})
    assert env.step(STOP)[2]
    with pytest.raises(KolmoError, match="the episode is over"):
        env.step("sequence_1 = range_func_up(1, 3)")
    with pytest.raises(KolmoError, match="without a source of tasks"):
        env.reset(seed=1)


def test_gymnasium_takes_it_for_one_of_its_own() -> None:
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    env = make_env("quickstart", sandbox="embedded")
    try:
        checker.check_env(env, skip_render_check=True)
        first, again = env.reset(seed=7), env.reset(seed=7)
        assert first == again
        assert env.reset()[0] != env.reset()[0]
    finally:
        env.close()


def test_an_environment_needs_sequences() -> None:
    with pytest.raises(UsageError, match="none of its families has sequences"):
        make_env("digits")
