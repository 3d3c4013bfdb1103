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
from kolmocli.policy.gains import keep_gain, kept_gain
from kolmocli.policy.loading import load_policy
from kolmocli.policy.precision import choose_precision, measured_gain
from kolmocli.policy.sizes import size_of_folder
from kolmocli.processor import Precision, multiplies_bf16, processor_name
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


def measures(patch: pytest.MonkeyPatch, gain: float) -> None:
    """A processor that multiplies bf16, and what the clock says of it."""
    patch.setattr(precision, "multiplies_bf16", lambda: True)
    patch.setattr(precision, "measured_gain", lambda model: gain)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("kolmocli.paths.cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "gains.json"


@pytest.mark.parametrize(("gain", "chosen"), [(3.0, "bf16"), (1.1, "fp32"), (0.2, "fp32")])
def test_what_is_measured_decides(gain: float, chosen: Precision, monkeypatch: pytest.MonkeyPatch) -> None:
    measures(monkeypatch, gain)
    notes: list[str] = []
    assert choose_precision(load_policy("tiny").model, "auto", notes.append) == chosen
    assert notes == [
        f"products in {chosen}: this processor multiplies bf16 {gain:.1f} times as fast as fp32; "
        f"--set model.precision={chosen} repeats it"
    ]
    assert choose_precision(load_policy("tiny").model, "fp32", notes.append) == "fp32"
    assert choose_precision(load_policy("tiny").model, "bf16", notes.append) == "bf16"


def test_what_was_measured_once_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Near the border a busy machine would say otherwise the second time."""
    notes: list[str] = []
    model = load_policy("tiny").model
    measures(monkeypatch, 1.3)
    assert choose_precision(model, "auto", notes.append) == "bf16"
    measures(monkeypatch, 1.2)
    assert choose_precision(model, "auto", notes.append) == "bf16"
    assert notes[1] == (
        "products in bf16: this processor multiplies bf16 1.3 times as fast as fp32, as was measured here before; "
        "--set model.precision=bf16 repeats it"
    )


@pytest.mark.parametrize("other", ["shapes", "processor", "threads", "torch"])
def test_it_is_measured_anew_for_whatever_it_depends_on(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measures(monkeypatch, 1.3)
    assert choose_precision(load_policy("tiny").model) == "bf16"
    measures(monkeypatch, 1.2)
    changed = {"processor": (precision, "processor_name", lambda: "another"),
               "threads": (torch, "get_num_threads", lambda: 96), "torch": (torch, "__version__", "9.9")}  # fmt: skip
    if other in changed:
        monkeypatch.setattr(*changed[other])
    assert choose_precision(load_policy("small" if other == "shapes" else "tiny").model) == "fp32"


def test_who_was_first_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs that are started together measure at the same time."""
    assert keep_gain("a", 1.3, pytest.fail) == 1.3
    assert keep_gain("a", 1.2, pytest.fail) == 1.3
    assert keep_gain("b", 2.0, pytest.fail) == 2.0
    assert (kept_gain("a"), kept_gain("b"), kept_gain("c")) == (1.3, 2.0, None)


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": "fast"}', '{"a": -1}', '{"a": null}', "\udcff"])
def test_a_damaged_file_holds_nothing(text: str, cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert kept_gain("a") is None
    assert keep_gain("a", 1.3, pytest.fail) == 1.3 == kept_gain("a")


def test_a_cache_that_cannot_be_written_is_one_line_and_the_run_goes_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.parent.write_text("a file")
    measures(monkeypatch, 3.0)
    notes: list[str] = []
    assert choose_precision(load_policy("tiny").model, "auto", notes.append) == "bf16"
    assert len(notes) == 2
    assert notes[0].startswith(f"{cache.parent}: cannot be written: ")
    assert notes[0].endswith("; it is measured again next time")


def test_a_processor_is_named_by_its_kind_alone(tmp_path: Path) -> None:
    """Not by its clock or the core that is asked first."""
    file = tmp_path / "cpuinfo"
    told = "processor : {}\nvendor_id : V\ncpu family : 6\nmodel : 85\nmodel name : A processor\nstepping : 7\ncpu MHz : {}\n\n"
    file.write_text(told.format(0, 2000.5) + told.format(1, 800.0))
    name = processor_name(file)
    assert name.endswith("A processor V 6 85 7")
    file.write_text(told.format(3, 3100.0))
    assert processor_name(file) == name
    file.write_text("processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n")
    assert processor_name(file).endswith("0x41 0xd0c")
    assert processor_name(tmp_path / "nowhere")


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
