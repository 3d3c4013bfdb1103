"""Packages that an extra of `kolmocli` brings, and the one line that says which to install.

`pip install kolmocli` brings the controllers, the sandbox, `solve` and the archives. Every message about a package beyond
those is made here, so that all of them end with what to type.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from kolmocli.errors import EnvironmentMissing

_TRAIN = (
    "accelerate",
    "bitsandbytes",
    "gguf",
    "huggingface_hub",
    "jinja2",
    "peft",
    "safetensors",
    "tokenizers",
    "torch",
    "transformers",
)
EXTRAS = {
    **dict.fromkeys(_TRAIN, "train"),
    "matplotlib": "report",
    "math_verify": "math",
    "sympy": "math",
    "kaldi_native_fbank": "audio",
    "tensorboard": "tensorboard",
    "pyarrow": "parquet",
    "datasets": "datasets",
    "gymnasium": "gymnasium",
    "reasoning_gym": "reasoning-gym",
    "trl": "trl",
    "verifiers": "verifiers",
    "numcodecs": "numcodecs",
    "monarch": "monarch",
    "vllm": "vllm",
    "uvicorn": "serve",
}
"""The extra of every module that the base lacks and the package imports."""
PACKAGES = {"monarch": "torchmonarch"}
"""Package name of a module, where it is not the same with hyphens."""


def require(purpose: str, *modules: str, otherwise: str = "") -> None:
    """Raise EnvironmentMissing if one of these modules is not installed; nothing is imported.

    Args:
        purpose: the subject of the message: `a GGUF file`.
        otherwise: what the user can do instead of installing.
    """
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    if absent:
        raise missing(purpose, *absent, otherwise=otherwise)


@contextmanager
def needing(purpose: str, extra: str | None = None) -> Iterator[None]:
    """While entered, the import of a package that an extra brings raises EnvironmentMissing if it is not installed.

    `extra` is the one to name, for what takes packages of several extras.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in EXTRAS:
            raise
        raise missing(purpose, module, extra=extra) from None


def missing(purpose: str, *modules: str, otherwise: str = "", extra: str | None = None) -> EnvironmentMissing:
    """The error for these modules, the first of which says the extra unless `extra` does."""
    packages = [PACKAGES.get(module, module.replace("_", "-")) for module in modules]
    named = " and ".join(filter(None, [", ".join(packages[:-1]), packages[-1]]))
    instead = f", or {otherwise}" if otherwise else ""
    return EnvironmentMissing(f"{purpose} needs {named}: {install(extra or EXTRAS[modules[0]])}{instead}")


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'kolmocli[{extra}]'"
