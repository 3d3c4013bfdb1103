"""Whether what a policy needs is on this machine. Torch is imported only where it has to be asked."""

from __future__ import annotations

from kolmocli.errors import EnvironmentMissing
from kolmocli.extras import require


def require_device(name: str) -> None:
    """Raise EnvironmentMissing when the device with this name is not there; `auto` and `cpu` always are."""
    if name in ("auto", "cpu"):
        return
    import torch

    there = torch.cuda.is_available() if name == "cuda" else torch.backends.mps.is_available()
    if not there:
        raise EnvironmentMissing(
            f"device {name} is not available on this machine (torch {torch.__version__}); use --device auto or cpu"
        )


def require_adapters() -> None:
    """Raise EnvironmentMissing where what low-rank adapters need is not installed."""
    require("an adapter", "peft", "accelerate")
