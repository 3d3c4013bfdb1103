"""`kolmo train --dry-run`: what a run would do, without importing anything heavy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.config.machine import Model
from kolmocli.errors import UsageError
from kolmocli.files import read_regular
from kolmocli.models.known import require_brought
from kolmocli.paths import SHIPPED, model_folder
from kolmocli.plain import parsed
from kolmocli.policy.presets import PRESETS, Alphabet, alphabet_of, is_preset
from kolmocli.policy.requirements import require_adapters, require_device
from kolmocli.policy.sizes import Size, size_of_folder, size_of_preset
from kolmocli.processor import Precision, multiplies_bf16
from kolmocli.tasks.base import Task
from kolmocli.tasks.sequences.task import SequenceTask
from kolmocli.tasks.sources import evaluation_source, training_source
from kolmocli.training.memory import Need, Work, memory


def plan(config: Config) -> dict[str, Any]:
    """Buckets, amounts, model, memory and sandbox. Samples one task of every bucket, so a level that cannot be
    sampled is found here.

    Raises:
        UsageError: something in the configuration cannot work.
        EnvironmentMissing: the device, or a package that adapters need, is not there.
    """
    require_device(config.model.device)
    notes: list[str] = []
    sources = {"train": training_source(config, notes.append), "eval": evaluation_source(config, notes.append)}
    tasks = [source.task(bucket, 0) for source in sources.values() for bucket in source.buckets()]
    training, bare = config.training, reads_bare(config.model.name)
    return {
        "name": config.name,
        "seed": config.seed,
        "buckets": len(sources["train"].buckets()),
        "families": len({b.family for b in sources["train"].buckets()}),
        "warmup_steps_at_most": config.warmup.max_steps,
        "steps": training.steps,
        "rollouts": training.steps * training.batch_size * training.best_of,
        "held_out_tasks": config.evaluation.tasks,
        **_model(config, max(_prompt_tokens(bare, task) for task in tasks)),
        "sandbox": _sandbox(config.sandbox.backend) if config.runs_programs else "none",
        "notes": notes,
    }


def _sandbox(backend: str) -> str:
    """The backend that would be used now."""
    if backend != "auto":
        return backend
    from kolmocli.sandbox.docker.image import why_no_engine

    return "embedded" if why_no_engine() else "docker"


def _model(config: Config, prompt_tokens: int) -> dict[str, Any]:
    """The trained model and its needs, as far as the model's files show them."""
    rank, in_8bit = config.adapter_rank, config.model.load_in_8bit
    if rank:
        require_adapters()
    name = config.model.name
    size = _size(name, config.alphabet)
    if size is None:
        return {"model": {"name": name, "parameters": None}, "memory_mib": None}
    return {
        "model": {
            "name": name,
            "parameters": size.parameters,
            "trained": size.adapter(rank) if rank else size.parameters,
            "adapter_rank": rank,
            "load_in_8bit": in_8bit,
            "precision": precision(config.model),
        },
        "memory_mib": memory_plan(config, prompt_tokens),
    }


def memory_plan(config: Config, prompt_tokens: int) -> dict[str, float] | None:
    """MiB by purpose, with prompts of at most this many tokens; None for a model that would have to be downloaded first."""
    size, training = _size(config.model.name, config.alphabet), config.training
    if size is None:
        return None
    samples = training.group_size * training.best_of
    work = Work(training.batch_size * training.best_of, samples, prompt_tokens, training.max_new_tokens)
    return memory(
        Need(
            size,
            work,
            rank=config.adapter_rank,
            in_8bit=config.model.load_in_8bit,
            optimiser=training.optimizer,
            precision=precision(config.model),
            recompute=training.gradient_checkpointing,
            on_cpu=config.model.device in ("auto", "cpu"),
            widened=config.model.device in ("auto", "cpu") and not multiplies_bf16(),
            value_head=training.baseline == "value",
            reference=training.kl > 0,
        )
    )


def precision(model: Model) -> Precision:
    """Precision that a run would choose. Where a run measures it, the processor's own word: measuring takes torch."""
    if model.precision != "auto":
        return model.precision
    return "bf16" if model.device == "cuda" or (not model.load_in_8bit and multiplies_bf16()) else "fp32"


def _based_on(name: str) -> str:
    """The preset, folder or hub id with the weights: of a run its newest checkpoint, of an adapter its base."""
    folder = model_folder(name)
    if is_preset(name) or not folder.is_dir():
        return name
    if (folder / "config.json").is_file():
        return str(folder)
    from kolmocli.policy.adapters import is_adapter, read_base
    from kolmocli.policy.loading import resolve_checkpoint

    found = resolve_checkpoint(name) or folder
    return _based_on(read_base(found).name) if is_adapter(found) else str(found)


def _size(name: str, alphabet: Alphabet) -> Size | None:
    """None for a model that would have to be downloaded first."""
    name = _based_on(name)
    if is_preset(name):
        return size_of_preset(name, alphabet)
    folder = Path(name)
    if folder.is_dir():
        return size_of_folder(folder)
    require_brought(name)
    if "/" not in name or folder.is_absolute():
        raise UsageError(
            f"model {name!r}: neither a preset ({', '.join(PRESETS)}), {SHIPPED}, a model of `kolmo model list`, a folder nor owner/name"
        )
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(name, "config.json")
    return size_of_folder(Path(cached).parent) if isinstance(cached, str) else None


def reads_bare(name: str) -> bool:
    """Whether prompts are shown to this model as they are to presets: it is one, or what was saved of one."""
    name = _based_on(name)
    if is_preset(name):
        return True
    try:
        marks = parsed(read_regular(Path(name) / "tokenizer_config.json")).get("extra_special_tokens") or ()
    except (OSError, ValueError, AttributeError):
        return False
    return alphabet_of(marks) is not None


def _prompt_tokens(bare: bool, task: Task) -> int:
    """Tokens of a preset's prompt, which is the bare sequence or question, or of the explanation for other models, at about three
    characters a token."""
    prompt = task.asked
    if bare:
        return 2 + (len(task.target) if isinstance(task, SequenceTask) else len(prompt.shortest))
    return (len(prompt.system) + len(prompt.text)) // 3
