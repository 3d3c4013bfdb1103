"""A model as a folder in Hugging Face format. A file that is missing, damaged or does not fit is named before a library meets it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from kolmocli.errors import UsageError
from kolmocli.extras import require
from kolmocli.files import require_regular
from kolmocli.models.libraries import REASON, refused
from kolmocli.plain import parsed

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt", "spiece.model")
AGAIN = "copy or save the model again"
FILES = (
    "*.safetensors",
    "*.safetensors.index.json",
    "*.json",
    "*.model",
    "*.txt",
    "*.jinja",
    "LICEN[CS]E*",
    "NOTICE*",
    "README.md",
)
"""Files of a model. Weights in other formats and code stay behind: neither is ever loaded."""
PLAIN_PROMPTS = "has no chat template, so prompts are plain text"
_CACHES = ("past_key_values", "cache", "cache_params")
"""Names of a model's cache: transformers' before 5.24, from then on, and Mamba's."""
_APART = {"recurrent_gemma", "minimax", "xlstm"}
"""Kinds of models with a cache like no other's, of which rows cannot be chosen."""
_POINTER = b"version https://git-lfs"


def require_parts(folder: Path) -> None:
    """A model is weights and a tokenizer. Which of them is missing is not what a library says first.

    Raises:
        UsageError: one of them is not there, or the configuration or the weights are damaged.
    """
    for file in folder.iterdir():
        require_regular(file)
    if not any(folder.glob("*.safetensors")):
        others = any(folder.glob("*.bin"))
        remedy = "save it as safetensors, nothing else is loaded" if others else AGAIN
        raise UsageError(f"{folder}: a model without weights: no *.safetensors in it; {remedy}")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise UsageError(f"{folder}: a model without a tokenizer: none of {', '.join(TOKENIZERS)} in it; {AGAIN}")
    try:
        whole = isinstance(parsed((folder / "config.json").read_bytes()), dict)
    except (OSError, ValueError):
        whole = False
    if not whole:
        raise UsageError(f"{folder / 'config.json'}: not a JSON object; {AGAIN}")
    for index in sorted(folder.glob("*.index.json")):
        require_plain_names(index, str(index))
    require_whole(folder)


def require_plain_names(index: Path, called: str) -> None:
    """An index says which files hold the weights: it may name nothing but safetensors next to it.

    A library would follow it out of the folder, and to a pickle.

    Raises:
        UsageError: it names something else, or is no index.
    """
    try:
        named = parsed(index.read_bytes())["weight_map"].values()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{called}: not an index of weights; {AGAIN}") from None
    for name in named:
        if not (isinstance(name, str) and name.endswith(".safetensors") and Path(name).name == name):
            raise UsageError(
                f"{called}: names {repr(name)[:REASON]} as weights; only *.safetensors next to it are loaded"
            )


def require_libraries(*others: str) -> None:
    """Raise EnvironmentMissing where what builds a model, or one of `others`, is not installed."""
    require("a model", "torch", "transformers", "safetensors", *others)


def require_whole(folder: Path) -> None:
    """Look at the head of all weights in a folder, which says how long the rest of a file is.

    Raises:
        UsageError: they are cut or damaged, or elsewhere.
    """
    from safetensors import SafetensorError, safe_open

    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as stream:
            if stream.read(len(_POINTER)) == _POINTER:
                raise UsageError(f"{file}: a pointer to weights and not the weights; fetch them with git lfs pull")
        try:
            with safe_open(file, "pt"):
                pass
        except SafetensorError as error:
            raise UsageError(f"{file}: cut or damaged ({error}); {AGAIN}") from None


def require_fit(source: object, model: Any, tokenizer: Any) -> None:
    """Raise UsageError where no answer of this model would end, its tokenizer has tokens that it knows nothing of, or it cannot be
    continued token by token, as RWKV: what it writes would be wrong."""
    if tokenizer.eos_token_id is None:
        raise UsageError(
            f"{source}: its tokenizer has no end token, so no answer would end; name it as eos_token in tokenizer_config.json"
        )
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    wrong = [
        end for end in (ends if isinstance(ends, list) else [ends]) if end is not None and not isinstance(end, int)
    ]
    if wrong:
        raise UsageError(
            f"{source}: generation_config.json: eos_token_id is {wrong[0]!r:.40}; it is the number of a token"
        )
    rows, last = model.get_input_embeddings().weight.shape[0], max(tokenizer.get_vocab().values())
    if last >= rows:
        raise UsageError(
            f"{source}: its tokenizer has tokens up to number {last:,} and the model embeddings for {rows:,}; "
            "weights and tokenizer must be of one model"
        )
    if name_of_cache(model) is None or model.config.model_type in _APART:
        raise UsageError(
            f"{source}: {model.config.model_type} models have no cache that samples can share; name one of another kind"
        )


def name_of_cache(model: Any) -> str | None:
    """The argument of this model's forward that takes a cache; None where there is none."""
    known = signature(model.forward).parameters
    return next((name for name in _CACHES if name in known), None)


def copy_model(source: Path, target: Path, note: Callable[[str], None]) -> None:
    """Copy the files of the model in `source`, checked first, into the folder `target`.

    Raises:
        UsageError: it is not a causal language model that can be loaded.
    """
    require_parts(source)
    if not _tokenizer_that_fits(source).chat_template:
        note(f"{source.name}: {PLAIN_PROMPTS}")
    for file in sorted({file for pattern in FILES for file in source.glob(pattern) if file.is_file()}):
        shutil.copyfile(file, target / file.name)


def _tokenizer_that_fits(folder: Path) -> Any:
    """The tokenizer; and the model is built, without its weights, to hold it against."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with refused(f"{folder}: its tokenizer cannot be loaded", AGAIN):
        tokenizer = AutoTokenizer.from_pretrained(folder, **where)
    with refused(f"{folder}: the model cannot be loaded", AGAIN), torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder, **where), trust_remote_code=False)
    require_fit(folder, model, tokenizer)
    return tokenizer
