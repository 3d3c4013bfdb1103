"""Small models as GGUF files and as packages, made here: random weights and a tokenizer of bytes and a few words."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize
from transformers.convert_slow_tokenizer import bytes_to_unicode

from kolmocli.models.known import Known, Wheel

LAYERS, HIDDEN, FEED_FORWARD, HEADS, KEY_HEADS = 2, 64, 128, 4, 2
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MERGES = ("t h", "th e", "Ġ the")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TOKENS = (*SPECIAL, *bytes_to_unicode().values(), *(merge.replace(" ", "") for merge in MERGES))


def write_gguf(
    file: Path,
    *,
    kind: GGMLQuantizationType = GGMLQuantizationType.Q4_1,
    architecture: str = "llama",
    without: Collection[str] = (),
    rows: int = len(TOKENS),
    missing: Collection[str] = (),
) -> Path:
    """A Llama of two layers with tied embeddings. `without` names parts of the tokenizer that are left out: `end`,
    `template`, `tokenizer`; `missing` names tensors, and `rows` counts those of the embeddings."""
    writer = GGUFWriter(file, architecture)
    writer.add_name("a small model")
    writer.add_license("mit")
    writer.add_block_count(LAYERS)
    writer.add_context_length(256)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(10_000.0)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(rows)
    if "tokenizer" not in without:
        _add_tokenizer(writer, without)
    for name, weights in _weights(rows).items():
        if name in missing:
            continue
        stored = GGMLQuantizationType.F32 if weights.ndim == 1 else kind
        writer.add_tensor(name, quantize(weights, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _add_tokenizer(writer: GGUFWriter, without: Collection[str]) -> None:
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(list(TOKENS))
    writer.add_token_types([TokenType.CONTROL] * len(SPECIAL) + [TokenType.NORMAL] * (len(TOKENS) - len(SPECIAL)))
    writer.add_token_merges(list(MERGES))
    writer.add_bos_token_id(1)
    if "end" not in without:
        writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    if "template" not in without:
        writer.add_chat_template(TEMPLATE)


def _weights(rows: int) -> Mapping[str, Any]:
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return (rng.standard_normal(shape) * 0.1).astype(np.float32)

    found = {"token_embd.weight": draw(rows, HIDDEN), "output_norm.weight": 1 + draw(HIDDEN)}
    narrow = HIDDEN // HEADS * KEY_HEADS
    for i in range(LAYERS):
        shapes = {
            "attn_q": (HIDDEN, HIDDEN), "attn_k": (narrow, HIDDEN), "attn_v": (narrow, HIDDEN),
            "attn_output": (HIDDEN, HIDDEN), "ffn_gate": (FEED_FORWARD, HIDDEN), "ffn_up": (FEED_FORWARD, HIDDEN),
            "ffn_down": (HIDDEN, FEED_FORWARD),
        }  # fmt: skip
        found |= {f"blk.{i}.{name}.weight": draw(*shape) for name, shape in shapes.items()}
        found |= {f"blk.{i}.{name}.weight": 1 + draw(HIDDEN) for name in ("attn_norm", "ffn_norm")}
    return found


def write_wheel(folder: Path, content: bytes, *, licence: bool = True) -> Path:
    """The package `kolmo-small-model` 1.0 with this GGUF file in it. What it requires does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "kolmo_small_model-1.0-py3-none-any.whl"
    about = "kolmo_small_model-1.0.dist-info"
    requires = "Requires-Dist: kolmo-no-such-requirement\n"
    with zipfile.ZipFile(file, "w") as wheel:
        wheel.writestr("kolmo_small_model/small.gguf", content)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: kolmo-small-model\nVersion: 1.0\n{requires}")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        if licence:
            wheel.writestr(f"{about}/LICENSE", "Anybody may do anything.\n")
        wheel.writestr(f"{about}/RECORD", "")
    return file


def known(content: bytes, needs: int = 1_000_000) -> Known:
    """The model of that package, as the table of known models would have it."""
    digest = hashlib.sha256(content).hexdigest()
    wheel = Wheel("kolmo-small-model", "1.0", "kolmo_small_model/small.gguf", digest, "the 4-bit release, dequantised")
    return Known("pocket", wheel, "nobody/pocket", "MIT", needs)
