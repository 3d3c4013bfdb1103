"""Wheels of Python packages for the Python of an image, by this machine's pip.

Wheels alone, so that nothing of a package runs before it is in a container.
"""

from __future__ import annotations

import importlib.util
import platform
import subprocess
import sys
from collections.abc import Sequence

from kolmocli.errors import EnvironmentMissing

_PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_27", "manylinux_2_28")
_REASON = 300


def bring(names: Sequence[str], version: str, remedy: str, *options: str) -> None:
    """Run pip with its command and options in `options` for these requirements and Python `version`; an error ends with `remedy`.

    Raises:
        EnvironmentMissing: there is no pip, or it finds no wheel.
    """
    wanted, machine = ", ".join(names), platform.machine()
    if importlib.util.find_spec("pip") is None:
        raise EnvironmentMissing(
            f"{wanted}: this environment has no pip to bring it with; run {sys.executable} -m ensurepip"
        )
    command = [sys.executable, "-m", "pip", *options, "--quiet", "--only-binary=:all:"]
    command += ["--python-version", version, "--implementation", "cp"]
    command += [word for name in _PLATFORMS for word in ("--platform", f"{name}_{machine}")]
    done = subprocess.run([*command, *names], capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no reason given"]
        raise EnvironmentMissing(
            f"pip finds no wheel of {wanted} for Python {version} on {machine}: {errors[0].removeprefix('ERROR: ')[:_REASON]}; {remedy}"
        )
