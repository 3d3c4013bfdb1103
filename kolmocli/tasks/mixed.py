"""Several sources of tasks as one: a data file and the families of a curriculum."""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.curriculum.base import Bucket
from kolmocli.errors import UsageError
from kolmocli.language.program import Program
from kolmocli.tasks.base import Split, Task, TaskSource


class MixedTasks:
    """The buckets of all sources. A program that one of them does not admit may not be learned."""

    def __init__(self, sources: Sequence[TaskSource]) -> None:
        self.split: Split = sources[0].split
        self._sources = list(sources)
        self._of: dict[str, TaskSource] = {}
        for source in sources:
            for family in dict.fromkeys(bucket.family for bucket in source.buckets()):
                if family in self._of:
                    raise UsageError(
                        f"data: two sources have buckets of the family {family!r}: the file and the curriculum, or "
                        "sequences and other tasks of the file; call one of them otherwise"
                    )
                self._of[family] = source

    def buckets(self) -> list[Bucket]:
        return [bucket for source in self._sources for bucket in source.buckets()]

    def task(self, bucket: Bucket, index: int) -> Task:
        return self._of[bucket.family].task(bucket, index)

    def size(self, bucket: Bucket) -> int | None:
        return self._of[bucket.family].size(bucket)

    def taught(self, bucket: Bucket) -> bool:
        return self._of[bucket.family].taught(bucket)

    def admits(self, program: Program, sequence: tuple[int, ...]) -> bool:
        return all(source.admits(program, sequence) for source in self._sources)
