"""Send the weights to the generators: once per version, as a file in the memory of each host.

The trainer writes the tensors that it trains to one safetensors file in shared memory; every generator of the host
copies them from there into its own policy. No weight passes through a message on this machine; to another host
one message does, however many generators read the file there. docs/log.md has what else was measured.

A process that only writes files, as on another host, needs no torch: it is imported where tensors are.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from kolmocli.policy.policy import Policy

_SHARED_MEMORY = Path("/dev/shm")
_PREFIX, _NAME, _LOCK = "kolmo-weights-", "weights.safetensors", "lock"


class WeightFile:
    """The file of one host in which the newest weights lie, for as long as the process that made it lives."""

    def __init__(self) -> None:
        above = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else Path(tempfile.gettempdir())
        _sweep(above)
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=above))
        self.file = self.folder / _NAME
        self._lock = (self.folder / _LOCK).open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def put(self, policy: Policy) -> None:
        """Replace what lies there in one step: a generator that is reading goes on with the old ones."""
        from safetensors.torch import save_file

        tensors = {name: tensor.detach().contiguous() for name, tensor in trained(policy)}
        aside = self.folder / "aside"
        save_file(tensors, aside)
        aside.replace(self.file)

    def put_bytes(self, content: bytes) -> None:
        """The same, of a file that was written on another host."""
        aside = self.folder / "aside"
        aside.write_bytes(content)
        aside.replace(self.file)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


def _sweep(above: Path) -> None:
    """Remove what a killed trainer left in memory. The lock of a living one cannot be had."""
    for folder in above.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError), (folder / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def take(policy: Policy, file: Path) -> None:
    """Bring the policy to the weights in this file."""
    import torch
    from safetensors.torch import load_file

    tensors = load_file(file, device=str(policy.model.device))
    with torch.no_grad():
        for name, tensor in trained(policy):
            tensor.copy_(tensors[name])


def trained(policy: Policy) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors of a policy that training changes, by name: all weights, or its adapters; and its value head, where it has one.

    Tied weights come once.
    """
    for name, parameter in policy.model.named_parameters():
        if parameter.requires_grad:
            yield name, parameter
    if policy.value is not None:
        yield from policy.value.tensors().items()
