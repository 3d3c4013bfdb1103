"""From the name of a model to a policy: a preset, a run, a checkpoint folder, or a Hugging Face id.

Weights load as safetensors only, and code that comes with a model is never run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.policy.building import build_preset
from kolmocli.policy.policy import Policy
from kolmocli.policy.presets import PRESETS
from kolmocli.policy.tokenizer import build_tokenizer


def choose_device(name: str) -> torch.device:
    """`auto` takes CUDA, then Apple's MPS, then the CPU; a named device must be there."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, there in available.items() if there))
    if not available[name]:
        raise EnvironmentMissing(f"device {name} is not available on this machine; use --device auto or cpu")
    return torch.device(name)


def load_policy(name: str, *, device: str = "auto", seed: int = 0) -> Policy:
    """The policy called `name`, in evaluation mode on its device.

    Raises:
        UsageError: nothing is found under that name, or what is there is not a causal language model.
    """
    place = choose_device(device)
    if name in PRESETS and not Path(name).is_dir():
        model: Any = build_preset(name, seed)
        return Policy(name, model.to(place), build_tokenizer())
    folder = resolve_checkpoint(name)
    source = str(folder) if folder else name
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=folder is not None)
        model = AutoModelForCausalLM.from_pretrained(
            source, local_files_only=folder is not None, use_safetensors=True, dtype="auto", trust_remote_code=False
        )
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:160]
        raise UsageError(
            f"model {name!r}: not a preset ({', '.join(PRESETS)}), a run, a checkpoint folder or a model that "
            f"can be loaded: {reason}"
        ) from None
    return Policy(name, model.to(place).eval(), tokenizer)


def resolve_checkpoint(name: str) -> Path | None:
    """The folder with the weights: of a run its newest complete checkpoint. None: not a folder."""
    folder = Path(name)
    if not folder.is_dir():
        return None
    if (folder / "config.json").is_file():
        return folder
    from kolmocli.training.checkpoint import latest_checkpoint

    found = latest_checkpoint(folder)
    if found is None:
        raise UsageError(f"{name}: a folder without a model: neither config.json nor a complete checkpoint in it")
    return found
