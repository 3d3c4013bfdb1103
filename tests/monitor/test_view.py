"""The live view on a recorded console: it fits, its height never changes, and it says what matters."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from monitor_samples import FAMILIES, bucket, snapshot, step_record
from rich.cells import cell_len
from rich.console import Console

from kolmocli.monitor.records import EntropyTargetRecord, GeneratorRecord, ReinforceRecord, WarmRecord
from kolmocli.monitor.snapshot import Snapshot
from kolmocli.monitor.summary import SummarySandbox
from kolmocli.monitor.view import render
from kolmocli.pace import Reached


def draw(shown: Snapshot, width: int = 80, height: int = 23) -> list[str]:
    console = Console(width=width, height=height + 1, file=io.StringIO(), color_system=None)
    console.print(render(shown, width, height))
    return console.file.getvalue().split("\n")[:-1]  # type: ignore[attr-defined]


def row(lines: list[str], name: str) -> str:
    return next(line for line in lines if line[3:].startswith(name))


def test_eight_families_at_80_by_24() -> None:
    lines = draw(snapshot())
    assert len(lines) == 23
    assert max(map(cell_len, lines)) <= 80
    text = "\n".join(lines)
    for name in FAMILIES:
        assert row(lines, name)
    for said in (
        "quickstart-7",
        "rollout",
        "step 42/100",
        "0:31",
        "1:13 left",
        "bits/rollout ",
        "compression .45",
    ):
        assert said in text
    assert "sandbox embedded 5.4k run  412/s  0 faults  model tiny 0.8M  engine local" in text
    assert lines[5].split() == [
        "family",
        "level",
        "pass",
        "0",
        "▾",
        "1",
        "signal",
        "weight",
        "dead",
        "shortest",
    ]
    assert "sequence_2 = repeat_list(2, sequence_1)" in text
    assert "step 40: checkpoint step_000040" in text


def test_a_row_shows_level_rate_interval_and_target() -> None:
    metrics = step_record(42, buckets={"ramps": bucket(0.75, ci=[0.625, 0.875], signal=0.19, dead=0.25)})
    line = row(draw(snapshot(metrics=metrics)), "ramps")
    # 17 cells from 0 to 1: the target at cell 8, the interval over 10..14 with its dot at 12.
    assert "────────┼─━━●━━──" in line
    assert line.split()[:5] == ["•", "ramps", "━━━···", "4.3/8", ".75"]
    assert line.split()[-5:] == [".19", "12%", "25%", "31", "bits"]


@pytest.mark.parametrize(
    ("rate", "ci", "drawn"),
    [
        (0.0, [0.0, 0.2], "●━━━────┼────────"),
        (1.0, [0.8, 1.0], "────────┼────━━━●"),
        (0.5, [0.3, 0.7], "─────━━━●━━━─────"),
        (0.4, [0.2, 0.6], "───━━━●━╋━━──────"),
        (None, None, "────────┼────────"),
    ],
)
def test_the_dial(rate: float | None, ci: list[float] | None, drawn: str) -> None:
    metrics = step_record(1, buckets={"ramps": bucket(rate, ci=ci)})
    assert drawn in row(draw(snapshot(metrics=metrics)), "ramps")


def test_colours_say_on_target_too_easy_and_too_hard() -> None:
    console = Console(width=80, height=24, file=io.StringIO(), force_terminal=True, color_system="standard")
    rates = {"held": bucket(0.5), "easy": bucket(0.9), "hard": bucket(0.1)}
    console.print(render(snapshot(metrics=step_record(1, buckets=rates)), 80, 23))
    drawn = console.file.getvalue().split("\n")  # type: ignore[attr-defined]
    for code, name in (("32", "held"), ("36", "easy"), ("33", "hard")):
        line = next(text for text in drawn if name in text)
        assert f"\x1b[1;{code}m●" in line


@given(
    width=st.integers(40, 200),
    height=st.integers(12, 60),
    families=st.integers(0, 30),
    events=st.integers(0, 12),
    program=st.integers(0, 12),
)
@settings(max_examples=150, deadline=None)
def test_the_size_never_changes(width: int, height: int, families: int, events: int, program: int) -> None:
    names = tuple(f"family_{i}" for i in range(families))
    shown = snapshot(
        names,
        events=tuple(f"step {i}: " + "x" * 10 * i for i in range(events)),
        best=("1 2 3", "\n".join(f"sequence_{i}" for i in range(program))) if program else None,
    )
    lines = draw(shown, width, height)
    assert len(lines) == height
    assert max(map(cell_len, lines)) <= width


def test_families_that_do_not_fit_are_counted() -> None:
    names = tuple(f"family_{i}" for i in range(30))
    lines = draw(snapshot(names))
    shown = sum("family_" in line for line in lines)
    assert any(f"… {30 - shown} more" in line for line in lines)
    assert shown >= 6
    assert any("checkpoint step_000040" in line for line in lines)


def test_families_that_do_not_fit_under_the_line_of_generators_are_counted() -> None:
    shown = snapshot(tuple(f"family_{i}" for i in range(10)))
    assert isinstance(shown.metrics, ReinforceRecord)
    metrics = replace(shown.metrics, generators={"0": GeneratorRecord(tokens_per_second=100.0)})
    lines = draw(replace(shown, metrics=metrics), 80, 12)
    assert any(f"… {10 - sum('family_' in line for line in lines)} more" in line for line in lines)


def test_before_the_first_step_it_says_what_happens() -> None:
    lines = draw(
        snapshot(
            metrics=None, state="warm start", step=0, eta_seconds=None, best=None, events=(), sandbox=SummarySandbox()
        )
    )
    assert len(lines) == 23
    assert "no REINFORCE step yet: warm start" in "\n".join(lines)
    assert "None" not in "\n".join(lines) and "nan" not in "\n".join(lines)


def test_the_warm_start_shows_its_loss() -> None:
    record = WarmRecord(step=25, pass_rate=0.12, loss=2.5, entropy=1.1)
    text = "\n".join(draw(snapshot(metrics=record, state="warm start", step=25, steps=600, history=())))
    assert "pass rate .12" in text and "loss 2.50" in text and "step 25/600" in text
    assert "reward" not in text


def test_what_is_held_is_seen_with_what_holds_it() -> None:
    held = EntropyTargetRecord(of="entropy", measured=0.9, target=0.8, bonus=0.0312)
    assert "entropy 0.700 → 0.800 by bonus 0.0312" in "\n".join(
        draw(snapshot(metrics=step_record(9, entropy_target=held)))
    )
    held = EntropyTargetRecord(of="signal_share", measured=0.9, target=0.6, temperature=1.1)
    shown = "\n".join(draw(snapshot(metrics=step_record(9, entropy_target=held)), 120, 30))
    assert "entropy 0.700 S .90 → 0.600 by temperature 1.10" in shown


def test_faults_mastered_and_out_of_reach_are_seen() -> None:
    buckets = {
        "a": bucket(0.97, state="mastered"),
        "b": bucket(0.02, state="out of reach"),
        "c": bucket(state="shock"),
    }
    shown = snapshot(metrics=step_record(9, buckets=buckets), sandbox=SummarySandbox(backend="docker", infra=7))
    lines = draw(shown, 120, 30)
    assert "7 faults" in "\n".join(lines)
    for name, glyph, word in (("a", "▲", "mastered"), ("b", "▼", "out of reach"), ("c", "!", "shock")):
        line = row(lines, name)
        assert line[1] == glyph and word in line


def test_a_suspected_grader_is_seen() -> None:
    lines = draw(snapshot(metrics=step_record(9, buckets={"a": bucket(grader={"4": "broken"})})), 120, 30)
    line = row(lines, "a")
    assert line[1] == "?" and "grader of 4?" in line


def test_a_program_cannot_steer_the_terminal() -> None:
    hostile = ("1 2\x1b[2J", "x = 1 # \x1b]0;owned\x07\r\nsecond\x9b31m")
    text = "\n".join(draw(snapshot(best=hostile, name="a\x1b[31mb", events=("e\x1b[0m\nnew",))))
    assert not any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in text)
    assert "owned" in text and "second" in text


def test_markup_in_names_is_shown_as_it_is() -> None:
    assert "[red]x[/red]" in "\n".join(draw(snapshot(name="[red]x[/red]")))


def test_the_same_snapshot_gives_the_same_picture() -> None:
    assert draw(snapshot()) == draw(snapshot())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_what_takes_long_has_the_bar_for_itself(width: int) -> None:
    soon = draw(snapshot(state="evaluate", reached=Reached(1, 512, "rollouts", 1.0)), width)
    assert soon[1] == draw(snapshot(state="evaluate"), width)[1]
    lines = draw(snapshot(state="evaluate", reached=Reached(128, 512, "rollouts", 40.0)), width)
    assert len(lines) == 23
    assert max(map(cell_len, lines)) <= width
    assert lines[1].startswith(" evaluate 128/512 ")
    assert "━" in lines[1] and "─" in lines[1]
    assert ("3.2/s, 2:00 left" in lines[1]) is (width > 40)
    assert lines[0] == draw(snapshot(state="evaluate"), width)[0]
