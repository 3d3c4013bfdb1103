"""From the name of a model to a policy: a preset, the one that comes with kolmo, one in the user's cache, a run, a checkpoint
folder, an adapter, or a Hugging Face id.

Weights load as safetensors only, and code that comes with a model is never run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from kolmocli.checkpoints import latest_checkpoint, require_as_written, silent
from kolmocli.errors import UsageError
from kolmocli.models.folders import require_whole
from kolmocli.models.known import require_brought
from kolmocli.paths import model_folder
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
from kolmocli.policy.requirements import require_device
from kolmocli.policy.saved import load_saved, require_causal, require_finite


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
    warn: Callable[[str], None] = silent,
) -> Policy:
    """The policy called `name`, in evaluation mode on its device.

    `train` says that it is going to be trained, and how. Weights that are trained are kept in fp32, where a small
    step is not rounded away; others keep the precision that they were saved in, where the device multiplies it. `alphabet`
    is what a preset is built for, and has to have been built for where it was saved; other models read anything. `warn`
    gets a line for each damaged checkpoint of a run that is passed over.

    Raises:
        KolmoError: a file of a checkpoint is not what its run wrote.
        UsageError: nothing is found under that name, or what is there is not a causal language model, or one that was
            built for the other kind of tasks, or one whose weights are not numbers.
        EnvironmentMissing: the device, or a package that adapters need, is not there.
    """
    policy = _load(name, choose_device(device), seed, train, alphabet, warn)
    require_finite(name, policy.model)
    if not policy.is_preset and not (policy.base and policy.base.load_in_8bit):  # a pass moves the scales of 8 bits
        require_causal(name, policy.model)
    if policy.alphabet not in (None, alphabet):
        kinds = {
            "programs": "writes programs and has no letters for questions",
            "characters": "answers questions and has no words for programs",
        }
        raise UsageError(f"{name} {kinds[policy.alphabet]}; name another model, or other tasks")
    return policy


def _load(
    name: str,
    place: torch.device,
    seed: int,
    train: Adaptation | None,
    alphabet: Alphabet,
    warn: Callable[[str], None],
) -> Policy:
    folder = None if is_preset(name) else resolve_checkpoint(name, warn)
    if folder is not None and is_adapter(folder):
        return _load_adapted(name, folder, place, train)
    if train is None or not train.rank:
        dtype = "auto" if train is None else torch.float32
        model, tokenizer = _load_model(Base(str(folder or name), seed, alphabet=alphabet), place, dtype)
        return Policy(name, model, tokenizer)
    base = Base(str(folder.resolve() if folder else name), seed, train.load_in_8bit, alphabet=alphabet)
    model, tokenizer = _load_model(base, place, "auto")
    return Policy(name, attach(model, train, seed).eval(), tokenizer, _versioned(base, model))


def resolve_checkpoint(name: str, warn: Callable[[str], None] = silent) -> Path | None:
    """The folder with the weights: of a run its newest complete checkpoint. None: not a folder.

    Raises:
        UsageError: there is no model in the folder.
        EnvironmentMissing: it is the name of a model that `kolmo model get` knows and has not brought.
    """
    folder = model_folder(name)
    if not folder.is_dir():
        require_brought(name)
        return None
    if is_adapter(folder) or (folder / "config.json").is_file():
        return folder
    found = latest_checkpoint(folder, warn)
    if found is None:
        raise UsageError(f"{name}: a folder without a model: neither config.json nor a complete checkpoint in it")
    return found


def _load_adapted(name: str, folder: Path, place: torch.device, train: Adaptation | None) -> Policy:
    """An adapter with its base. It is trained on as what it is, or not at all."""
    require_as_written(folder)
    base = read_base(folder)
    require_whole(folder)
    if Path(base.name).is_absolute() and not Path(base.name).is_dir():
        raise UsageError(f"{folder}: the model that it is an adapter of is not in {base.name} any more; put it back")
    if train is not None:
        base = replace(base, load_in_8bit=train.load_in_8bit)
    model, tokenizer = _load_model(base, place, "auto")
    if base.version and _versioned(base, model).version != base.version:
        raise UsageError(f"{folder}: its base {base.name} holds other weights than those that it was trained on")
    model = load_adapter(model, folder, trainable=train is not None).eval()
    if train is not None and train.rank != rank_of(model):
        raise UsageError(
            f"{name} is an adapter of rank {rank_of(model)}, training.lora.rank is {train.rank}; "
            f"go on with --lora-rank {rank_of(model)}"
        )
    return Policy(name, model, tokenizer, _versioned(base, model))


def _versioned(base: Base, model: Any) -> Base:
    folder = Path(base.name)
    if folder.is_dir():  # an adapter of somebody else may name it from where they were
        return replace(base, name=str(folder.resolve()), version=fingerprint(folder))
    return replace(base, version=getattr(model.config, "_commit_hash", None))


def _load_model(base: Base, place: torch.device, dtype: str | torch.dtype) -> tuple[Any, Any]:
    """The model, on its device and in evaluation mode, and its tokenizer."""
    if not is_preset(base.name):
        return load_saved(base, place, dtype)
    model: Any = build_preset(base.name, base.seed, base.alphabet)
    tokenizer = tokenizer_of(base.alphabet, PRESETS[base.name].reads_segments)
    if not base.load_in_8bit:
        return model.to(place), tokenizer
    with TemporaryDirectory() as folder:  # transformers quantises what it reads
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return load_saved(Base(folder, load_in_8bit=True), place, dtype)
