"""Low-rank adapters on frozen weights, and where those weights come from.

A folder with an adapter holds it in peft's format, and `base.json`: how to get the very weights that it was
trained beside. An adapter of somebody else has no `base.json`; its peft configuration names the model.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from kolmocli.errors import UsageError
from kolmocli.files import read_regular
from kolmocli.models.folders import AGAIN
from kolmocli.models.libraries import refused
from kolmocli.plain import parsed
from kolmocli.policy.presets import Alphabet
from kolmocli.policy.quiet import quiet_bitsandbytes
from kolmocli.policy.requirements import require_adapters

quiet_bitsandbytes()

_BASE, _CONFIG, _WEIGHTS = "base.json", "adapter_config.json", "adapter_model.safetensors"
_SAMPLE = 1 << 20


@dataclass(frozen=True, slots=True)
class Base:
    """The frozen model below an adapter.

    `name` is a preset, an absolute folder or a Hugging Face id; `seed` is what a preset is drawn from.
    `version` is the fingerprint of a folder, or the commit on the Hugging Face hub; None where neither is known.
    """

    name: str
    seed: int = 0
    load_in_8bit: bool = False
    version: str | None = None
    alphabet: Alphabet = "programs"
    """A preset's alphabet."""


@dataclass(frozen=True, slots=True)
class Adaptation:
    """Weights to train: adapters of this rank and scale, or with rank 0 the weights themselves."""

    rank: int = 0
    alpha: int = 32
    load_in_8bit: bool = False


def is_adapter(folder: Path) -> bool:
    return (folder / _CONFIG).is_file()


def read_base(folder: Path) -> Base:
    """The base of the adapter in this folder. Raises UsageError when it is not one that can be loaded."""
    try:
        config = parsed(read_regular(folder / _CONFIG))
        if config["peft_type"] != "LORA":
            raise UsageError(f"{folder}: an adapter of the kind {config['peft_type']}; only LORA can be loaded")
        if not (folder / _WEIGHTS).is_file():
            raise UsageError(f"{folder}: no {_WEIGHTS}; adapters load as safetensors only")
        if not (folder / _BASE).is_file():
            return _checked(Base(config["base_model_name_or_path"], version=config.get("revision")))
        return _checked(Base(**parsed(read_regular(folder / _BASE))))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder}: not an adapter that can be read: {error}") from None


def _checked(base: Base) -> Base:
    """Raises TypeError for words where numbers stand, and the other way round."""
    for key, kind in (("name", str), ("seed", int), ("load_in_8bit", bool), ("version", str | None)):
        if not isinstance(getattr(base, key), kind):
            raise TypeError(f"{key} is {getattr(base, key)!r:.40}")
    return base


def attach(model: Any, adaptation: Adaptation, seed: int) -> Any:
    """The model with a fresh adapter on every linear layer but the output head; only the adapter trains.

    A fresh adapter changes nothing: one of its two matrices is zero, the other is drawn from the seed alone.

    Raises:
        UsageError: the model is of a kind that peft adapts otherwise.
    """
    require_adapters()
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=adaptation.rank, lora_alpha=adaptation.alpha, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    kind = model.config.model_type
    with refused(f"{kind} models take no adapter", "train all weights"), _quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return get_peft_model(model, config)


def load_adapter(model: Any, folder: Path, *, trainable: bool) -> Any:
    """The model with the saved adapter of `folder`.

    Raises:
        UsageError: it does not fit the model, or not all of its weights are there.
    """
    require_adapters()
    from peft import PeftModel

    with refused(f"{folder}: the adapter cannot be loaded", AGAIN), _quiet():
        # Only a warning tells that weights of the adapter are not in its file. They would be drawn at random.
        warnings.filterwarnings("error", message="Found missing adapter keys", category=UserWarning)
        return PeftModel.from_pretrained(model, folder, is_trainable=trainable, torch_device=str(model.device))


def save_adapter(model: Any, base: Base, folder: Path) -> None:
    """Write the adapter in peft's format, and where its base is."""
    # Without "auto": that asks the hub whether the vocabulary was resized, and embeddings are never trained here.
    model.save_pretrained(folder, save_embedding_layers=False)
    (folder / "README.md").unlink()  # a template about nothing
    (folder / _BASE).write_text(json.dumps(asdict(base), indent=1))


def rank_of(model: Any) -> int:
    return int(model.peft_config["default"].r)


def fingerprint(folder: Path) -> str:
    """Fingerprint of the weights in a folder: names, sizes, and both ends of every file, not each of its gigabytes."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as stream:
            size = file.stat().st_size
            digest.update(f"{file.name} {size}\n".encode() + stream.read(_SAMPLE))
            stream.seek(max(0, size - _SAMPLE))
            digest.update(stream.read())
    return digest.hexdigest()


@contextmanager
def _quiet() -> Iterator[None]:
    """Without peft's remarks on a name of transformers that is going to change, and on GPT-2's transposed layers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".is_gradient_checkpointing. is deprecated", category=FutureWarning)
        warnings.filterwarnings("ignore", message="fan_in_fan_out is set to", category=UserWarning)
        yield
