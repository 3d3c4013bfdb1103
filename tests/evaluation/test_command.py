"""Which tasks and which policy `kolmo eval` takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kolmocli.config.file import dump_config, load_config
from kolmocli.errors import UsageError
from kolmocli.evaluation import attempts
from kolmocli.evaluation.command import evaluate
from kolmocli.evaluation.selection import Wanted
from kolmocli.paths import find_curriculum
from kolmocli.policy.generated import Generated
from kolmocli.policy.generation import generate
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy

SHORT = {"training.max_new_tokens": 12, "evaluation.tasks": 3, "sandbox.workers": 1}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder as far as an evaluation reads it, its model the preset of that name."""
    (tmp_path / "config.yaml").write_text(dump_config(load_config(find_curriculum("quickstart"), SHORT)))
    return tmp_path


def report(target: str | Path = "tiny", **options: Any) -> dict[str, Any]:
    wanted = Wanted(
        **{name: options.pop(name) for name in ("curriculum", "data", "tasks", "strict") if name in options}
    )
    asked = {"samples": 1, "seed": None, **options}
    return evaluate(str(target), wanted, **asked, device="cpu", sandbox="embedded", warn=print)


def test_a_model_needs_tasks() -> None:
    with pytest.raises(UsageError, match=r"name its tasks with --curriculum or --data"):
        report()


def test_a_curriculum_says_how_many_tasks(run: Path) -> None:
    found = report(curriculum=str(run / "config.yaml"), tasks=1)
    buckets = len(load_config(run / "config.yaml").families["ramps"].levels)
    assert found["n"] >= buckets
    assert (found["model"], found["samples"]) == ("tiny", 1)
    assert "pass_at_k" not in found


def test_a_data_file_is_evaluated_on_as_it_is(run: Path) -> None:
    (run / "d.jsonl").write_text("".join(json.dumps({"sequence": [i, i], "bucket": "b"}) + "\n" for i in range(3)))
    found = report(data=str(run / "d.jsonl"), tasks=3)
    assert found["n"] == 3
    assert list(found["buckets"]) == ["b/1"]


def test_samples_are_drawn_at_the_temperature_that_is_asked_for(run: Path) -> None:
    """So cold that all of them are the greedy one; by default they are not."""
    (run / "d.jsonl").write_text('{"sequence": [1, 2, 3, 4]}\n')

    def drawn(**options: Any) -> tuple[float | None, int]:
        """What the report says, and how many different answers there were."""
        answers: set[tuple[int, ...]] = set()

        def noted(*arguments: Any, **how: Any) -> list[Generated]:
            found = generate(*arguments, **how)
            answers.update(tuple(one.tokens) for one in found)
            return found

        def loaded(*arguments: Any, **how: Any) -> Policy:
            return replace(load_policy(*arguments, **how), sampler=noted)

        with patch.object(attempts, "load_policy", loaded):
            found = report(data=str(run / "d.jsonl"), tasks=1, **options)
        return found["temperature"], len(answers)

    assert drawn() == (None, 1)
    assert drawn(samples=6, temperature=1e-4) == (1e-4, 1)
    assert drawn(samples=6) == (1.0, 6)


def test_several_samples_give_pass_rates_at_powers_of_two(run: Path) -> None:
    (run / "d.jsonl").write_text('{"sequence": [1, 2]}\n')
    found = report(data=str(run / "d.jsonl"), tasks=1, samples=6)
    assert sorted(found["pass_at_k"], key=int) == ["1", "2", "4", "6"]
    rates = [found["pass_at_k"][k] for k in ("1", "2", "4", "6")]
    assert rates == sorted(rates)
