"""From the name of a model to a policy: a preset, a run, a checkpoint folder, an adapter, or a Hugging Face id.

Weights load as safetensors only, and code that comes with a model is never run.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

from kolmocli.errors import UsageError
from kolmocli.policy.adapters import (
    Adaptation,
    Base,
    attach,
    fingerprint,
    is_adapter,
    load_adapter,
    rank_of,
    read_base,
)
from kolmocli.policy.building import build_preset, tokenizer_of
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import PRESETS, Alphabet, is_preset
from kolmocli.policy.requirements import require_adapters, require_device

# It says for every layer that inputs become float16, which is what was asked for.
logging.getLogger("bitsandbytes.autograd._functions").setLevel(logging.ERROR)

_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt", "spiece.model")


def choose_device(name: str) -> torch.device:
    """`auto` takes CUDA, then Apple's MPS, then the CPU; a named device must be there."""
    require_device(name)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return torch.device(name)


def load_policy(
    name: str,
    *,
    device: str = "auto",
    seed: int = 0,
    train: Adaptation | None = None,
    alphabet: Alphabet = "programs",
) -> Policy:
    """The policy called `name`, in evaluation mode on its device.

    `train` says that it is going to be trained, and how. Weights that are trained are kept in fp32, where a small
    step is not rounded away; others keep the precision that they were saved in. `alphabet` is what a preset is built
    for, and has to have been built for where it was saved; other models read anything.

    Raises:
        UsageError: nothing is found under that name, or what is there is not a causal language model, or one that was
            built for the other kind of tasks.
        EnvironmentMissing: the device, or a package that adapters need, is not there.
    """
    policy = _load(name, choose_device(device), seed, train, alphabet)
    if policy.alphabet not in (None, alphabet):
        kinds = {
            "programs": "writes programs and has no letters for questions",
            "characters": "answers questions and has no words for programs",
        }
        raise UsageError(f"{name} {kinds[policy.alphabet]}; name another model, or other tasks")
    return policy


def _load(name: str, place: torch.device, seed: int, train: Adaptation | None, alphabet: Alphabet) -> Policy:
    folder = None if is_preset(name) else resolve_checkpoint(name)
    if folder is not None and is_adapter(folder):
        return _load_adapted(name, folder, place, train)
    if train is None or not train.rank:
        dtype = "auto" if train is None else torch.float32
        model, tokenizer = _load_model(Base(str(folder or name), seed, alphabet=alphabet), place, dtype)
        return Policy(name, model, tokenizer)
    base = Base(str(folder.resolve() if folder else name), seed, train.load_in_8bit, alphabet=alphabet)
    model, tokenizer = _load_model(base, place, "auto")
    return Policy(name, attach(model, train, seed).eval(), tokenizer, _versioned(base, model))


def resolve_checkpoint(name: str) -> Path | None:
    """The folder with the weights: of a run its newest complete checkpoint. None: not a folder."""
    folder = Path(name)
    if not folder.is_dir():
        return None
    if is_adapter(folder):
        return folder
    if (folder / "config.json").is_file():
        _require_parts(folder)
        return folder
    from kolmocli.training.checkpoint import latest_checkpoint

    found = latest_checkpoint(folder)
    if found is None:
        raise UsageError(f"{name}: a folder without a model: neither config.json nor a complete checkpoint in it")
    return found


def _require_parts(folder: Path) -> None:
    """A model is weights and a tokenizer. Which of them is missing is not what a library says first."""
    if not any(folder.glob("*.safetensors")):
        other = " (there are others, but only safetensors are loaded)" if any(folder.glob("*.bin")) else ""
        raise UsageError(f"{folder}: a model without weights: no *.safetensors in it{other}")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise UsageError(f"{folder}: a model without a tokenizer: none of {', '.join(_TOKENIZERS)} in it")


def _load_adapted(name: str, folder: Path, place: torch.device, train: Adaptation | None) -> Policy:
    """An adapter beside its base. It is trained on as what it is, or not at all."""
    base = read_base(folder)
    if Path(base.name).is_absolute() and not Path(base.name).is_dir():
        raise UsageError(f"{folder}: the model that it is an adapter of is not in {base.name} any more; put it back")
    if train is not None:
        base = replace(base, load_in_8bit=train.load_in_8bit)
    model, tokenizer = _load_model(base, place, "auto")
    if base.version and _versioned(base, model).version != base.version:
        raise UsageError(f"{folder}: its base {base.name} holds other weights than those that it was trained beside")
    model = load_adapter(model, folder, trainable=train is not None).eval()
    if train is not None and train.rank != rank_of(model):
        raise UsageError(
            f"{name} is an adapter of rank {rank_of(model)}, training.lora.rank is {train.rank}; "
            f"go on with --lora-rank {rank_of(model)}"
        )
    return Policy(name, model, tokenizer, _versioned(base, model))


def _versioned(base: Base, model: Any) -> Base:
    folder = Path(base.name)
    version = fingerprint(folder) if folder.is_dir() else getattr(model.config, "_commit_hash", None)
    return replace(base, version=version)


def _load_model(base: Base, place: torch.device, dtype: str | torch.dtype) -> tuple[Any, Any]:
    """The model, on its device and in evaluation mode, and its tokenizer."""
    if not is_preset(base.name):
        return _load_saved(base, place, dtype)
    model: Any = build_preset(base.name, base.seed, base.alphabet)
    tokenizer = tokenizer_of(base.alphabet)
    if not base.load_in_8bit:
        return model.to(place), tokenizer
    with TemporaryDirectory() as folder:  # transformers quantises what it reads
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return _load_saved(Base(folder, load_in_8bit=True), place, dtype)


def _load_saved(base: Base, place: torch.device, dtype: str | torch.dtype) -> tuple[Any, Any]:
    source, here = base.name, Path(base.name).is_dir()
    where: dict[str, Any] = {"local_files_only": here, "trust_remote_code": False}
    if not here and base.version:
        where["revision"] = base.version
    quantised: dict[str, Any] = {}
    if base.load_in_8bit:
        require_adapters()
        quantised = {"quantization_config": BitsAndBytesConfig(load_in_8bit=True), "device_map": {"": place}}
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, **where)
        model: Any = AutoModelForCausalLM.from_pretrained(
            source, use_safetensors=True, dtype=dtype, **where, **quantised
        )
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:160]
        raise UsageError(
            f"model {source!r}: not a preset ({', '.join(PRESETS)}), a run, a checkpoint folder or a model that "
            f"can be loaded: {reason}"
        ) from None
    if not quantised:
        return model.to(place).eval(), tokenizer
    if place.type == "cpu":
        _round_weights_only(model)
    return model.eval(), tokenizer


def _round_weights_only(model: Any) -> None:
    """Multiply in full precision with the 8-bit weights, as bitsandbytes does on a CPU for layers in training.

    In evaluation mode it would round every activation to 8 bits as well: slower here, further off, and the
    slightest difference between sampler and trainer then flips whole steps, 0.03 nats a token (docs/decisions.md).
    """

    from bitsandbytes.nn.modules import Linear8bitLt

    def in_training(layer: torch.nn.Module, inputs: Any) -> None:
        layer.training = True  # which means nothing else to a linear layer

    for layer in model.modules():
        if isinstance(layer, Linear8bitLt):
            layer.register_forward_pre_hook(in_training)
