"""Packages in the image beyond the standard library: their wheels, fetched by this machine's pip and unpacked here.

The base image needs neither pip nor a network. Packages are fetched for its Python and not for this one.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import docker
from docker.errors import DockerException

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.sandbox.docker.toolchains import TOOLCHAINS
from kolmocli.sandbox.wheels import bring

PACKAGES = {"numpy": ("numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random")}
"""Those that were tried, with the parts that they would import late: a child reads no files. They load before the first
program, start no thread then, and work with what a child may call."""
_ASK = "import sys; print(f'{sys.version_info[0]}.{sys.version_info[1]}')"


def known(packages: Sequence[str]) -> tuple[str, ...]:
    """The packages and toolchains in order. Raises UsageError for one that the sandbox does not have."""
    for package in packages:
        if package not in PACKAGES and package not in TOOLCHAINS:
            there = ", ".join([*PACKAGES, *TOOLCHAINS])
            raise UsageError(f"the sandbox has no package {package!r}; it can have {there}")
    return tuple(sorted(set(packages)))


def split(packages: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Packages of Python, and toolchains of other languages. Raises UsageError as `known`."""
    names = known(packages)
    return tuple(name for name in names if name in PACKAGES), tuple(name for name in names if name in TOOLCHAINS)


def files_of(packages: Sequence[str], api: docker.DockerClient, base: str) -> dict[str, bytes]:
    """The files of the packages for this base image, by their names in the build context.

    Raises:
        EnvironmentMissing: the base does not run, or pip finds no wheel for it.
    """
    try:
        version = api.containers.run(base, ["-c", _ASK], entrypoint="python3", network_disabled=True, remove=True)
    except DockerException as error:
        raise EnvironmentMissing(f"the base image {base} does not run python3: {error}") from error
    with tempfile.TemporaryDirectory() as folder:
        remedy = "see to the network, or to pip's index"
        bring(packages, version.decode().strip(), remedy, "download", "--no-deps", "--dest", folder)
        found: dict[str, bytes] = {"site/packages.txt": modules(packages)}
        for wheel in sorted(Path(folder).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if not name.endswith("/") and "/tests/" not in name:
                        found[f"site/{name}"] = archive.read(name)
    return found


def modules(packages: Sequence[str]) -> bytes:
    """Modules that the image loads before the first program: the packages and those parts of them."""
    return "\n".join(name for package in packages for name in (package, *PACKAGES[package])).encode()


def dockerfile(plain: bytes) -> bytes:
    """The image's Dockerfile with the packages in it. One thread: a template with several could not be forked."""
    sources = b"COPY *.py /kolmo/"
    return plain.replace(sources, sources + b"\nCOPY site/ /kolmo/site/\nENV OPENBLAS_NUM_THREADS=1")
