"""Sums in one order: what a seed gives must not depend on which thread comes first.

Some gradients are added up with atomic operations by several threads at once, and the last digits of such a sum depend on who comes
first, so by what else the machine is doing. PyTorch takes an ordered form where it is asked to, and says where it has none.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.utils.deterministic

_UNORDERED = r"(\S+) does not have a deterministic implementation|Deterministic behavior was enabled .* uses (CuBLAS)"
_WORKSPACE = ("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
"""Setting that cuBLAS must find in the environment before its first product, or it may add in any order."""


@contextmanager
def sums_in_order(device: str, elsewhere: bool, note: Callable[[str], None]) -> Iterator[None]:
    """While entered, sums are added in one order: on a CPU always, elsewhere where that is asked for. Then as before.

    Fresh memory is not filled, which would cost time and hide nothing here. `note` gets one line for each operation that has
    no ordered form on the device; the run goes on with it.
    """
    if device != "cpu":
        if not elsewhere:
            yield
            return
        os.environ.setdefault(*_WORKSPACE)
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    settings: Any = torch.utils.deterministic
    filled = settings.fill_uninitialized_memory
    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
        settings.fill_uninitialized_memory = False
        with _named_once(device, note):
            yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        settings.fill_uninitialized_memory = filled


def rows_of(table: torch.Tensor, index_N: torch.Tensor) -> torch.Tensor:
    """`table[index_N]`, whose gradient adds the rows of one index in their order, whatever the number of threads; that of
    an index adds them as they come."""
    found = torch.nn.functional.embedding(index_N, table.flatten(1))
    return found.unflatten(1, table.shape[1:])


@contextmanager
def _named_once(device: str, note: Callable[[str], None]) -> Iterator[None]:
    named: set[str] = set()
    with warnings.catch_warnings():
        warnings.filterwarnings("always", message=_UNORDERED, category=UserWarning)
        others: Any = warnings.showwarning

        def show(message: Warning | str, *place: Any, **more: Any) -> None:
            found = re.match(_UNORDERED, str(message))
            if found is None:
                others(message, *place, **more)
            elif (name := found[1] or found[2]) not in named:
                named.add(name)
                note(f"{name} has no ordered form on {device}: the last digits may differ from run to run")

        warnings.showwarning = show
        yield
