"""Threads of the tensor library. Another number of them adds in another order, so the last digits of a
run depend on it as on the seed: a run writes the number down, and resumes with it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import torch

from kolmocli.config import Config


def with_threads(config: Config, before: int | None, note: Callable[[str], None], stack: ExitStack) -> Config:
    """Take as many threads as the configuration says, else as the run had `before`, else as this machine gives; and the
    configuration with that number. `stack` gives back what there were.

    A run that goes on says where its number is not what it was, or not what it would get here.
    """
    here = torch.get_num_threads()
    threads = config.threads or before or here
    if threads != here:
        torch.set_num_threads(threads)
        stack.callback(torch.set_num_threads, here)
    if before is not None and threads != before:
        note(f"threads: {before} -> {threads}; the last digits of the metrics may differ from those of one sitting")
    elif before is not None and threads != here:
        note(f"threads: {threads}, as the run began with, and not the {here} of this machine")
    return config.model_copy(update={"threads": threads})
