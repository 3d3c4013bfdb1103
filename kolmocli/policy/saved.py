"""A saved model, in a folder or on the Hugging Face hub."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from transformers.utils import SAFE_WEIGHTS_INDEX_NAME
from transformers.utils.hub import cached_file

from kolmocli.checkpoints import require_as_written
from kolmocli.errors import UsageError
from kolmocli.models.folders import AGAIN, require_fit, require_parts, require_plain_names
from kolmocli.models.hub import has_address
from kolmocli.models.libraries import refused
from kolmocli.paths import SHIPPED
from kolmocli.plain import parsed
from kolmocli.policy.adapters import Base
from kolmocli.policy.head import is_like, underlying
from kolmocli.policy.presets import PRESETS
from kolmocli.policy.quiet import quiet_bitsandbytes, quiet_convolutions
from kolmocli.policy.requirements import require_adapters
from kolmocli.processor import multiplies_bf16

quiet_bitsandbytes()
quiet_convolutions()


def load_saved(base: Base, place: torch.device, dtype: str | torch.dtype) -> tuple[Any, Any]:
    """The model, on its device and in evaluation mode, and its tokenizer. With the dtype `auto` weights keep the precision that
    they were saved in, where the device multiplies it; else they are in fp32.

    Raises:
        KolmoError: a file of a checkpoint is not what its run wrote.
        UsageError: nothing can be loaded under that name, or not all of the model's weights.
        EnvironmentMissing: a package that 8-bit weights need is not there.
    """
    source, here = base.name, Path(base.name).is_dir()
    if here:
        require_as_written(Path(source))
        require_parts(Path(source))
    where: dict[str, Any] = {"local_files_only": here or not has_address(), "trust_remote_code": False}
    if not here and base.version:
        where["revision"] = base.version
    quantised: dict[str, Any] = {}
    if base.load_in_8bit:
        require_adapters()
        quantised = {"quantization_config": BitsAndBytesConfig(load_in_8bit=True), "device_map": {"": place}}
    dtype = _of_the_processor(dtype, place)
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
    require_fit(source, model, tokenizer)
    if not quantised:
        if place.type == "cpu" and model.dtype == torch.float16:
            model = model.float()
        return model.to(place).eval(), tokenizer
    if place.type == "cpu":
        _let_go_of_the_file(model)
        _round_weights_only(model)
    return model.eval(), tokenizer


def _of_the_processor(dtype: str | torch.dtype, place: torch.device) -> str | torch.dtype:
    """As saved, but fp32 on a processor without products in bf16: there they are several times as slow as in fp32."""
    return torch.float32 if dtype == "auto" and place.type == "cpu" and not multiplies_bf16() else dtype


def _refused(source: str, here: bool, what: str) -> AbstractContextManager[None]:
    """Turn a library's exception into one line."""
    if here:
        return refused(f"{source}: {what} cannot be loaded", AGAIN)
    kinds = f"a preset ({', '.join(PRESETS)}), {SHIPPED}, a model of `kolmo model list`, a run, a checkpoint folder"
    return refused(f"model {source!r}: not {kinds} or a model that can be loaded", "name one of these")


def _require_plain_names_on_hub(source: str, where: dict[str, Any]) -> None:
    """The index of a model on the hub is fetched, and looked at, before anything that it names."""
    config = cached_file(source, "config.json", **where, _raise_exceptions_for_missing_entries=False)
    own = parsed(Path(config).read_bytes()).get("transformers_weights") if config else None
    for name in (SAFE_WEIGHTS_INDEX_NAME, own):
        if isinstance(name, str) and name.endswith(".index.json"):
            index = cached_file(source, name, **where, _raise_exceptions_for_missing_entries=False)
            if index:
                require_plain_names(Path(index), f"{source}: {name}")


def _require_all(source: str, found: dict[str, Any]) -> None:
    """Weights that are not in the file, or of another shape, would be drawn at random, and the model be another one."""
    wrong = sorted({*found["missing_keys"], *(name for name, *_ in found["mismatched_keys"])})
    if wrong:
        raise UsageError(
            f"{source}: {len(wrong)} of the weights that its config.json asks for are missing or of another shape, "
            f"such as {wrong[0]}; weights and config.json must be of one model"
        )


def require_finite(source: str, model: Any) -> None:
    """Raise UsageError for weights with a NaN or an infinity among them: they can neither sample nor learn."""
    for name, weights in model.named_parameters():
        scales = getattr(weights, "SCB", None)  # of weights in 8 bits, which are finite themselves
        for part in (weights, scales):
            if part is not None and part.is_floating_point() and not bool(torch.isfinite(part).all()):
                raise UsageError(f"{source}: its weights are not finite, {name} for one; {AGAIN}")


def require_causal(source: str, model: Any) -> None:
    """Raise UsageError for a model that sees the token it is to predict, as BERT, which loads as a causal one all the same."""
    ids = torch.tensor([[0, 1], [0, 2]], device=model.device)
    with torch.inference_mode():
        one, other = model(input_ids=ids).logits[:, 0]
    if not is_like(one, other):
        kind = underlying(model).config.model_type
        raise UsageError(
            f"{source}: a {kind} that reads in both directions; name a model that reads from left to right"
        )


def _let_go_of_the_file(model: Any) -> None:
    """Copy parameters that were not rounded out of the mapped file, which would stay in memory: as much as 8 bits save."""
    for parameter in model.parameters():
        if parameter.is_floating_point():
            parameter.data = parameter.data.clone()


def _round_weights_only(model: Any) -> None:
    """Multiply in full precision with the 8-bit weights, as bitsandbytes does on a CPU for layers in training.

    In evaluation mode it would round every activation to 8 bits as well: slower here, further off, and the
    slightest difference between sampler and trainer then flips whole steps, 0.03 nats a token (docs/log.md).
    """

    from bitsandbytes.nn.modules import Linear8bitLt

    def in_training(layer: torch.nn.Module, inputs: Any) -> None:
        layer.training = True  # which means nothing else to a linear layer

    for layer in model.modules():
        if isinstance(layer, Linear8bitLt):
            layer.register_forward_pre_hook(in_training)
