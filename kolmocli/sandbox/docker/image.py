"""The image of the sandbox: where its sources are, which tag they have, and how it is built.

The tag carries a digest of everything that goes in, so that an image of older sources is never mistaken
for the present one.
"""

from __future__ import annotations

import contextlib
import importlib.resources
import io
import os
import re
import socket
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import docker
from docker.constants import MINIMUM_DOCKER_API_VERSION
from docker.errors import BuildError, DockerException, ImageNotFound

from kolmocli.errors import EnvironmentMissing, KolmoError
from kolmocli.paths import data_dir
from kolmocli.sandbox.docker.packages import dockerfile, files_of, modules
from kolmocli.sandbox.docker.toolchains import (
    LOCAL_BASE as NATIVE_BASE,
    how,
    native_sources,
    native_tag,
    require,
    tag_of,
)
from kolmocli.sandbox.docker.unix_socket import close_what_fails

REPOSITORY = "kolmo-sandbox"
DEFAULT_BASE = "python:3.12-slim"
LOCAL_BASE = "kolmo-base:bookworm"
"""Base image of `base-image.sh`, for machines without a registry."""
_SHARED = ("language/functions.py", "sandbox/wire/statements.py", "sandbox/wire/values.py", "sandbox/wire/frames.py")
"""Files of the package that the image runs too: one source for both sides."""


def image_source() -> Path:
    """The folder with the Dockerfile: next to the package in a checkout, inside it in an installed wheel."""
    folder = data_dir("sandbox_image")
    if (folder / "Dockerfile").is_file():
        return folder
    raise KolmoError(f"the sources of the sandbox image are missing in {folder}; install kolmo again")


@cache
def sources() -> dict[str, bytes]:
    """Every file of the build context by name."""
    folder = image_source()
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".py"}
    files["Dockerfile"] = (folder / "Dockerfile").read_bytes()
    package = Path(str(importlib.resources.files("kolmocli")))
    return files | {Path(name).name: (package / name).read_bytes() for name in _SHARED}


@cache
def image_tag(packages: tuple[str, ...] = ()) -> str:
    """`kolmo-sandbox:<digest of the sources>`, with the packages that are in it."""
    return tag_of(REPOSITORY, sources(), packages, modules(packages))


def client(timeout: int = 30) -> docker.DockerClient:
    """A client of the engine at DOCKER_HOST, else of the usual socket. Not to be shared between threads.

    Raises:
        DockerException: no engine answers there. Nothing is left open then.
    """
    try:
        with contextlib.closing(_client(timeout, MINIMUM_DOCKER_API_VERSION)) as first:
            version = first.api.version(api_version=False)["ApiVersion"]
    except Exception as error:  # whatever docker-py meets on the way; it does the same with its own question
        raise DockerException(f"its version cannot be asked for: {error}") from error
    return _client(timeout, version)


def _client(timeout: int, version: str) -> docker.DockerClient:
    """One that has not asked for anything: docker-py's own question for the version leaves its socket open."""
    found = docker.DockerClient(base_url=os.environ.get("DOCKER_HOST") or None, timeout=timeout, version=version)
    close_what_fails(found)
    return found


def why_no_engine() -> str | None:
    """None when an engine answers, else why not, in a few words."""
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if host.startswith("unix://"):  # asked directly first: the system says shortly what docker-py wraps three times
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(5)
            try:
                probe.connect(host.removeprefix("unix://"))
            except OSError as error:
                return _words(error)
    try:
        with contextlib.closing(client(timeout=5)) as api:
            api.ping()
    except (DockerException, OSError) as error:
        return _words(error)
    return None


def no_engine(reason: str) -> EnvironmentMissing:
    return EnvironmentMissing(
        f"no Docker engine answers ({reason}); install and start one (Debian: apt-get install docker.io, then dockerd), "
        "set DOCKER_HOST, or use --sandbox embedded"
    )


def has_image(api: docker.DockerClient, tag: str) -> bool:
    try:
        api.images.get(tag)
    except ImageNotFound:
        return False
    return True


def local_base(api: docker.DockerClient) -> str | None:
    """The usual base image to build on that is there without any network."""
    return next((base for base in (DEFAULT_BASE, LOCAL_BASE) if has_image(api, base)), None)


def build(
    base: str | None = None,
    tag: str | None = None,
    log: Callable[[str], None] = lambda _: None,
    packages: tuple[str, ...] = (),
) -> str:
    """Build the image, with these packages in it, and return its tag.

    Without `base`, a local base image is taken when there is one, else the engine is asked to fetch the default.

    Raises:
        EnvironmentMissing: no engine answers, or it cannot be built here.
    """
    if reason := why_no_engine():
        raise no_engine(reason)
    tag = tag or image_tag(packages)
    with contextlib.closing(client(timeout=600)) as api:
        base = base or local_base(api) or DEFAULT_BASE
        log(f"building {tag} on {base}")
        files = sources()
        if packages:
            files = files | files_of(packages, api, base) | {"Dockerfile": dockerfile(files["Dockerfile"])}
        _build(api, base, tag, files)
    return tag


def build_native(
    toolchains: tuple[str, ...],
    base: str | None = None,
    tag: str | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> str:
    """Build the image for other languages, with these toolchains, and return its tag.

    Raises:
        EnvironmentMissing: no engine answers, or there is no base with these toolchains.
    """
    if reason := why_no_engine():
        raise no_engine(reason)
    tag = tag or native_tag(toolchains)
    with contextlib.closing(client(timeout=600)) as api:
        if base is None and not has_image(api, NATIVE_BASE):
            names = " and ".join(toolchains)
            raise EnvironmentMissing(
                f"there is no base image with {names}; {how(toolchains)}, or name one with --base-image"
            )
        base = base or NATIVE_BASE
        require(base, toolchains, api)
        log(f"building {tag} on {base}")
        _build(api, base, tag, native_sources())
    return tag


def _build(api: docker.DockerClient, base: str, tag: str, files: dict[str, bytes]) -> None:
    arguments: dict[str, Any] = {"fileobj": io.BytesIO(_context(files)), "custom_context": True, "rm": True}
    try:
        api.images.build(tag=tag, buildargs={"BASE_IMAGE": base}, forcerm=True, **arguments)
    except (BuildError, DockerException) as error:
        raise EnvironmentMissing(
            f"the sandbox image cannot be built on {base}: {_reason(error)}; where no registry can be reached, make a "
            "base with sandbox_image/base-image.sh, or name one with --base-image"
        ) from error


def _context(files: dict[str, bytes]) -> bytes:
    """The build context as a tar file that depends on nothing but these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _reason(error: Exception) -> str:
    """The last line that a step of the build said, where one failed."""
    said = "".join(entry.get("stream", "") for entry in error.build_log) if isinstance(error, BuildError) else ""
    lines = [line for line in re.sub(r"\x1b\[\d*m", "", said).splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else _words(error)


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
