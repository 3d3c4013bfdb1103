"""Products in bf16: who chooses them, and that what is learnt is what fp32 learns, nearly."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from kolmocli.errors import UsageError
from kolmocli.learning.learner import Learner
from kolmocli.policy import precision, saved
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.loading import load_policy
from kolmocli.policy.precision import choose_precision, measured_gain
from kolmocli.policy.sizes import size_of_folder
from kolmocli.processor import Precision, multiplies_bf16
from kolmocli.training.folder import refuse_changed
from kolmocli.training.precision import keep_precision, with_precision
from tests.learning.test_objective import batch
from tests.training.runs import small_config

CONFIG = small_config()
X86 = "processor : 0\nmodel name : a processor\nflags : fpu avx2 avx512f {}\n\nprocessor : 1\n"
ARM = "processor : 0\nFeatures : fp asimd {}\n"


@pytest.mark.parametrize("text", [X86.format("avx512_bf16"), X86.format("amx_bf16 amx_tile"), ARM.format("bf16")])
def test_a_processor_says_that_it_multiplies_bf16(text: str, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    assert multiplies_bf16(tmp_path / "cpuinfo")


@pytest.mark.parametrize("text", [X86.format(""), ARM.format("i8mm"), "", "nothing that is known"])
def test_a_processor_that_does_not_say_so_does_not(text: str, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(text)
    assert not multiplies_bf16(tmp_path / "cpuinfo")
    assert not multiplies_bf16(tmp_path / "nowhere")


@pytest.mark.parametrize(("gain", "chosen"), [(3.0, "bf16"), (1.1, "fp32"), (0.2, "fp32")])
def test_what_is_measured_decides(gain: float, chosen: Precision, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "multiplies_bf16", lambda: True)
    monkeypatch.setattr(precision, "measured_gain", lambda model: gain)
    notes: list[str] = []
    assert choose_precision(load_policy("tiny").model, "auto", notes.append) == chosen
    assert notes == [f"products in {chosen}: this processor multiplies bf16 {gain:.1f} times as fast as fp32"]
    assert choose_precision(load_policy("tiny").model, "fp32", notes.append) == "fp32"
    assert choose_precision(load_policy("tiny").model, "bf16", notes.append) == "bf16"


def test_a_processor_without_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "multiplies_bf16", lambda: False)
    monkeypatch.setattr(precision, "measured_gain", lambda model: pytest.fail("measured"))
    assert choose_precision(load_policy("tiny").model) == "fp32"


def test_weights_in_eight_bits_are_multiplied_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "multiplies_bf16", lambda: True)
    layer = torch.nn.Parameter(torch.zeros(4, 4, dtype=torch.int8), requires_grad=False)
    model = SimpleNamespace(device=torch.device("cpu"), parameters=lambda: iter([layer]))
    assert choose_precision(model) == "fp32"
    assert measured_gain(model) == 1.0


def test_the_gain_is_that_of_the_commonest_products_by_their_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the four shapes the smallest is left out. Of each of the others the quickest round counts."""
    shapes = [(8, 8), (8, 8), (16, 4), (4, 64), (2, 2)]
    parameters = [torch.nn.Parameter(torch.zeros(shape)) for shape in shapes]
    model = SimpleNamespace(parameters=lambda: iter([*parameters, torch.nn.Parameter(torch.zeros(999))]))
    rounds: dict[tuple[torch.dtype, torch.Size], int] = {}

    def timed(inputs: torch.Tensor, weight: torch.Tensor) -> float:
        key = weight.dtype, weight.shape
        rounds[key] = rounds.get(key, 0) + 1
        fp32 = {(8, 8): 3.0, (16, 4): 5.0, (4, 64): 10.0}[tuple(weight.shape)]
        return (fp32 if weight.dtype == torch.float32 else 2.0) + (rounds[key] != 3)

    monkeypatch.setattr(precision, "_timed", timed)
    assert measured_gain(model) == (2 * 3.0 + 5.0 + 10.0) / (4 * 2.0)
    assert set(rounds.values()) == {precision._ROUNDS}


