"""`kolmo doctor`: what this machine offers, and what a run on it would use."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kolmocli import __version__
from kolmocli.cli.output import print_json, show
from kolmocli.processor import multiplies_bf16

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def doctor(json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False) -> None:
    """Show what this machine offers and what a run would use."""
    report = examine()
    print_json(report) if json else show(_table(report))


def examine() -> dict[str, Any]:
    """Everything that `kolmo doctor` says."""
    docker = examine_docker()
    cuda = examine_cuda()
    return {
        "kolmo": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "multiplies_bf16": multiplies_bf16(),
        "memory_gib": round(_memory_bytes() / 2**30, 1),
        "torch": _version("torch"),
        "transformers": _version("transformers"),
        "cuda": cuda,
        "docker": docker,
        "embedded": {"available": bool(_version("pydantic-monty")), "pydantic_monty": _version("pydantic-monty")},
        "extras": examine_extras(),
        "would_use": {"device": _device(cuda), "sandbox": _sandbox(docker)},
    }


def examine_docker() -> dict[str, Any]:
    """Whether an engine answers, which one, and whether the sandbox image is there or can be built without a network."""
    from kolmocli.sandbox.docker.image import client, has_image, image_tag, local_base, why_no_engine

    if reason := why_no_engine():
        return {"answers": False, "reason": reason}
    with closing(client()) as api:
        info, parts = api.info(), api.version().get("Components") or [{}]
        image, base = has_image(api, image_tag()), local_base(api)
    return {
        "answers": True,
        "engine": parts[0].get("Name", "unknown"),
        "version": info.get("ServerVersion"),
        "cgroup": info.get("CgroupVersion"),
        "runtimes": sorted(info.get("Runtimes") or {}),
        "image": image_tag(),
        "image_built": image,
        "base_image": base,
    }


def examine_cuda() -> dict[str, Any]:
    """CUDA as torch sees it. Torch is imported only where there is a driver to ask about."""
    if "+cpu" in (_version("torch") or "") or not Path("/dev/nvidiactl").exists():
        return {"available": False}
    import torch

    if not torch.cuda.is_available():
        return {"available": False, "reason": "a driver is there, but this torch cannot use it"}
    return {
        "available": True,
        "devices": [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())],
    }


def examine_extras() -> dict[str, str | None]:
    """Every extra of this distribution: the version of what it installs, with the names if that is several packages, and
    the names of the extras that it includes. None if a package is missing; one that is not for this machine is not."""
    from packaging.requirements import Requirement

    try:
        own = importlib.metadata.distribution("kolmocli")
    except importlib.metadata.PackageNotFoundError:  # a checkout that is not installed: no extra was chosen
        return {}
    marked = [(each, each.marker) for each in map(Requirement, own.requires or []) if each.marker is not None]
    only = [(need, marker) for need, marker in marked if not marker.evaluate({"extra": ""})]
    extras = own.metadata.get_all("Provides-Extra") or []
    needs = {extra: [need for need, marker in only if marker.evaluate({"extra": extra})] for extra in extras}
    return {extra: _said(extra, needs) for extra in extras}


def _said(extra: str, needs: Mapping[str, Sequence[Requirement]]) -> str | None:
    found: dict[str, str | None] = {}
    for need in needs[extra]:
        if need.name == "kolmocli":
            found |= {other: None if _said(other, needs) is None else "" for other in need.extras}
        else:
            found[need.name] = _version(need.name)
    if not found or None in found.values():
        return None
    if len(found) == 1:
        ((name, version),) = found.items()
        return version or name
    return " ".join(f"{name} {found[name]}".strip() for name in sorted(found))


def _sandbox(docker: dict[str, Any]) -> str:
    """The choice of `--sandbox auto`: an image that is missing is built, if that needs no network."""
    usable = docker["answers"] and (docker["image_built"] or docker["base_image"])
    return "docker" if usable else "embedded"


def _device(cuda: dict[str, Any]) -> str:
    if cuda["available"]:
        return "cuda"
    if platform.system() != "Darwin":
        return "cpu"
    import torch

    return "mps" if torch.backends.mps.is_available() else "cpu"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _memory_bytes() -> int:
    """The machine's memory, or its cgroup's where that is less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.is_file() else "max"
    return machine if text == "max" else min(machine, int(text))


def _table(report: dict[str, Any]) -> Any:
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(Column(), Column(overflow="fold"), show_header=False, box=None, pad_edge=False)
    for name, value in report.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k.replace('_', ' ')} {_word(v)}" for k, v in value.items())
        table.add_row(Text(name.replace("_", " ")), Text(_word(value)))
    return table


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "not installed" if value is None else str(value)
