"""Runs on digit tasks, from nothing: whole, without a sandbox, and good at the easiest levels after minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kolmocli.cli.eval_table import render
from kolmocli.config import Config
from kolmocli.config.file import load_config
from kolmocli.errors import UsageError
from kolmocli.evaluation.command import evaluate
from kolmocli.evaluation.selection import Wanted
from kolmocli.paths import find_curriculum
from kolmocli.policy.loading import load_policy
from kolmocli.training.plan import plan
from tests.training.runs import events, metrics, run

SMALL = {
    "families.sum_digits.levels": [{"integers": [1, 1]}, {}],
    "families.reverse_digits.levels": [{"digits": [2, 2]}, {}],
    "model.device": "cpu",
    "warmup.max_steps": 2,
    "warmup.check_every": 3,
    "warmup.batch_size": 4,
    "training.steps": 2,
    "training.batch_size": 4,
    "training.group_size": 2,
    "training.max_new_tokens": 12,
    "evaluation.tasks": 4,
    "report": False,
}


def digits(changes: dict[str, Any]) -> Config:
    return load_config(find_curriculum("digits"), changes)


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a sandbox was opened")

    monkeypatch.setattr("kolmocli.engine.judging.open_sandbox", refuse)


@pytest.mark.usefixtures("no_sandbox")
def test_a_run_needs_no_sandbox_and_reports_both_accuracies(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    summary = run(digits(SMALL), folder)
    assert summary["sandbox"] == {"backend": "none", "executed": 0, "infra": 0, "programs_per_second": None}
    for when in ("before", "after"):
        report = summary["eval"][when]
        low, high = report["intervals"]["accuracy_lenient"]
        assert 0 <= low <= report["accuracy_lenient"] <= high <= 1
        assert report["accuracy"] <= report["accuracy_lenient"]
        assert report["compression_rate"] is report["executable"] is None
    steps = [record for record in metrics(folder) if record["phase"] == "rl"]
    assert len(steps) == 2
    assert all(record["compression_rate"] is None for record in steps)
    assert sum(sum(record["verdicts"].values()) for record in steps) == summary["rollouts"]
    assert "in any form" in events(folder, "eval")[0]["text"]
    with pytest.raises(UsageError, match="--hold-out, --kt-compatible and --search are for sequences"):
        from kolmocli.evaluation.report import Reporting

        evaluate(
            str(folder),
            Wanted(),
            samples=1,
            seed=None,
            device="cpu",
            sandbox="auto",
            warn=print,
            reporting=Reporting(hold_out=2),
        )
    sequences = tmp_path / "some.jsonl"
    sequences.write_text('{"sequence": [1, 2]}\n')
    with pytest.raises(UsageError, match="a file holds sequences"):
        evaluate(
            str(folder), Wanted(data=str(sequences)), samples=1, seed=None, device="cpu", sandbox="auto", warn=print
        )
    again = evaluate(str(folder), Wanted(), samples=1, seed=None, device="cpu", sandbox="auto", warn=print)
    assert again["accuracy_lenient"] == summary["eval"]["after"]["accuracy_lenient"]
    assert again["language"] is again["rate_archive"] is None
    render(again)
    with pytest.raises(UsageError, match="answers questions and has no words for programs"):
        evaluate(
            str(folder),
            Wanted(curriculum="quickstart", tasks=4),
            samples=1,
            seed=None,
            device="cpu",
            sandbox="embedded",
            warn=print,
        )


@pytest.mark.slow
def test_one_seed_is_one_run_however_often_it_is_interrupted(tmp_path: Path) -> None:
    config = digits(SMALL)
    run(config, tmp_path / "whole")
    run(config, tmp_path / "parts", stop_at=1)
    run(config, tmp_path / "parts", resume=True)
    assert metrics(tmp_path / "whole") == metrics(tmp_path / "parts")


def test_one_preset_learns_questions_and_programs_and_is_resumed_exactly(tmp_path: Path) -> None:
    """From nothing, character by character, with one judge for both; a checkpoint in the middle changes nothing."""
    runs = {
        "sampler": {"modifiers": [0, 0], "reuse": 0, "initiators": {"repeat_num": 1}},
        "levels": [{"bases": [1, 1]}],
    }
    plain = digits(SMALL).model_dump(mode="json")
    sums = {"task": "sum_digits", "levels": [{"integers": [1, 1]}, {}]}
    changed = {"families": {"sums": sums, "runs": runs}, "reward": {}, "sandbox": {"backend": "embedded", "workers": 2}}
    config = Config.model_validate({**plain, **changed})
    summary = run(config, tmp_path / "whole")
    run(config, tmp_path / "parts", stop_at=1)
    resumed = run(config, tmp_path / "parts", resume=True)
    assert metrics(tmp_path / "whole") == metrics(tmp_path / "parts")
    assert resumed["eval"] == summary["eval"]
    steps = [record for record in metrics(tmp_path / "whole") if record["phase"] == "rl"]
    assert [set(record["buckets"]) for record in steps] == [{"sums", "runs"}] * 2
    assert summary["sandbox"]["backend"] == "embedded"
    report = summary["eval"]["after"]
    assert {name.split("/")[0] for name in report["buckets"]} == {"sums", "runs"}
    assert report["accuracy_lenient"] is not None
    assert report["raw_bits"] > 0
    words = load_policy(str(tmp_path / "whole"), device="cpu", alphabet="characters")
    assert words.alphabet == "characters"


def test_a_plan_counts_the_smaller_vocabulary_and_no_sandbox() -> None:
    planned = plan(digits(SMALL))
    assert planned["sandbox"] == "none"
    assert planned["model"]["parameters"] == 653_376
    named = plan(digits({**SMALL, "model.name": "somebody/some-model"}))
    assert named["model"]["parameters"] is None


@pytest.mark.slow
@pytest.mark.usefixtures("no_sandbox")
def test_the_easiest_levels_are_learnt_from_nothing(tmp_path: Path) -> None:
    """In three minutes on one core: most questions of the two easiest levels of both families, and half of the easiest."""
    changes = {
        "families.sum_digits.levels": [{"integers": [1, 1]}, {"integers": [2, 2], "digits": [2, 2]}],
        "families.reverse_digits.levels": [{"digits": [2, 3]}, {"digits": [4, 4]}],
        "model.device": "cpu",
        "warmup.until": 0.7,
        "training.steps": 15,
        "evaluation.tasks": 200,
        "report": False,
    }
    after = run(digits(changes), tmp_path / "run")["eval"]["after"]
    assert after["accuracy"] > 0.6
    assert min(after["buckets"][easiest]["accuracy"] for easiest in ("sum_digits/1", "reverse_digits/1")) > 0.5
    assert after["format_rate"] > 0.9
