"""A run: how far it is, its random numbers, when it is saved and where it stops."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from kolmocli.console import warn
from kolmocli.curriculum.base import Bucket, Result
from kolmocli.engine.base import Group
from kolmocli.errors import KolmoError
from kolmocli.monitor.events import CheckpointEvent, LearnerEvent, StoppedEvent
from kolmocli.pace import Pace
from kolmocli.seeds import derived_seed
from kolmocli.tasks.base import Task, TaskSource
from kolmocli.training.divergence import Diverged, Divergence
from kolmocli.training.moment import Moment
from kolmocli.training.recorder import Recorder
from kolmocli.training.signals import StopRequest
from kolmocli.training.state import RunState


class Stopped(KolmoError):
    """The run was asked to stop, and has saved a complete checkpoint."""

    def __init__(self, exit_code: int, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class BrokenOff(Exception):
    """A signal came in the middle of something long."""


class ReachedStop(Exception):
    """`--stop-at` was reached: a normal end of this sitting."""


class Run:
    """Owns `state`, and is alone in moving its counters; the warm start moves its own."""

    def __init__(
        self,
        folder: Path,
        state: RunState,
        recorder: Recorder,
        source: TaskSource,
        *,
        seed: int,
        last: int,
        checkpoint_every: int,
        stop: StopRequest,
        stop_at: int | None,
        pace: Pace,
        moment: Callable[[], Moment],
        write_checkpoint: Callable[[], Path],
        go_on: str,
        mastered: int | None = None,
    ) -> None:
        """`last` is the number of REINFORCE steps, `go_on` the command that resumes the run. Whatever works long looks up by
        `pace`, and `moment` is now, to go back to. `mastered` steps in a row with every family mastered end the run (None:
        they do not)."""
        self.folder, self.state, self.recorder, self.source = folder, state, recorder, source
        self.last, self.stop = last, stop
        self.checkpoint: Path | None = None
        self._seed, self._every, self._stop_at = seed, checkpoint_every, stop_at
        self._write_checkpoint, self.go_on, self._mastered = write_checkpoint, go_on, mastered
        self.divergence = Divergence(self._note_divergence)
        self.pace, self._take_moment = pace, moment
        self._moment: Moment | None = None
        pace.listener = self._look

    def steps(self, between: Callable[[int], None] = lambda step: None) -> Iterator[int]:
        """The REINFORCE steps that are left. A step is done when the next one is asked for: it counts then, `between` is
        called, and the run is saved where that is due.

        Raises:
            ReachedStop: at `--stop-at`, when the run has been saved.
            Stopped: after a signal, when the run has been saved.
        """
        while not self._is_over():
            if self._stop_at is not None and self.state.step >= self._stop_at:
                self.save()
                self._note_stop(f"stopped at step {self.state.step}, as asked")
                raise ReachedStop
            step = self.state.step + 1
            with self.all_or_nothing():
                yield step
            self.state.step = step
            between(step)
            if step < self.last:
                self.save_where_due(step)
            self.check_stop()

    def _is_over(self) -> bool:
        """Whether no step is left. A sitting may begin with it: after a stop at the last step, or when the run was done."""
        step = self.state.step
        if step < self.last and self._mastered is not None and self.recorder.totals.mastered_steps >= self._mastered:
            self.recorder.note(f"every family is mastered: stopped at step {step} of {self.last}")
            self.last = step
        return step >= self.last

    # --- randomness: derived from the seed, the purpose and the step; nothing to save
    def seed(self, purpose: str, step: int) -> int:
        return derived_seed(self._seed, purpose, step)

    def rng(self, purpose: str, step: int) -> random.Random:
        return random.Random(self.seed(purpose, step))

    def draw(self, bucket: Bucket) -> Task:
        """The next task of this bucket."""
        index = self.state.drawn.get(str(bucket), 0)
        self.state.drawn[str(bucket)] = index + 1
        return self.source.task(bucket, index)

    @cached_property
    def _families(self) -> set[str]:
        return {bucket.family for bucket in self.source.buckets()}

    def results(self, groups: Sequence[Group]) -> list[Result]:
        """What the controller hears of these: a method may have a family of its own, which nothing steers."""
        return [group.result() for group in groups if group.task.bucket.family in self._families]

    @property
    def epochs(self) -> float | None:
        """Tasks drawn of those that run out, by how many there are; None where none does."""
        sizes = {
            str(bucket): size for bucket in self.source.buckets() if (size := self.source.size(bucket)) is not None
        }
        return sum(self.state.drawn.get(name, 0) for name in sizes) / sum(sizes.values()) if sizes else None

    # --- saving and stopping
    def save_where_due(self, step: int) -> None:
        """Save if this step, of the warm start or of REINFORCE, is one after which runs are saved."""
        if self._every and step % self._every == 0:
            self.save()

    def save(self) -> Path:
        self.recorder.flush()  # a checkpoint may not outlive the steps that led to it
        self.checkpoint = self._write_checkpoint()
        name = self.checkpoint.name
        self.recorder.event(CheckpointEvent(step=self.state.step, text=f"checkpoint {name}", path=name))
        return self.checkpoint

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """A step. Where a stop breaks it off, the run goes back to the moment before it."""
        self._moment = self._take_moment()
        yield
        self._moment = None

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """All that a run does: what is under way when a signal comes is thrown away, to be done again by who resumes it.

        What fails, such as a family of the user's own, costs no step that was done: the run is saved as it was before.

        Raises:
            Stopped: after a signal, when the run has been saved.
        """
        try:
            yield
            return
        except BrokenOff:
            pass  # with it goes what the step has computed, which may be most of the memory
        except (Stopped, Diverged, ReachedStop, OSError):  # saved, or without room for it
            raise
        except Exception as error:
            self._rescue(error)
            raise
        if self._moment is not None:
            self._moment.go_back()
        self.check_stop()

    def _rescue(self, error: Exception) -> None:
        """Save what was done before the step that failed, unless it failed between learning and counting."""
        if self._has_learnt or not (self.state.step or self.state.warm_steps):
            return
        if self._moment is not None:
            self._moment.go_back()
        try:
            folder = self.save()
        except (KolmoError, OSError):
            return  # a full disk, perhaps; what comes out is the error that ended the run
        self._note_stop(f"stopped by an error: {type(error).__name__}")
        warn(f"kolmo: saved {folder}; go on with: {self.go_on}")

    @property
    def _has_learnt(self) -> bool:
        return self._moment is not None and self._moment.is_past

    def _look(self) -> None:
        """Between two parts of something long."""
        if self.stop.signal is not None and not self._has_learnt:
            raise BrokenOff
        self.recorder.reached(self.pace.reached)

    def check_stop(self) -> None:
        """End the sitting after saving, where there is a reason to.

        Raises:
            Stopped: a signal has asked for it.
            Diverged: the policy does not learn any more, because its numbers are not finite.
        """
        self.recorder.engine_events()
        if self.divergence.ends:
            error = self.divergence.error(str(self.save()))
            self._note_stop(str(error))
            raise error
        if self.stop.signal is not None:
            folder, text = self.save(), f"stopped by {self.stop.name}"
            self._note_stop(text)
            raise Stopped(128 + self.stop.signal, f"{text}; saved {folder}; go on with: {self.go_on}")

    def _note_divergence(self, step: int, text: str) -> None:
        self.recorder.note(text)
        self.recorder.event(LearnerEvent(step=step if self.state.phase == "rl" else 0, text=text))

    def _note_stop(self, text: str) -> None:
        self.recorder.event(StoppedEvent(step=self.state.step, text=text))