@pytest.mark.parametrize("name", ["tiny", "tiny-llama"])
@pytest.mark.parametrize("recompute", [False, True], ids=["lean", "recomputed"])
def test_the_gradient_is_nearly_that_of_fp32(name: str, recompute: bool) -> None:
    """bf16 has 8 bits of mantissa: an error of a product is below 1/256, and those of a sum cancel."""
    found: dict[Precision, Any] = {}
    for kind in ("fp32", "bf16"):
        policy = load_policy(name, seed=3)
        written = batch(policy)
        policy.precision = kind
        learner = Learner(policy, learning_rate=0.0, max_grad_norm=1e9, entropy_bonus=0.01, recompute=recompute)
        report = learner.step(written)
        assert all(p.dtype == torch.float32 == p.grad.dtype for p in learner.parameters)
        found[kind] = report, torch.cat([p.grad.flatten() for p in learner.parameters])
    (plain, gradient), (rounded, other) = found["fp32"], found["bf16"]
    assert torch.cosine_similarity(gradient, other, 0) > 0.999
    assert rounded.grad_norm == pytest.approx(plain.grad_norm, rel=0.02)
    assert rounded.entropy == pytest.approx(plain.entropy, rel=0.01)
    assert rounded.work == plain.work
    assert not torch.equal(gradient, other)


# --- a run keeps its precision


def test_a_run_goes_on_in_the_precision_that_it_began_with() -> None:
    saved = with_precision(CONFIG, "bf16").model_dump(mode="json")
    assert keep_precision(CONFIG, saved).model.precision == "bf16"


def test_a_run_from_before_the_choice_learnt_in_fp32() -> None:
    saved = CONFIG.model_dump(mode="json")
    del saved["model"]["precision"]
    config = keep_precision(CONFIG, saved)
    assert config.model.precision == "fp32"
    refuse_changed(saved, config)


def test_precisions_are_not_mixed() -> None:
    saved = with_precision(CONFIG, "bf16").model_dump(mode="json")
    config = keep_precision(with_precision(CONFIG, "fp32"), saved)
    with pytest.raises(UsageError, match=r"model\.precision"):
        refuse_changed(saved, config)


@pytest.mark.parametrize(("stored", "multiplies", "kept"), [
    (torch.bfloat16, False, torch.float32),
    (torch.bfloat16, True, torch.bfloat16),
    (torch.float16, False, torch.float32),
    (torch.float16, True, torch.float32),
    (torch.float32, True, torch.float32),
])  # fmt: skip
@pytest.mark.parametrize("train", [None, Adaptation(rank=2)], ids=["asked", "beside adapters"])
def test_weights_that_are_read_are_kept_in_what_the_processor_multiplies(
    stored: torch.dtype, multiplies: bool, kept: torch.dtype, train: Adaptation | None,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(saved, "multiplies_bf16", lambda: multiplies)
    tiny = load_policy("tiny")
    tiny.model.to(stored)
    tiny.save(tmp_path)
    policy = load_policy(str(tmp_path), device="cpu", train=train)
    frozen = [p for name, p in policy.model.named_parameters() if "lora" not in name]
    assert {parameter.dtype for parameter in frozen} == {kept}
    for before, after in zip(tiny.model.parameters(), frozen, strict=True):
        assert torch.equal(before.float(), after.float())


def test_what_is_planned_counts_weights_as_they_are_kept(tmp_path: Path) -> None:
    tiny = load_policy("tiny")
    tiny.model.to(torch.bfloat16)
    tiny.save(tmp_path)
    size = size_of_folder(tmp_path)
    assert size.weight_bytes(in_8bit=False) == 2 * size.parameters
    assert size.weight_bytes(in_8bit=False, widened=True) == 4 * size.parameters
