"""A GGUF file becomes the model that transformers read in it, and one that is damaged becomes one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGMLQuantizationType
from transformers import AutoModelForCausalLM, AutoTokenizer

from kolmocli.errors import UsageError
from kolmocli.models.header import Header, read_header
from kolmocli.models.importing import import_model
from kolmocli.policy.loading import load_policy
from kolmocli.tasks.base import Prompt
from tests.models.conftest import left
from tests.models.samples import TOKENS, write_gguf

Kind = GGMLQuantizationType


def imported(file: Path, name: str = "mine") -> Path:
    return import_model(file, name, (), lambda _: None).folder


@torch.inference_mode()
def logits(model: Any) -> torch.Tensor:
    torch.nn.Module.float(model.eval())  # transformers refuse `model.float()` where blocks were unpacked
    return model(torch.tensor([[1, 40, 50, 60, 2, 70]])).logits


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (Kind.Q4_1, "bfloat16"),
        (Kind.Q8_0, "bfloat16"),
        (Kind.BF16, "bfloat16"),
        (Kind.F16, "float16"),
        (Kind.F32, "float32"),
    ],
)
def test_the_logits_are_those_of_transformers_own(kind: Kind, dtype: str, cache: Path, tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "a.gguf", kind=kind)
    folder = imported(file)
    ours = AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True)
    assert str(ours.dtype) == f"torch.{dtype}"
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=file.name, dtype=ours.dtype)
    exact = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=file.name, dtype=torch.float32)
    found = logits(ours)
    assert torch.equal(found, logits(theirs))
    assert found.std() > 0.1
    torch.testing.assert_close(found, logits(exact), rtol=0, atol=0.05)


def test_a_policy_reads_its_prompts_through_the_chat_template_of_the_file(cache: Path, small: Path) -> None:
    imported(small)
    policy = load_policy("mine")
    ids = policy.prompt_ids(Prompt("the sum"))
    assert policy.tokenizer.decode(ids) == "<|im_start|>user\nthe sum<|im_end|>\n<|im_start|>assistant\n"
    assert policy.stop_ids == (2,)


def test_digits_are_split_before_words_as_its_own_tokenizer_does(cache: Path, small: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(imported(small))
    assert tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("a  12") == [
        ("a", (0, 1)), ("ĠĠ", (1, 3)), ("1", (3, 4)), ("2", (4, 5)),
    ]  # fmt: skip
    assert tokenizer.tokenize("the the") == ["the", "Ġthe"]


def test_without_a_chat_template_prompts_are_plain_text(cache: Path, tmp_path: Path) -> None:
    said: list[str] = []
    import_model(write_gguf(tmp_path / "a.gguf", without=["template"]), "mine", (), said.append)
    assert said[-1] == "a.gguf: has no chat template, so prompts are plain text"
    policy = load_policy("mine")
    assert policy.tokenizer.decode(policy.prompt_ids(Prompt("the sum"))) == "the sum\n"


def cut(part: float) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        whole = write_gguf(folder / "a.gguf").read_bytes()
        (folder / "a.gguf").write_bytes(whole[: int(part * len(whole))])
        return folder / "a.gguf"

    return made


def other(**changes: Any) -> Callable[[Path], Path]:
    return lambda folder: write_gguf(folder / "a.gguf", **changes)


def filled(content: bytes) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        (folder / "a.gguf").write_bytes(content)
        return folder / "a.gguf"

    return made


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (cut(0.99), "cut (blk."),
        (cut(0.05), "cut or damaged ("),
        (cut(0.0), "not a GGUF file"),
        (filled(b"GGUF"), "cut or damaged ("),
        (filled(b"PK\x03\x04 a wheel"), "not a GGUF file"),
        (filled(b"GGUF" + b"\xff" * 200), "cut or damaged (version 4294967295; 2 and 3 are read)"),
        (filled(b"GGUF\x03" + b"\0" * 200), "cut or damaged (there are no tensors in it)"),
        (other(architecture="starfish"), "transformers cannot read this model (GGUF model with architecture starfish"),
        (other(without=["tokenizer"]), "a model without a tokenizer"),
        (other(without=["end"]), "its tokenizer has no end token, so no answer would end"),
        (other(rows=100), f"its tokenizer has {len(TOKENS)} tokens and the model embeddings for 100"),
        (other(missing=["blk.1.ffn_up.weight"]), "1 of the weights of a llama are not in it, such as model.layers.1.mlp.up"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_one_line_and_leaves_nothing(
    make: Callable[[Path], Path], said: str, cache: Path, tmp_path: Path
) -> None:
    file = make(tmp_path)
    with pytest.raises(UsageError) as refused:
        imported(file)
    assert str(refused.value).startswith(f"{file}: {said}")
    assert "\n" not in str(refused.value)
    assert left(cache) == set()


@pytest.mark.parametrize("found", ["abc", float("nan"), None])
def test_words_that_are_no_list_are_none(found: object) -> None:
    assert Header({"tokenizer.ggml.tokens": found}, (), 0).words == 0


def test_every_cut_of_a_header_is_noticed(tmp_path: Path, small: Path) -> None:
    whole, file = small.read_bytes(), tmp_path / "cut.gguf"
    end = read_header(small).data
    for length in range(4, end, 97):
        file.write_bytes(whole[:length])
        with pytest.raises(UsageError, match=r"cut or damaged|cut \("):
            imported(file)
