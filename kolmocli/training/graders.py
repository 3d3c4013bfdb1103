"""Report graders that seem broken: events, an example of each, and the words of the table."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kolmocli.curriculum.base import Bucket
from kolmocli.curriculum.graders import Graders
from kolmocli.engine.base import Group
from kolmocli.monitor.events import Event, GraderEvent
from kolmocli.training.records import failing_of

REFERENCE = "reference"
"""Why a bucket is suspected whose own reference answers fail its judge."""


class GraderWatch:
    """Looks at the groups of every step, whatever the controller does about it.

    Args:
        kept: what a checkpoint keeps of it, plain JSON; it is changed in place.
        references: buckets whose reference answers failed before the first step.
        run_dir: of the command that shows an example.
    """

    def __init__(self, kept: dict[str, Any], references: Mapping[Bucket, str], run_dir: Path) -> None:
        self._kept, self._references, self._run_dir = kept, references, run_dir

    def observe(self, step: int, groups: Sequence[Group]) -> list[Event]:
        """News of this step, and an example of a failed answer of every suspected bucket as soon as there is one."""
        graders = self._graders()
        before = dict(graders.suspected)
        news = graders.observe([group.result() for group in groups])
        shown = {bucket for bucket in map(_bucket, self._kept.get("shown", ())) if bucket in graders.suspected}
        found: list[Event] = []
        for bucket, suspicion in news.items():
            if suspicion is None:
                text = "passes again" if before[bucket].why == "broken" else "answers reach the check"
            else:
                text = f"{suspicion} {self._see(bucket)}"
            why = "repaired" if suspicion is None else suspicion.why
            found.append(_event(step, bucket, why, f"{bucket}: {text}"))
        for bucket in sorted(graders.suspected.keys() - shown):
            example = failing_of((g for g in groups if g.task.bucket == bucket), step)
            if example is not None:
                found.append(example)
                shown.add(bucket)
        self._kept.update(graders.state_dict(), shown=[[b.family, b.level] for b in sorted(shown)])
        return found

    def before(self, step: int) -> list[Event]:
        """Events about failing references, before the first step of a sitting."""
        return [_event(step, bucket, REFERENCE, f"{bucket}: {why}") for bucket, why in self._references.items()]

    def of_families(self) -> dict[str, dict[str, str]]:
        """By family and level why its grader is suspected."""
        found: dict[str, dict[str, str]] = {}
        why = {**dict.fromkeys(self._references, REFERENCE), **{b: s.why for b, s in self._graders().suspected.items()}}
        for bucket, word in sorted(why.items()):
            found.setdefault(bucket.family, {})[str(bucket.level)] = word
        return found

    def _graders(self) -> Graders:
        graders = Graders()
        if "seen" in self._kept:
            graders.load_state_dict(self._kept)
        return graders

    def _see(self, bucket: Bucket) -> str:
        return f"kolmo watch {shlex.quote(str(self._run_dir))} --failing {shlex.quote(str(bucket))}"


def _bucket(row: Sequence[Any]) -> Bucket:
    return Bucket(str(row[0]), int(row[1]))


def _event(step: int, bucket: Bucket, why: str, text: str) -> GraderEvent:
    return GraderEvent(step=step, family=bucket.family, level=bucket.level, why=why, text=text)
