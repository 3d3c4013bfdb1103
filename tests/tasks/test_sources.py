"""What is evaluated on is never trained on: no sequence of it, and no program of one skeleton."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.errors import KolmoError, UsageError
from kolmocli.evaluation.heldout import held_out_tasks
from kolmocli.language.interpreter import execute
from kolmocli.language.program import Program, parse
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.language.skeleton import skeleton
from kolmocli.paths import find_curriculum
from kolmocli.tasks.base import TaskSource
from kolmocli.tasks.family import FamilyTasks
from kolmocli.tasks.files.records import Keys
from kolmocli.tasks.files.separation import Taken
from kolmocli.tasks.files.tasks import DatasetTasks
from kolmocli.tasks.mixed import MixedTasks
from kolmocli.tasks.sources import evaluation_source, training_source


def config(**data: object) -> Config:
    return load_config(find_curriculum("quickstart"), {f"data.{key}": value for key, value in data.items()})


def write(path: Path, sequences: list[list[int]]) -> str:
    return write_lines(path, [{"sequence": s} for s in sequences])


def write_lines(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def pairs(count: int, seed: int) -> list[dict[str, Any]]:
    """Small programs of few kinds, so that sequences and skeletons come again."""
    rng, knobs = random.Random(seed), SamplerConfig(bases=(1, 1), base_length=(3, 6), values=(0, 40), modifiers=(0, 0))
    drawn = [sample(rng, knobs) for _ in range(count)]
    return [{"sequence": list(p.sequence), "program": str(p.program)} for p in drawn]


def targets(source: TaskSource) -> set[Any]:
    assert isinstance(source, DatasetTasks)
    return {record.sequence for record in source.records}


def shapes(source: TaskSource) -> set[str]:
    assert isinstance(source, DatasetTasks)
    return {shape(r.program) for r in source.records if r.program is not None}


def shape(program: Program) -> str:
    return skeleton(program, execute(program))


def quiet(text: str) -> None:
    pass


def test_without_data_the_families_are_split() -> None:
    train, held_out = training_source(config(), quiet), evaluation_source(config(), quiet)
    assert isinstance(train, FamilyTasks)
    assert (train.split, held_out.split) == ("train", "eval")


def test_families_never_make_a_sequence_that_will_be_evaluated() -> None:
    """Four fifteens in a row are one run, or two runs of two: another skeleton, the same sequence."""
    held_out = held_out_tasks(evaluation_source(config(), quiet), 600)
    plain, apart = training_source(config(), quiet), training_source(config(), quiet, held_out)
    drawn = [{s.task(b, i).target for b in s.buckets() for i in range(300)} for s in (plain, apart)]
    evaluated = {task.target for task in held_out}
    assert drawn[0] & evaluated  # or this test would show nothing
    assert not drawn[1] & evaluated


def test_a_tenth_of_a_training_file_is_held_out_and_shared_with_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", [[i, i % 7] for i in range(400)] * 2)
    train, held_out = (
        targets(training_source(config(train=file), quiet)),
        targets(evaluation_source(config(train=file), quiet)),
    )
    assert not train & held_out
    assert len(train | held_out) == 400
    assert 20 <= len(held_out) <= 60


def test_of_a_file_with_programs_a_quarter_of_the_skeletons_is_held_out(tmp_path: Path) -> None:
    file, warnings = write_lines(tmp_path / "d.jsonl", pairs(1500, seed=1)), list[str]()
    train = training_source(config(train=file), warnings.append)
    held_out = evaluation_source(config(train=file), quiet)
    assert not targets(train) & targets(held_out)
    assert not shapes(train) & shapes(held_out)
    share = len(shapes(held_out)) / len(shapes(train) | shapes(held_out))
    assert 0.15 <= share <= 0.35
    assert isinstance(train, DatasetTasks)
    assert isinstance(held_out, DatasetTasks)
    left_out = 1500 - len(train.records) - len(held_out.records)
    assert [w for w in warnings if "share" in w] == (
        [f"{file}: {left_out} records share a sequence or a skeleton with evaluation and are left out"] * bool(left_out)
    )


def test_one_sequence_with_two_programs_is_not_on_both_sides(tmp_path: Path) -> None:
    lines = []
    for n in range(40):
        lines += [
            {"sequence": [n] * 4, "program": f"repeat_num(4, {n})"},
            {"sequence": [n] * 4, "program": f"set_list([{n}, {n}, {n}, {n}])"},
            {"sequence": [n] * 4},
        ]
    file = write_lines(tmp_path / "d.jsonl", lines)
    train, held_out = training_source(config(train=file), quiet), evaluation_source(config(train=file), quiet)
    assert targets(held_out)
    assert not targets(train) & targets(held_out)
    assert not shapes(train) & shapes(held_out)


def test_what_the_evaluation_file_has_is_taken_out_of_the_training_file_with_a_count(tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [[i] for i in range(20)])
    held_out = write(tmp_path / "e.jsonl", [[i] for i in range(15, 30)])
    chosen, warnings = config(train=train, eval=held_out), list[str]()
    assert targets(training_source(chosen, warnings.append)) == {(i,) for i in range(15)}
    assert warnings == [f"{train}: 5 records share a sequence or a skeleton with evaluation and are left out"]
    assert targets(evaluation_source(chosen, quiet)) == {(i,) for i in range(15, 30)}


def test_skeletons_of_the_evaluation_file_are_taken_out_too(tmp_path: Path) -> None:
    train = write_lines(tmp_path / "t.jsonl", pairs(600, seed=1))
    held_out = write_lines(tmp_path / "e.jsonl", pairs(60, seed=2))
    chosen = config(train=train, eval=held_out)
    kept = training_source(chosen, quiet)
    assert shapes(kept)
    assert not shapes(kept) & shapes(evaluation_source(chosen, quiet))
    assert not targets(kept) & targets(evaluation_source(chosen, quiet))


def test_families_never_make_what_an_evaluation_file_has(tmp_path: Path) -> None:
    plain = training_source(config(), quiet)
    taken = [plain.task(Bucket("runs", 1), i) for i in range(40)]
    held_out = write_lines(
        tmp_path / "e.jsonl", [{"sequence": list(t.target), "program": str(t.program)} for t in taken]
    )
    train = training_source(config(eval=held_out), quiet)
    made = [train.task(Bucket("runs", 1), i) for i in range(200)]
    assert not {t.target for t in taken} & {t.target for t in made}
    assert not {shape(t.program) for t in taken if t.program} & {shape(t.program) for t in made if t.program}
    assert taken[0].program is not None
    assert not train.admits(taken[0].program, (1, 2, 3))


def test_a_relabelled_program_may_not_be_one_of_evaluation(tmp_path: Path) -> None:
    train = write(tmp_path / "t.jsonl", [[5, 5, 5]])
    held_out = write_lines(tmp_path / "e.jsonl", [{"sequence": [1, 2, 3], "program": "range_func_up(1, 3)"}])
    source = training_source(config(train=train, eval=held_out), quiet)
    assert not source.admits(parse("set_list([1, 2, 3])"), (1, 2, 3))  # its sequence
    assert not source.admits(parse("range_func_up(2, 4)"), (2, 3, 4))  # its skeleton
    assert source.admits(parse("range_func_up(2, 5)"), (2, 3, 4, 5))


def test_families_beside_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [[i, 3 * i, 1] for i in range(300)])
    train, held_out = (f(config(train=file, families=True), quiet) for f in (training_source, evaluation_source))
    assert isinstance(train, MixedTasks)
    assert {b.family for b in train.buckets()} == {"ramps", "runs", "blends", "repeats", "compressibility"}
    assert {b.family for b in train.buckets() if train.taught(b)} == {"ramps", "runs", "blends", "repeats"}
    ours = [{s.task(b, i).target for b in s.buckets()[-4:] for i in range(300)} for s in (train, held_out)]
    assert not ours[0] & ours[1]
    runs = Bucket("runs", 1)
    assert train.task(runs, 3) == training_source(config(), quiet).task(runs, 3)
    assert (train.size(runs), train.size(Bucket("compressibility", 1)) is not None) == (None, True)


def test_evaluation_families_never_make_a_sequence_that_is_trained_on(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [[v] * n for v in range(50) for n in range(2, 7)])
    held_out = evaluation_source(config(train=file, families=True), quiet)
    trained = {tuple([v] * n) for v in range(50) for n in range(2, 7)}
    trained -= {held_out.task(b, i).target for b in held_out.buckets() if b.family == "length" for i in range(250)}
    assert not trained & {held_out.task(Bucket("runs", 1), i).target for i in range(5)}


def test_a_family_of_the_file_may_not_be_one_of_the_curriculum(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "t.jsonl", [{"sequence": [i], "bucket": "runs/1"} for i in range(100)])
    with pytest.raises(UsageError, match="buckets of the family 'runs'"):
        training_source(config(train=file, families=True), quiet)


def test_a_training_file_that_is_all_held_out_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "same.jsonl", [[1], [2]])
    with pytest.raises(UsageError, match=r"same\.jsonl: every task is held out"):
        training_source(config(train=file, eval=file), quiet)


def test_a_file_too_small_to_hold_anything_out_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "few.jsonl", [[1]])
    with pytest.raises(UsageError, match=r"few\.jsonl: .*(too few|held out)"):
        training_source(config(train=file), quiet)
        evaluation_source(config(train=file), quiet)


def test_strict_and_the_longest_sequence_are_asked_for_in_the_curriculum(tmp_path: Path) -> None:
    file = write(tmp_path / "d.jsonl", [[i] * (1 + i % 3) for i in range(60)])
    warnings: list[str] = []
    kept = training_source(config(train=file, max_items=2), warnings.append)
    assert {len(t) for t in targets(kept)} == {1, 2}
    assert "20 bad line(s)" in warnings[3]
    with pytest.raises(UsageError, match=r"d\.jsonl:3: 3 items; at most 2"):
        training_source(config(train=file, max_items=2, strict=True), quiet)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    for value in (7, 123):
        write(file, [[value, i] for i in range(100)])
        assert {t[0] for t in targets(training_source(config(train=str(file)), quiet))} == {value}


def test_a_file_that_is_not_there_is_named_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl: no such file; `kolmo data slice`"):
        training_source(config(train=f"{tmp_path}/none.jsonl"), quiet)
    with pytest.raises(KolmoError, match=r"a data set that can be read|a data set needs datasets"):
        training_source(config(train=str(tmp_path)), quiet)


def test_nothing_is_taken_when_evaluation_has_nothing() -> None:
    assert Taken().allows(parse("range_func_up(1, 3)"), (1, 2, 3))


def test_a_program_that_has_no_value_here_is_not_taught_where_skeletons_are_held_out() -> None:
    """A sandbox's integers have no bound and the interpreter's have: what its skeleton is cannot be said."""
    endless = parse("repeat_num(2000000, 1)")
    assert Taken().allows(endless, (1,))
    assert not Taken(skeletons=frozenset({1})).allows(endless, (1,))


def test_a_record_is_taken_by_its_sequence_or_by_its_skeleton() -> None:
    taken = Taken(sequences=frozenset({5}), skeletons=frozenset({6}))
    assert [taken.has(Keys(*keys)) for keys in ((5, 7), (8, 6), (8, 7), (5, None), (8, None))] == [
        True, True, False, True, False,
    ]  # fmt: skip
