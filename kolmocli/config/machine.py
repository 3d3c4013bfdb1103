"""The sections for a run's means: the model, the sandbox and the processes."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from kolmocli.policy.presets import listed
from kolmocli.processor import WantedPrecision
from kolmocli.sandbox.backends import what_is_wrong
from kolmocli.section import Count, Positive, Section

_MOST_PROCESSES = 4_096

ADDRESS = re.compile(r"(tcp|tls)://([A-Za-z0-9._-]+|\[[0-9A-Za-z:.%]+\]):[0-9]{1,5}")
"""Scheme, host and port, and nothing else: what `urlsplit` takes for a host, Monarch may take for a user, or a path."""


def _address(text: str) -> str:
    if not ADDRESS.fullmatch(text):
        raise ValueError(f"{text!r} is no address; write tcp://host:port or tls://host:port")
    return text


def _some_name(text: str) -> str:
    if not text.strip():
        raise ValueError("the name of a model is missing")
    return text


class Model(Section):
    name: Annotated[str, AfterValidator(_some_name)] = Field(
        "tiny",
        description=f"a preset ({listed()} parameters), shipped, smollm2 or another model of `kolmo model list`, a run, a checkpoint folder, or a Hugging Face id",
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="where the policy runs")
    precision: WantedPrecision = Field(
        "auto",
        description="precision of matrix products in sampling and learning; auto: bf16 if the device multiplies it faster, which is measured",
    )
    load_in_8bit: bool = Field(
        False, description="keep the model's own weights in 8 bits (LLM.int8) and train adapters on them"
    )
    sampler: Literal["kolmo", "vllm"] = Field(
        "kolmo", description="what writes rollouts; vllm needs the extra of that name, and trains models only in full"
    )
    sampler_memory: float = Field(0.4, gt=0, lt=1, description="share of a GPU's memory that vllm may take for itself")


def _place(backend: str) -> str:
    if wrong := what_is_wrong(backend):
        raise ValueError(wrong)
    return backend


class SandboxSection(Section):
    backend: Annotated[str, AfterValidator(_place)] = Field(
        "auto",
        description="where programs run: auto, docker, embedded, or http://host:port of `kolmo sandbox serve`, which only the command line may name",
    )
    workers: Annotated[int, Field(ge=0, le=_MOST_PROCESSES)] = Field(
        0, description="containers or worker processes; 0: one per core. Of a server: connections; 0: eight"
    )
    cpu_ms: Positive = Field(1000, description="CPU time of one program")
    wall_ms: Positive = Field(3000, description="wall time of one program, the backstop")
    memory_mb: Positive = Field(128, description="memory of one program")
    runtime: str | None = Field(None, description="another OCI runtime of the Docker engine, such as runsc")
    packages: list[str] = Field(
        [], description="more for programs: numpy to import; cpp and node, for tasks in C++ and JavaScript"
    )


class EngineSettings(Section):
    """Placement of the rollouts: this process or generators. `engine: monarch` is short for its `kind`."""

    kind: Literal["local", "monarch"] = Field(
        "local",
        description="local: all in one process; monarch: processes of their own write programs, on this machine or others",
    )
    generators: Positive = Field(
        1, le=_MOST_PROCESSES, description="monarch: processes that write programs, each with a sandbox of its own"
    )
    max_staleness: Count = Field(
        0, description="monarch: updates that a policy may be behind when its programs are learned from; 0: synchronous"
    )
    hosts: list[Annotated[str, AfterValidator(_address)]] = Field(
        [],
        description="monarch: where the generators run, as tcp://address:port or tls://address:port of `kolmo worker`",
    )
    insecure: bool = Field(False, description="monarch: allow tcp:// to other machines, which anyone there can join")
    call_seconds: Positive = Field(
        600, description="monarch: seconds after which a generator without its share of a batch is replaced"
    )

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: object) -> object:
        return {"kind": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _for_monarch(self) -> EngineSettings:
        others = [name for name in type(self).model_fields if name != "kind" and name in self.model_fields_set]
        changed = [name for name in others if getattr(self, name) != type(self).model_fields[name].default]
        if self.kind == "local" and changed:
            raise ValueError(f"{changed[0]} is of the engine monarch; set kind to monarch or remove it")
        return self
