"""Which tasks an evaluation takes, and that a run is not evaluated on what it was trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kolmocli.config.file import dump_config, load_config
from kolmocli.errors import UsageError
from kolmocli.evaluation.selection import Wanted, select
from kolmocli.paths import find_curriculum
from kolmocli.tasks.answers.task import AnswerTask
from kolmocli.tasks.sources import trained_file


def write(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def ramp(start: int, count: int) -> dict[str, Any]:
    """A sequence with a program; ramps below 16 of one length have one skeleton."""
    return {"sequence": list(range(start, start + count)), "program": f"range_func_up({start}, {start + count - 1})"}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder as far as a selection reads it: trained on 40 plain sequences and some programs."""
    plain = [{"sequence": [7, i, i * i]} for i in range(40)]
    train = write(tmp_path / "train.jsonl", *plain, *(ramp(i, 5) for i in range(9)))
    folder = tmp_path / "run"
    folder.mkdir()
    config = load_config(find_curriculum("quickstart"), {"data.train": train, "data.eval": None})
    (folder / "config.yaml").write_text(dump_config(config))
    return folder


def chosen(run: Path, data: str, **options: Any) -> tuple[list[tuple[int, ...]], int | None, list[str]]:
    warnings: list[str] = []
    found = select(str(run), Wanted(data=data, tasks=1000, **options), warnings.append)
    return sorted(task.target for task in found.tasks), found.shared, warnings


def test_what_the_run_was_trained_on_is_left_out(run: Path, tmp_path: Path) -> None:
    """One shared sequence; in the run's file each sequence is either trained on or held out, and both cases occur."""
    trained = {r.sequence for r in trained_file(load_config(run / "config.yaml").data).records}
    seen = next(s for s in sorted(trained) if s[0] == 7)
    data = write(tmp_path / "f.jsonl", {"sequence": list(seen)}, {"sequence": [1, 2, 4, 8]})
    targets, shared, warnings = chosen(run, data)
    assert (targets, shared) == ([(1, 2, 4, 8)], 1)
    assert warnings == [
        f"{data}: 1 records share a sequence or a program skeleton with what {run} was trained on and are left out"
    ]
    with pytest.raises(UsageError, match=r"leave out --strict to evaluate on the other 1$"):
        chosen(run, data, strict=True)


def test_a_skeleton_is_enough(run: Path, tmp_path: Path) -> None:
    trained = trained_file(load_config(run / "config.yaml").data).records
    assert any(trained.has_program(i) for i in range(len(trained)))
    data = write(tmp_path / "f.jsonl", ramp(9, 5), {"sequence": [9, 9, 1], "program": "set_list([9, 9, 1])"})
    targets, shared, _ = chosen(run, data)
    assert (targets, shared) == ([(9, 9, 1)], 1)


def test_the_part_that_the_run_held_out_of_its_own_file_stays(run: Path) -> None:
    config = load_config(run / "config.yaml")
    trained = {r.sequence for r in trained_file(config.data).records}
    targets, shared, _ = chosen(run, str(config.data.train))
    assert targets and not trained & set(targets)
    assert shared == len(trained)


def test_nothing_but_what_was_trained_on(run: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "f.jsonl", ramp(9, 5))
    with pytest.raises(UsageError, match=r"was trained on, and there are no others$"):
        chosen(run, data)


def test_nothing_shared_is_nothing_said(run: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "f.jsonl", {"sequence": [1, 2, 4]})
    assert chosen(run, data, strict=True) == ([(1, 2, 4)], 0, [])


def test_a_checkpoint_of_the_run_counts_as_the_run(run: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "f.jsonl", ramp(9, 5), {"sequence": [1, 2, 4]})
    step = run / "checkpoints" / "step_000001"
    step.mkdir(parents=True)
    assert chosen(step, data)[1] == 1


def test_a_training_file_that_is_gone_cannot_be_checked(run: Path, tmp_path: Path) -> None:
    data = write(tmp_path / "f.jsonl", {"sequence": [1, 2, 4]})
    (tmp_path / "train.jsonl").unlink()
    targets, shared, warnings = chosen(run, data)
    assert (targets, shared) == ([(1, 2, 4)], None)
    assert "train.jsonl, which is not there: what" in warnings[0] and warnings[0].endswith("is not checked")
    with pytest.raises(UsageError, match="cannot be checked; put it back"):
        chosen(run, data, strict=True)


def test_a_bad_line_is_fatal_with_strict(tmp_path: Path) -> None:
    data = write(tmp_path / "f.jsonl", {"sequence": [1, 2]}, {"sequence": []})
    warnings: list[str] = []
    assert len(select("tiny", Wanted(data=data), warnings.append).tasks) == 1
    assert "f.jsonl:2: skipped" in warnings[0]
    with pytest.raises(UsageError, match=r"f\.jsonl:2: "):
        select("tiny", Wanted(data=data, strict=True), warnings.append)


def test_an_endpoint_needs_tasks() -> None:
    with pytest.raises(UsageError, match="an endpoint is not a run: name its tasks"):
        select(None, Wanted(), print)


def test_a_run_that_is_not_there_is_called_that(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nosuch: there is no such run, and no such folder; name one that is there"):
        select(str(tmp_path / "nosuch"), Wanted(), print)
    with pytest.raises(UsageError, match=r"tiny is not a run: name its tasks"):
        select("tiny", Wanted(), print)
    with pytest.raises(UsageError, match=rf"{tmp_path} is not a run: name its tasks"):
        select(str(tmp_path), Wanted(), print)


def test_a_curriculum_with_a_file_gives_its_settings_to_the_files_tasks(tmp_path: Path) -> None:
    """What a run with this curriculum would be paid for is what is measured: form, judge, columns and length of an answer."""
    data = write(tmp_path / "q.jsonl", {"frage": "What is 1 + 1?", "antwort": "2"})
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "data: {train: absent.jsonl, columns: 'prompt=frage,answer=antwort'}\nreward: {form: any}\n"
        "answers: {judge: text}\ntraining: {max_new_tokens: 33}\nwarmup: {max_steps: 0}\n"
    )
    found = select("tiny", Wanted(str(mine), data), print)
    (task,) = found.tasks
    assert isinstance(task, AnswerTask)
    assert (task.reference, task.judge) == ("[ANSWER] 2", "text")
    assert (found.config.reward.form, found.config.training.max_new_tokens) == ("any", 33)
    assert select("tiny", Wanted(data=data, columns="prompt=frage,answer=antwort"), print).config.reward.form == "asked"


@pytest.mark.parametrize(("asked", "got"), [(None, 40), (7, 7)])
def test_how_long_an_answer_may_be(run: Path, tmp_path: Path, asked: int | None, got: int) -> None:
    """As in training, which may have been of shorter answers than this file's, unless it is said."""
    config = load_config(run / "config.yaml", {"training.max_new_tokens": 40})
    (run / "config.yaml").write_text(dump_config(config))
    data = write(tmp_path / "f.jsonl", {"sequence": [1, 2, 4, 8]})
    assert select(str(run), Wanted(data=data, max_tokens=asked), print).config.training.max_new_tokens == got
    questions = write(tmp_path / "q.jsonl", {"question": "What is 1 + 1?", "answer": "2"})
    assert select("tiny", Wanted(data=questions, max_tokens=asked), print).config.training.max_new_tokens == (
        asked or 512
    )
