"""A run whose numbers are not finite any more says so, and does not end as if it had learnt."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from kolmocli.errors import UsageError
from kolmocli.learning.learner import Learner
from kolmocli.policy.loading import load_policy
from kolmocli.training.divergence import MOST, Diverged
from tests.conftest import Run
from tests.policies import tiny
from tests.training.runs import CURRICULUM, events, metrics, run, small_config

SHORT = {"max_steps": 12, "check_every": 12}


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], bool]], None]:
    """Gradients that overflow in the steps that it is told."""

    def spoil(when: Callable[[int], bool]) -> None:
        real, count = Learner._backward, [0]

        def backward(self: Learner, batch: Any, *others: Any) -> None:
            count[0] += 1
            real(self, batch, *others)
            if when(count[0]):
                grad = next(p.grad for p in self.parameters if p.grad is not None)
                grad.view(-1)[0] = math.inf

        monkeypatch.setattr(Learner, "_backward", backward)

    return spoil


def test_a_step_that_overflows_is_counted_and_said_once(tmp_path: Path, spoil: Any) -> None:
    spoil(lambda step: step in (3, 5, 6))
    summary = run(small_config(warmup=SHORT, training={"steps": 2}), tmp_path / "run")
    assert [r["step"] for r in metrics(tmp_path / "run") if r.get("skipped")] == [3, 5, 6]
    assert [r["skipped"] for r in metrics(tmp_path / "run") if "skipped" in r] == [1, 1, 1]
    (told,) = events(tmp_path / "run", "learner")
    assert told["text"].startswith("the gradient is not finite: the update of step 3 was skipped")
    assert summary["steps"] == 2


@pytest.mark.parametrize("after", [0, 14])
def test_ten_in_a_row_save_and_end_the_run(after: int, tmp_path: Path, spoil: Any) -> None:
    """In the warm start, and in REINFORCE after it."""
    spoil(lambda step: step > after)
    with pytest.raises(
        Diverged, match=r"^no finite update in 10 steps in a row; saved .*step_0.*; lower training.lear"
    ):
        run(small_config(warmup=SHORT, training={"steps": 40}), tmp_path / "run")
    written = metrics(tmp_path / "run")
    assert [bool(r.get("skipped")) for r in written[-MOST:]] == [True] * MOST
    assert len(events(tmp_path / "run", "learner")) == 1
    assert "no finite update" in events(tmp_path / "run", "stopped")[0]["text"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text())
    (saved,) = sorted((tmp_path / "run" / "checkpoints").iterdir())[-1:]
    assert load_policy(str(saved))  # its weights are those of the last update that was made


def test_weights_that_turn_to_nan_are_noticed_by_what_is_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, count = Learner.step, [0]

    def step(self: Learner, *arguments: Any, **named: Any) -> Any:
        count[0] += 1
        report = real(self, *arguments, **named)
        if count[0] == 14:
            with torch.no_grad():
                for parameter in self.parameters:
                    parameter.fill_(math.nan)
        return report

    monkeypatch.setattr(Learner, "step", step)
    with pytest.raises(Diverged):
        run(small_config(warmup=SHORT, training={"steps": 40}), tmp_path / "run")
    (told,) = events(tmp_path / "run", "learner")
    assert "log-probabilities are not finite in step 3" in told["text"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("eight_bits", [False, True])
def test_weights_that_are_not_finite_are_refused(value: float, eight_bits: bool, tmp_path: Path) -> None:
    from kolmocli.policy.adapters import Adaptation

    policy = tiny(0)
    policy.model.save_pretrained(tmp_path)
    policy.tokenizer.save_pretrained(tmp_path)
    load_policy(str(tmp_path))
    weights = load_file(tmp_path / "model.safetensors")
    weights["model.layers.1.feed_forward.w3.weight"][3, 2] = value
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    train = Adaptation(4, load_in_8bit=True) if eight_bits else None
    with pytest.raises(
        UsageError, match=r"its weights are not finite, .*layers.1.feed_forward.w3.* for one; copy or save"
    ):
        load_policy(str(tmp_path), train=train)


def test_a_temperature_that_overflows_is_refused(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CURRICULUM)
    for temperature, words in (("1e-300", "must be >= 0.01"), ("1e300", "must be <= 100")):
        done = kolmo("train", "c.yaml", "--set", f"training.temperature={temperature}", "--json")
        assert done.returncode == 2
        assert words in done.stderr and done.stderr.count("\n") == 1
