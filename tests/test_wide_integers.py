"""Integers that are no bytes, large and negative, from the data file to the archive: nothing assumes 0 to 255."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from kolmocli.archive.format.views import BY_NAME
from kolmocli.archive.opener import decompress, members
from kolmocli.archive.options import Options
from kolmocli.archive.packer import compress_with_reports
from kolmocli.curriculum.base import Bucket
from kolmocli.engine.base import Group
from kolmocli.evaluation.baselines import measure
from kolmocli.evaluation.metrics import summarise
from kolmocli.language.coder import coded_bits, decode, encode, literal_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.language.raw import pack, raw_bits
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.tokenizer import UNKNOWN, build_tokenizer
from kolmocli.sandbox import Limits, open_sandbox
from kolmocli.sandbox.base import Status
from kolmocli.tasks.files.records import Records
from kolmocli.tasks.files.taskfile import read_tasks
from kolmocli.tasks.files.tasks import DatasetTasks
from kolmocli.tasks.judging import judge
from kolmocli.tasks.outcome import Outcome, Terms
from kolmocli.tasks.reward import Relative
from kolmocli.tasks.sequences.task import sequence_task
from kolmocli.training.methods.hindsight import relabel
from tests.policies import prompts, tiny

PROGRAMS = {
    "range_func_interval(-40, 1000, 260)": (-40, 220, 480, 740),
    "set_list([-1, 256, 70000, -99999999999999999])": (-1, 256, 70000, -(10**17) + 1),
    "x = set_list([999999999999999999])\nadd_two_lists(x, x)": (2 * 10**18 - 2,),
    "x = range_func_up(-3, 3)\nsubtract_item_list(x, 1000)": tuple(range(-1003, -996)),
    "x = range_func_up(250, 260)\nscan_add(x)": (250, 501, 753, 1006, 1260, 1515, 1771, 2028, 2286, 2545, 2805),
    "repeat_num(4, -7)": (-7,) * 4,
}
WIDE = st.lists(st.one_of(st.integers(-300, 300), st.integers(-(2**63) + 1, 2**63 - 1)), min_size=1, max_size=30)


@pytest.mark.parametrize(("text", "sequence"), PROGRAMS.items())
def test_interpreter_coder_and_tokenizer_agree_on_a_program(text: str, sequence: tuple[int, ...]) -> None:
    program = parse(text)
    assert tuple(evaluate(program)) == sequence
    assert decode(encode(program)) == program
    policy = tiny()
    answer = policy.answer(*prompts([sequence]), f"{program}\n")
    assert parse(policy.tokenizer.decode(answer.tokens, skip_special_tokens=True)) == program
    unknown = build_tokenizer().convert_tokens_to_ids(UNKNOWN)
    assert unknown not in (*answer.prompt, *answer.tokens)


def test_the_sandbox_the_reward_and_the_metrics_take_them() -> None:
    tasks = [
        sequence_task(Bucket("wide", 1), i, sequence, parse(text))
        for i, (text, sequence) in enumerate(PROGRAMS.items())
    ]
    box = open_sandbox("embedded", limits=Limits(), workers=1, warn=lambda text: None)
    try:
        outcomes = judge(tasks, list(PROGRAMS), box, Terms(Relative(0.25), 6))
        missed = judge(tasks[:1], ["set_list([-5, 300])"], box, Terms(Relative(0.25), 6))
    finally:
        box.close()
    assert all(o.passed and o.bits == coded_bits(parse(text)) for o, text in zip(outcomes, PROGRAMS, strict=True))
    assert outcomes[0].reward is not None
    assert outcomes[0].reward > 1 > 0 == missed[0].reward  # shorter than the literal
    assert missed[0].value == (-5, 300)
    report = summarise(list(zip(tasks, outcomes, strict=True)))
    assert report["accuracy"] == 1
    assert report["raw_bits"] == raw_bits(PROGRAMS.values())


def test_a_miss_is_relabelled_with_the_integers_that_it_makes() -> None:
    task, miss = sequence_task(Bucket("wide", 1), 0, (1, 2)), parse("set_list([-5, 300])")
    outcome = Outcome(str(miss), 1, False, Status.OK, 0.0, True, miss, value=(-5, 300))
    rollout = Rollout((0,), (0,), (0.0,), (0,), str(miss), True)
    found = relabel([Group(task, [rollout], [outcome])], DatasetTasks(Records(), "train", 0))
    assert [(t.target, t.program) for t in found] == [((-5, 300), miss)]


@given(WIDE)
def test_literals_and_baselines_take_any_integer(sequence: list[int]) -> None:
    assert literal_bits(sequence) > 0
    assert 8 * len(pack(sequence)) == raw_bits([sequence])
    assert measure([sequence])["xz"]["solid"] > 0


@given(WIDE, st.integers(-1000, 1000), st.integers(-(10**9), 10**9))
@settings(max_examples=30)
def test_archives_keep_lines_and_words(sequence: list[int], step: int, start: int) -> None:
    ramp = [start + step * i for i in range(40)]
    lines = "".join(f"{x}\n" for x in [*ramp, *sequence]).encode()
    words = b"".join(x.to_bytes(8, "little", signed=True) for x in [*sequence, *ramp])
    for data, view in ((lines, "lines"), (words, "i64le")):
        archive, _ = compress_with_reports(data, Options(level=1, view=view))
        assert decompress(archive) == data
    assert BY_NAME["lines"].items(lines)[0].tolist() == [*ramp, *sequence]


def test_a_ramp_through_zero_is_a_program_in_an_archive() -> None:
    data = "".join(f"{x}\n" for x in range(-9_000, 90_000, 31)).encode()
    archive, _ = compress_with_reports(data, Options())
    assert decompress(archive) == data
    assert len(archive) < 40
    assert len(members(archive, 1 << 30)) == 1


def test_a_data_file_takes_them(tmp_path: Path) -> None:
    lines = [{"sequence": list(sequence), "program": text} for text, sequence in PROGRAMS.items()]
    lines.append({"sequence": [-(10**30)]})
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    records = read_tasks(str(tmp_path / "d.jsonl"), print, strict=True).records
    assert [r.sequence for r in records] == [*PROGRAMS.values(), (-(10**30),)]
    assert [r.program for r in records] == [*map(parse, PROGRAMS), None]
