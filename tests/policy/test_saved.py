"""A saved model with something missing or damaged: one line that names the place and the mend."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kolmocli.errors import UsageError
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.building import build_preset, tokenizer_of
from kolmocli.policy.loading import load_policy
from kolmocli.policy.sizes import size_of_folder

WEIGHTS, CONFIG = "model.safetensors", "config.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "whole"
    build_preset("tiny", 0, "programs").save_pretrained(folder)
    tokenizer_of("programs").save_pretrained(folder)
    return folder


def removed(pattern: str) -> Callable[[Path], None]:
    return lambda folder: [file.unlink() for file in folder.glob(pattern)] and None


def rewritten(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def configured(**values: object) -> Callable[[Path], None]:
    return rewritten(CONFIG, lambda text: json.dumps({**json.loads(text), **values}).encode())


COPY = "copy or save the model again"


@pytest.mark.parametrize(
    ("harm", "said", "mend"),
    [
        (removed(WEIGHTS), ": a model without weights: no *.safetensors in it", COPY),
        (removed("tokenizer*"), ": a model without a tokenizer: none of tokenizer.json, ", COPY),
        (removed(CONFIG), ": a folder without a model: neither config.json nor a complete checkpoint", ""),
        (rewritten(CONFIG, lambda text: text[:40]), f"/{CONFIG}: not a JSON object", COPY),
        (rewritten(CONFIG, lambda text: b"[1]"), f"/{CONFIG}: not a JSON object", COPY),
        (rewritten(CONFIG, lambda text: b"\xff\xfe"), f"/{CONFIG}: not a JSON object", COPY),
        (configured(model_type="nosuch"), ": the model cannot be loaded (", COPY),
        (configured(hidden_size="big"), " cannot be loaded (Validation error for field 'hidden_size'", COPY),
        (rewritten(WEIGHTS, lambda data: data[:50_000]), f"/{WEIGHTS}: cut or damaged (", COPY),
        (rewritten(WEIGHTS, lambda data: data[:4]), f"/{WEIGHTS}: cut or damaged (", COPY),
        (rewritten(WEIGHTS, lambda data: b"version https://git-lfs.github.com/spec/v1\n"), f"/{WEIGHTS}: a pointer", "lfs"),
        (rewritten("tokenizer.json", lambda text: b"{}"), ": its tokenizer cannot be loaded (no 'added_tokens')", COPY),
        (
            configured(num_hidden_layers=9, layer_types=["full_attention"] * 9),
            " of the weights that its config.json asks for are missing",
            "one model",
        ),
        (configured(vocab_size=7), ": 1 of the weights that its config.json asks for are missing", "embed_tokens"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    whole: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    harm: Callable[[Path], None],
    said: str,
    mend: str,
) -> None:
    folder = tmp_path / "m"
    shutil.copytree(whole, folder)
    harm(folder)
    with pytest.raises(UsageError) as refusal:
        load_policy(str(folder), device="cpu")
    line = str(refusal.value)
    assert said in line
    assert line.startswith(str(folder))
    assert mend in line
    assert "\n" not in line
    assert capfd.readouterr() == ("", "")


def test_the_whole_model_loads(whole: Path) -> None:
    assert load_policy(str(whole), device="cpu").name == str(whole)


def test_a_cut_adapter_is_named(whole: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    folder = tmp_path / "adapter"
    load_policy(str(whole), device="cpu", train=Adaptation(rank=2)).save(folder)
    cut = folder / "adapter_model.safetensors"
    cut.write_bytes(cut.read_bytes()[:1000])
    with pytest.raises(UsageError, match=r"adapter_model\.safetensors: cut or damaged"):
        load_policy(str(folder), device="cpu")


def test_weights_that_lie_about_their_head_have_no_size(whole: Path, tmp_path: Path) -> None:
    """`kolmo train --dry-run` reads heads without the library, and must not ask for as much memory as one names."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (tmp_path / WEIGHTS).write_bytes(b"x" * 5000)
    with pytest.raises(UsageError, match=r"model\.safetensors is cut or damaged"):
        size_of_folder(tmp_path)
