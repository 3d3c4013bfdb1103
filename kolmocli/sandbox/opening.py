"""Choosing and opening a sandbox. There is no unsafe local backend to fall back to."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from kolmocli.errors import EnvironmentMissing, KolmoError, UsageError
from kolmocli.sandbox.backends import Backend as Backend, is_address, what_is_wrong
from kolmocli.sandbox.base import Limits, Sandbox
from kolmocli.sandbox.pool.pool import Pool
from kolmocli.sandbox.pool.retries import Retries
from kolmocli.sandbox.pool.routed import Routed

_SLOTS = 4
"""Programs at once in one container: one that burns its whole time holds up a quarter of it."""
_WINDOW = {"docker": 48, "embedded": 8, "native": 2}
"""Programs on their way to one container: hides the hop through the engine."""
_log = logging.getLogger("kolmocli.sandbox")


def open_sandbox(
    backend: Backend = "auto",
    *,
    limits: Limits | None = None,
    most: Limits | None = None,
    workers: int | None = None,
    warn: Callable[[str], None] = _log.warning,
    image: str | None = None,
    packages: Sequence[str] = (),
    runtime: str | None = None,
    retries: Retries | None = None,
    token_file: str | Path | None = None,
) -> Sandbox:
    """Open a sandbox with `workers` containers or processes (default: one for each CPU, two at least).

    `auto` takes docker when an engine answers and the image is there or can be built from a local base, else
    embedded, and warns in one line (default: the logger `kolmocli.sandbox`). `limits` hold for every program without limits of its own,
    and `most` bounds those (default: `limits`).
    `runtime` names another OCI runtime of the engine, such as runsc, and `packages` what programs may import beyond the
    standard library, numpy, and languages beyond Python: cpp, node. Both need docker.

    `backend` may also be the address of a server, `http://host:port`: then `workers` are connections (default: 8), and the token
    is in `token_file`, or in the environment variable KOLMO_SANDBOX_TOKEN.

    Raises:
        EnvironmentMissing: the requested sandbox is missing here, or no server answers.
        UsageError: an unknown backend, image or package, or options that exclude each other.
    """
    if workers is not None and workers < 0:
        raise UsageError(f"workers={workers}: a number from 1 on, or None for the usual one")
    if is_address(backend):
        from kolmocli.sandbox.service.client import open_client

        if runtime or image:
            raise UsageError(f"{backend} has the runtime and the image that it was started with; remove yours")
        return open_client(backend, token_file, limits, most, workers, packages, retries)
    if token_file is not None:
        raise UsageError(f"the sandbox {backend} takes no token; that is for the address of a server")
    return open_pool(
        backend, limits=limits, most=most, workers=workers, warn=warn, image=image, packages=packages, runtime=runtime,
        retries=retries,
    )  # fmt: skip


def open_pool(
    backend: Backend,
    *,
    limits: Limits | None = None,
    most: Limits | None = None,
    workers: int | None = None,
    warn: Callable[[str], None] = _log.warning,
    image: str | None = None,
    packages: Sequence[str] = (),
    runtime: str | None = None,
    retries: Retries | None = None,
) -> Pool | Routed:
    """A sandbox on this machine: `open_sandbox` without addresses."""
    if wrong := what_is_wrong(backend):
        raise UsageError(f"sandbox: {wrong}")
    if runtime and backend == "embedded":
        raise UsageError(f"the embedded sandbox has no runtime {runtime!r}: that is a part of a Docker engine")
    if packages and backend == "embedded":
        raise UsageError(f"the embedded sandbox has no {', '.join(packages)}: packages are a part of a Docker image")
    if image and backend == "embedded":
        raise UsageError(f"the embedded sandbox has no image {image}: that is a part of a Docker engine")
    toolchains: tuple[str, ...] = ()
    if packages:
        from kolmocli.sandbox.docker.packages import split

        backend = "docker"
        packages, toolchains = split(packages)
    if image and packages:
        raise UsageError(
            f"either the image {image} or packages: it has those that it was built with (kolmo sandbox build --with)"
        )
    limits = limits or Limits()
    size = workers or max(2, os.cpu_count() or 1)
    if backend == "auto" and not runtime and (reason := _why_not_docker(image, warn)):
        warn(
            f"sandbox: embedded, because {reason}. Its Python differs at the edges (docs/sandbox.md); "
            "start a Docker engine for the real one"
        )
        backend = "embedded"
    if backend == "embedded":
        return _embedded(limits, most or limits, size, retries)
    if backend == "docker" or runtime:
        _ensure_docker(image, tuple(packages), warn)
    if runtime:
        _require_runtime(runtime)
    if toolchains:
        native_image = _ensure_native(toolchains, warn)
    from kolmocli.sandbox.docker.image import image_tag
    from kolmocli.sandbox.docker.sweeper import sweep

    sweep()
    pool = _docker(limits, most or limits, size, image or image_tag(tuple(packages)), runtime, retries)
    if not toolchains:
        return pool
    return Routed(pool, lambda: _docker(limits, most or limits, size, native_image, runtime, retries, toolchains))


def _embedded(limits: Limits, most: Limits, size: int, retries: Retries | None) -> Pool:
    from kolmocli.sandbox.embedded.processes import ProcessMaker

    return Pool("embedded", ProcessMaker(most), limits, size, _WINDOW["embedded"], retries, most)


def _docker(
    limits: Limits, most: Limits, size: int, image: str, runtime: str | None, retries: Retries | None,
    toolchains: Sequence[str] = (),
) -> Pool:  # fmt: skip
    """Containers for Python, or for other languages: those have one program at a time, as compilers take much memory, and
    programs have all of their processor."""
    from kolmocli.sandbox.docker.containers import ContainerMaker
    from kolmocli.sandbox.docker.toolchains import languages

    spoken = languages(toolchains)
    slots, window = (1, _WINDOW["native"]) if spoken else (_SLOTS, _WINDOW["docker"])
    maker = ContainerMaker(image, most, slots, runtime, spoken)
    return Pool("docker", maker, limits, size, window, retries, most, spoken)


def _why_not_docker(image: str | None, warn: Callable[[str], None]) -> str | None:
    """None when docker can be used now, after building the image if that needs no network."""
    from kolmocli.sandbox.docker.image import build, client, has_image, image_tag, local_base, why_no_engine

    if why_no_engine():
        return "no Docker engine answers"
    with contextlib.closing(client()) as api:
        if has_image(api, image or image_tag()):
            return None
        if image:
            return f"the image {image} is not there"
        base = local_base(api)
    if not base:
        return "there is no sandbox image and no base image to build it on (kolmo sandbox build)"
    try:
        build(base, log=lambda line: warn(f"sandbox: {line}"))
    except KolmoError as error:
        return str(error)
    return None


def _require_runtime(runtime: str) -> None:
    from kolmocli.sandbox.docker.image import client

    with contextlib.closing(client()) as api:
        known = sorted(api.info().get("Runtimes") or {})
    if runtime not in known:
        raise EnvironmentMissing(
            f"the Docker engine has no runtime {runtime!r}, only {', '.join(known)}; register it with the engine "
            "(/etc/docker/daemon.json), or remove the runtime"
        )


def _ensure_docker(image: str | None, packages: tuple[str, ...], warn: Callable[[str], None]) -> None:
    from kolmocli.sandbox.docker.image import build, client, has_image, image_tag, no_engine, why_no_engine

    if reason := why_no_engine():
        raise no_engine(reason)
    with contextlib.closing(client()) as api:
        missing = not has_image(api, image or image_tag(packages))
    if missing and image:
        raise UsageError(f"the image {image} is not there; build it with: kolmo sandbox build --tag {image}")
    if missing:
        build(packages=packages, log=lambda line: warn(f"sandbox: {line}"))


def _ensure_native(toolchains: tuple[str, ...], warn: Callable[[str], None]) -> str:
    """The image for these languages: one that has more will do, and where there is none it is built."""
    from kolmocli.sandbox.docker.image import build_native, client, has_image
    from kolmocli.sandbox.docker.toolchains import TOOLCHAINS, native_tag

    with contextlib.closing(client()) as api:
        for names in dict.fromkeys((toolchains, tuple(TOOLCHAINS))):
            if has_image(api, native_tag(names)):
                return native_tag(names)
    return build_native(toolchains, log=lambda line: warn(f"sandbox: {line}"))
