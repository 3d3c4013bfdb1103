"""Compilers and interpreters of other languages: which there are, the image that has them, and the base that it is built on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import docker
from docker.errors import DockerException

from kolmocli.errors import EnvironmentMissing
from kolmocli.paths import data_dir
from kolmocli.sandbox.base import Language

REPOSITORY = "kolmo-native"
LOCAL_BASE = "kolmo-base-native:bookworm"
_SHARED = ("host.py", "jail.py", "probe.py")
"""Files of the image for Python that this one has too."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """`program` is where it lies in the base, and `package` what Debian calls it."""

    language: Language
    program: str
    package: str


TOOLCHAINS = {
    "cpp": Toolchain("cpp", "/usr/bin/g++", "g++"),
    "node": Toolchain("javascript", "/usr/bin/node", "nodejs"),
}
"""By what `--with` calls them."""


def native_source() -> Path:
    """The folder with the Dockerfile and the engine's filter."""
    return data_dir("sandbox_image") / "native"


@cache
def native_sources() -> dict[str, bytes]:
    """Every file of the build context by name."""
    folder = native_source()
    paths = [*folder.glob("*.py"), folder / "Dockerfile", *(folder.parent / name for name in _SHARED)]
    paths.append(Path(str(files("kolmocli"))) / "sandbox/wire/frames.py")
    return {path.name: path.read_bytes() for path in paths}


@cache
def native_tag(names: tuple[str, ...]) -> str:
    """`kolmo-native:<digest of the sources>-<toolchains>`."""
    return tag_of(REPOSITORY, native_sources(), names)


def tag_of(repository: str, sources: Mapping[str, bytes], names: Sequence[str], more: bytes = b"") -> str:
    """`repository:<digest of these files, and of more>`, with what is in the image."""
    digest = hashlib.sha256()
    for name, data in sorted(sources.items()):
        digest.update(f"{name} {len(data)}\n".encode() + data)
    digest.update(more)
    return "-".join([f"{repository}:{digest.hexdigest()[:16]}", *names])


def require(base: str, names: Sequence[str], api: docker.DockerClient) -> None:
    """Raises EnvironmentMissing when this base lacks one of the toolchains."""
    for name in names:
        program = TOOLCHAINS[name].program
        try:
            ask = f"import os, sys; sys.exit(not os.path.exists({program!r}))"
            api.containers.run(base, ["-c", ask], entrypoint="python3", network_disabled=True, remove=True)
        except DockerException:
            raise EnvironmentMissing(f"the base image {base} has no python3 with {program}; {how(names)}") from None


def how(names: Sequence[str]) -> str:
    """The way to a base for these toolchains."""
    packages = " ".join(TOOLCHAINS[name].package for name in names)
    return f"make one with: sandbox_image/base-image.sh {LOCAL_BASE} {packages}"


def languages(names: Sequence[str]) -> tuple[Language, ...]:
    return tuple(toolchain.language for name, toolchain in TOOLCHAINS.items() if name in names)
