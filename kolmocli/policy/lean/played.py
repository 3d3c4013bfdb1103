"""Work that a GPU plays back. A step of a small model is a thousand kernels, and Python takes longer to start each than it runs.

A CUDA graph holds the kernels of one call, with the places in memory that they read and write. Playing it back starts all of
them at once. Nothing that the work uses may have moved since it was recorded, and no shape may have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import torch


class Played:
    """`work` on one tensor, for a GPU: done as it is at first, recorded the second time, and played back from then on.

    What the work leaves behind is in tensors that its next call overwrites. Work that cannot be recorded is done as it is each time.
    """

    def __init__(self, work: Callable[[torch.Tensor], None]) -> None:
        self._work = work
        self._calls = 0
        self._can = True
        self._graph: torch.cuda.CUDAGraph | None = None

    def forget(self) -> None:
        """Something has moved, or has another shape."""
        self._calls, self._graph = 0, None

    def __call__(self, given: torch.Tensor) -> None:
        self._calls += 1
        if self._calls == 2 and self._can:
            self._given = given.clone()
            self._can = self._record()
        if self._graph is None:
            self._work(given)
        else:
            self._given.copy_(given)
            self._graph.replay()

    def _record(self) -> bool:
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            try:
                graph.capture_begin(capture_error_mode="thread_local")
                self._work(self._given)
                graph.capture_end()
            except BaseException as error:
                with suppress(RuntimeError):
                    graph.capture_end()
                if not isinstance(error, RuntimeError):  # a stop, which comes between two layers
                    raise
                return False
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = graph
        return True
