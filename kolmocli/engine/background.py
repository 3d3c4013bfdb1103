"""Programs are judged while others are still being written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType

from kolmocli.pace import Look, unheard
from kolmocli.tasks.outcome import Outcome

_LOOK = 0.1
"""Seconds of waiting between two looks."""
_AT_ONCE = 32
"""Programs that are judged together: fewer would not keep every container busy, more would wait longer for each other."""

Judge = Callable[[Sequence[int], Sequence[str]], list[Outcome]]
"""From the numbers of some programs, and their texts, to their outcomes."""


class BackgroundJudge:
    """Hands finished programs to `judge`, in a thread of its own, as soon as enough have come together.

    An outcome depends on its program alone, so neither the order nor the company that they come in shows in it.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kolmo-judge")
        self._waiting: dict[int, str] = {}
        self._judged: list[tuple[list[int], Future[list[Outcome]]]] = []

    def take(self, number: int, text: str) -> None:
        """A program is finished; each of them once, in any order."""
        self._waiting[number] = text
        if len(self._waiting) >= _AT_ONCE:
            self._send()

    def outcomes(self, look: Look = unheard) -> list[Outcome]:
        """The outcomes of all programs so far, by their numbers. Waits for those not judged yet, and raises what `judge` raised.
        While it waits, `look` is called."""
        self._send()
        waiting = {future for _, future in self._judged}
        while waiting:
            _, waiting = wait(waiting, timeout=_LOOK)
            look()
        found = {n: o for numbers, future in self._judged for n, o in zip(numbers, future.result(), strict=True)}
        return [found[number] for number in sorted(found)]

    def _send(self) -> None:
        if self._waiting:
            numbers, texts = list(self._waiting), list(self._waiting.values())
            self._judged.append((numbers, self._thread.submit(self._judge, numbers, texts)))
            self._waiting = {}

    def __enter__(self) -> BackgroundJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What is under way when it ends early is for the owner of the sandbox to end.
        self._thread.shutdown(wait=error is None, cancel_futures=True)
