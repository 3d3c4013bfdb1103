"""A saved model, in a folder or on the Hugging Face hub. What is missing or damaged is named before a library meets it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from transformers.utils import SAFE_WEIGHTS_INDEX_NAME
from transformers.utils.hub import cached_file

from kolmocli.checkpoints import require_as_written
from kolmocli.errors import KolmoError, UsageError
from kolmocli.paths import SHIPPED
from kolmocli.policy.adapters import Base
from kolmocli.policy.presets import PRESETS
from kolmocli.policy.quiet import quiet_bitsandbytes, quiet_convolutions
from kolmocli.policy.requirements import require_adapters

quiet_bitsandbytes()
quiet_convolutions()

_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt", "spiece.model")
_POINTER = b"version https://git-lfs"
_AGAIN = "copy or save the model again"
_REASON = 160
"""Characters of what a library says that are passed on."""


def require_parts(folder: Path) -> None:
    """A model is weights and a tokenizer. Which of them is missing is not what a library says first.

    Raises:
        UsageError: one of them is not there, or the configuration or the weights are damaged.
    """
    if not any(folder.glob("*.safetensors")):
        others = any(folder.glob("*.bin"))
        mend = "save it as safetensors, nothing else is loaded" if others else _AGAIN
        raise UsageError(f"{folder}: a model without weights: no *.safetensors in it; {mend}")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise UsageError(f"{folder}: a model without a tokenizer: none of {', '.join(_TOKENIZERS)} in it; {_AGAIN}")
    try:
        whole = isinstance(json.loads((folder / "config.json").read_bytes()), dict)
    except (OSError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise UsageError(f"{folder / 'config.json'}: not a JSON object; {_AGAIN}")
    for index in sorted(folder.glob("*.index.json")):
        _require_plain_names(index, str(index))
    require_whole(folder)


def _require_plain_names(index: Path, called: str) -> None:
    """An index says which files hold the weights: it may name nothing but safetensors beside it.

    A library would follow it out of the folder, and to a pickle.

    Raises:
        UsageError: it names something else, or is no index.
    """
    try:
        named = json.loads(index.read_bytes())["weight_map"].values()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{called}: not an index of weights; {_AGAIN}") from None
    for name in named:
        if not (isinstance(name, str) and name.endswith(".safetensors") and Path(name).name == name):
            raise UsageError(
                f"{called}: names {repr(name)[:_REASON]} as weights; only *.safetensors beside it are loaded"
            )


def _require_plain_names_on_hub(source: str, where: dict[str, Any]) -> None:
    """The same for a model on the hub, whose index is fetched before anything that it names."""
    config = cached_file(source, "config.json", **where, _raise_exceptions_for_missing_entries=False)
    own = json.loads(Path(config).read_bytes()).get("transformers_weights") if config else None
    for name in (SAFE_WEIGHTS_INDEX_NAME, own):
        if isinstance(name, str) and name.endswith(".index.json"):
            index = cached_file(source, name, **where, _raise_exceptions_for_missing_entries=False)
            if index:
                _require_plain_names(Path(index), f"{source}: {name}")


def require_whole(folder: Path) -> None:
    """Look at the head of all weights in a folder, which says how long the rest of a file is.

    Raises:
        UsageError: they are cut or damaged, or elsewhere.
    """
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as stream:
            if stream.read(len(_POINTER)) == _POINTER:
                raise UsageError(f"{file}: a pointer to weights and not the weights; fetch them with git lfs pull")
        try:
            with safe_open(file, "pt"):
                pass
        except SafetensorError as error:
            raise UsageError(f"{file}: cut or damaged ({error}); {_AGAIN}") from None


def load_saved(base: Base, place: torch.device, dtype: str | torch.dtype) -> tuple[Any, Any]:
    """The model, on its device and in evaluation mode, and its tokenizer.

    Raises:
        KolmoError: a file of a checkpoint is not what its run wrote.
        UsageError: nothing can be loaded under that name, or not all of the model's weights.
        EnvironmentMissing: a package that 8-bit weights need is not there.
    """
    source, here = base.name, Path(base.name).is_dir()
    if here:
        require_as_written(Path(source))
        require_parts(Path(source))
    where: dict[str, Any] = {"local_files_only": here, "trust_remote_code": False}
    if not here and base.version:
        where["revision"] = base.version
    quantised: dict[str, Any] = {}
    if base.load_in_8bit:
        require_adapters()
        quantised = {"quantization_config": BitsAndBytesConfig(load_in_8bit=True), "device_map": {"": place}}
    with _refused(source, here, "its tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(source, **where)
    with _refused(source, here, "the model"):
        if not here:
            _require_plain_names_on_hub(source, {k: v for k, v in where.items() if k != "trust_remote_code"})
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source,
            use_safetensors=True,
            dtype=dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, by name
            **where,
            **quantised,
        )
    model, found = loaded
    _require_all(source, found)
    if not quantised:
        return model.to(place).eval(), tokenizer
    if place.type == "cpu":
        _let_go_of_the_file(model)
        _round_weights_only(model)
    return model.eval(), tokenizer


@contextmanager
def _refused(source: str, here: bool, what: str) -> Iterator[None]:
    """What a library raises, in one line; and without what it prints of weights that do not fit."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    except KolmoError:
        raise
    except Exception as error:  # a configuration may ask for anything: no heads, a size below nothing, 10¹² words
        reason = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split()) or type(error).__name__
        reason = reason if len(reason) <= _REASON else f"{reason[:_REASON]}…"
        if here:
            raise UsageError(f"{source}: {what} cannot be loaded ({reason}); {_AGAIN}") from None
        raise UsageError(
            f"model {source!r}: not a preset ({', '.join(PRESETS)}), {SHIPPED}, a run, a checkpoint folder or a model that "
            f"can be loaded: {reason}"
        ) from None
    finally:
        logger.setLevel(level)


def _require_all(source: str, found: dict[str, Any]) -> None:
    """Weights that are not in the file, or of another shape, would be drawn at random, and the model be another one."""
    wrong = sorted({*found["missing_keys"], *(name for name, *_ in found["mismatched_keys"])})
    if wrong:
        raise UsageError(
            f"{source}: {len(wrong)} of the weights that its config.json asks for are missing or of another shape, "
            f"such as {wrong[0]}; weights and config.json must be of one model"
        )


def require_finite(source: str, model: Any) -> None:
    """Raise UsageError for weights with a NaN or an infinity among them: nothing can be sampled from them or learnt."""
    for name, weights in model.named_parameters():
        scales = getattr(weights, "SCB", None)  # of weights in 8 bits, which are finite themselves
        for part in (weights, scales):
            if part is not None and part.is_floating_point() and not bool(torch.isfinite(part).all()):
                raise UsageError(f"{source}: its weights are not finite, {name} for one; {_AGAIN}")


def _let_go_of_the_file(model: Any) -> None:
    """What was not rounded still lies in the mapped file, and would keep all of it in memory: as much as 8 bits save."""
    for parameter in model.parameters():
        if parameter.is_floating_point():
            parameter.data = parameter.data.clone()


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
