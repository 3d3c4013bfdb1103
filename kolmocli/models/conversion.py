"""From a GGUF file to a folder in Hugging Face format: weights as safetensors, tokenizer, chat template.

transformers reads the file and unpacks weights that are in blocks of 4 to 8 bits. The result holds the same numbers in bf16, or in the precision of a file that has no blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kolmocli.console import unlogged
from kolmocli.errors import KolmoError, UsageError, remedy_of
from kolmocli.extras import require
from kolmocli.models.folders import PLAIN_PROMPTS
from kolmocli.models.header import Header, read_header
from kolmocli.models.libraries import bars_on_terminals, refused

_PLAIN = {"F32": "float32", "F16": "float16"}
"""GGUF's types that are no blocks, but for bf16, which blocks become as well."""


def require_reader() -> None:
    """Raise EnvironmentMissing where what reads GGUF files is not installed."""
    require("a GGUF file", "torch", "transformers", "gguf", "accelerate")


def convert(file: Path, folder: Path, note: Callable[[str], None]) -> tuple[str, str | None]:
    """Write the model of this file into the folder. Returns what its weights were, such as `Q4_1`, and its licence.

    Raises:
        UsageError: the file is cut, is no GGUF file, or holds a model that transformers cannot read.
        KolmoError: the folder cannot be written.
    """
    kind, header = _examine(file)
    note(f"{file.name}: {kind}; converting to safetensors")
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    dtype = getattr(torch, _PLAIN.get(kind, "bfloat16"))
    with bars_on_terminals(), refused(f"{file}: transformers cannot read this model", "get another file of it"):
        tokenizer: Any = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        read: Any = AutoModelForCausalLM.from_pretrained(
            file.parent, gguf_file=file.name, dtype=dtype, **_unpacked(), output_loading_info=True
        )
    loaded, found = read
    if found["missing_keys"]:
        raise UsageError(
            f"{file}: {len(found['missing_keys'])} of the weights of a {loaded.config.model_type} are not in it, such as "
            f"{min(found['missing_keys'])}; get the file again, or one for this architecture"
        )
    if not tokenizer.chat_template:
        note(f"{file.name}: {PLAIN_PROMPTS}")
    if header.fields.get("tokenizer.ggml.pre") == "smollm":
        _split_digits(tokenizer)
    model = _plain(loaded)
    tokenizer.name_or_path = model.config._name_or_path = ""
    try:
        with bars_on_terminals(), unlogged("transformers"):
            model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    except SafetensorError as error:
        raise KolmoError(f"{folder.parent}: cannot be written: {error}; {remedy_of(error)}") from None
    return kind, header.licence


def _examine(file: Path) -> tuple[str, Header]:
    """The type of most numbers in the file, and its header; a fault is found before anything is unpacked.

    Raises:
        UsageError: it is cut, no GGUF file, or its tokenizer does not fit the model.
    """
    from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

    header = read_header(file)
    kinds = {kind.value: kind for kind in GGMLQuantizationType}
    for entry in header.tensors:
        if entry.kind not in kinds:
            raise UsageError(f"{file}: {entry.name} is stored in the type {entry.kind}, which gguf does not know")
        in_block, size = GGML_QUANT_SIZES[kinds[entry.kind]]
        end = header.data + entry.offset + math.prod(entry.shape) // in_block * size
        if end > file.stat().st_size:
            raise UsageError(f"{file}: cut ({entry.name} ends at byte {end:,}); get the file again")
    if not header.words:
        raise UsageError(f"{file}: a model without a tokenizer; get a file that has one")
    if "tokenizer.ggml.eos_token_id" not in header.fields:
        raise UsageError(f"{file}: its tokenizer has no end token, so no answer would end; get a file that has one")
    if header.rows is not None and header.words > header.rows:
        raise UsageError(
            f"{file}: its tokenizer has {header.words:,} tokens and the model embeddings for {header.rows:,}; "
            "get a file whose parts belong together"
        )
    return kinds[header.commonest].name, header


def _unpacked() -> dict[str, Any]:
    """Ask for weights without blocks; older transformers know no other way."""
    import transformers

    settings = getattr(transformers, "GgufConfig", None)
    return {} if settings is None else {"quantization_config": settings(dequantize=True)}


def _plain(loaded: Any) -> Any:
    """The same weights in a model that does not remember its blocks, which transformers refuse to save."""
    import torch

    config = loaded.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    with torch.device("meta"):
        model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict(), assign=True)
    model.tie_weights()
    model.generation_config = loaded.generation_config
    return model


def _split_digits(tokenizer: Any) -> None:
    """As SmolLM's own tokenizer does before it splits words. transformers has no rule of that name and splits words alone,
    which differs where several blanks stand before a digit."""
    from tokenizers import pre_tokenizers

    backend = tokenizer.backend_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
