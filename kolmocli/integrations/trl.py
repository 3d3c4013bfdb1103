"""A course inside TRL's GRPOTrainer or RLOOTrainer, 1.9 or newer: a stream of tasks, a reward function, and a callback.

    with kolmo.open_course("digits") as course:
        lessons = Lessons(course)
        trainer = GRPOTrainer(
            model, reward_funcs=lessons.reward, train_dataset=lessons.stream(), callbacks=[lessons],
            args=GRPOConfig(..., max_steps=200, shuffle_dataset=False),
        )

docs/trl.md has a whole script, and says what of TRL decides how this is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from accelerate.utils import gather_object
from datasets import Dataset, IterableDataset
from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.errors import UsageError
from kolmocli.integrations.course import Course
from kolmocli.tasks.base import Split, Task
from kolmocli.tasks.chat import messages

Place = tuple[str, int, int]
"""Family, level and index of a task of training."""


class Lessons(TrainerCallback, ExportableState):
    """One for each trainer. In every process it draws the same tasks, since it hears the results of all of them.

    Args:
        course: the tasks, the judge and the controller.
        ask: what TRL is given as the prompt of a task: messages for a chat model, or one text.
    """

    def __init__(self, course: Course, *, ask: Callable[[Task], Any] = messages) -> None:
        self.course, self._ask = course, ask
        self._groups: int | None = None
        """Groups of a batch; None: no trainer has called."""
        self._waiting: dict[Place, None] = {}
        """Tasks that were drawn and have no result yet, in order: TRL reads one batch ahead."""
        self._heard: Counter[tuple[Place, str]] = Counter()
        """Passes, judged and unread rollouts of the present version of the policy."""

    def stream(self) -> IterableDataset:
        """Tasks without end, as many at a time as TRL samples for at once."""
        return IterableDataset.from_generator(_Stream(self._rows))

    def held_out(self, count: int) -> Dataset:
        """Tasks that are never trained on, spread over all levels, for `eval_dataset`."""
        return Dataset.from_list([self._row(task, "eval") for task in self.course.held_out(count)])

    def reward(
        self, completions: Sequence[Any], family: Sequence[str], level: Sequence[int], index: Sequence[int],
        split: Sequence[Split], log_metric: Callable[[str, float], None] | None = None, **_: Any,
    ) -> list[float | None]:  # fmt: skip
        """Reward of the curriculum for each of n completions; None, which TRL skips, where the sandbox lost one.

        The columns of the data set have n items each, and say which task a completion is of. Raises EnvironmentMissing when
        no sandbox can be had any more.
        """
        places = list(zip(family, level, index, strict=True))
        known = {(*place, s): self._task(place, s) for place, s in zip(places, split, strict=True)}
        tasks = [known[(*place, s)] for place, s in zip(places, split, strict=True)]
        outcomes = self.course.judge(tasks, [_text(completion) for completion in completions])
        if split[0] == "train":
            said = [(p, o.passed, o.unread, o.reward is not None) for p, o in zip(places, outcomes, strict=True)]
            for place, passed, unread, judged in gather_object(said):  # a group may be spread over several processes
                self._heard[tuple(place), "passes"] += passed and judged
                self._heard[tuple(place), "unread"] += unread and judged
                self._heard[tuple(place), "rollouts"] += judged
                self._waiting.pop(tuple(place), None)
            for name, value in self.course.metrics().items() if log_metric is not None else ():
                log_metric(f"kolmo/{name}", value)  # type: ignore[misc]
        return [outcome.reward for outcome in outcomes]

    # --- what the trainer calls

    def on_init_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Raises UsageError for a configuration in which the controller would not steer what is sampled."""
        if args.shuffle_dataset:
            raise UsageError("TRL would shuffle a buffer of tasks drawn long ago; set shuffle_dataset=False")
        if args.restore_callback_states_from_checkpoint:
            raise UsageError(
                "TRL would make another callback of what a checkpoint holds; remove restore_callback_states_from_checkpoint:"
                " this one restores itself"
            )
        if args.remove_unused_columns:
            raise UsageError("TRL would drop the columns that name a task; set remove_unused_columns=False")
        self._groups = args.generation_batch_size // args.num_generations
        args.ignore_data_skip = True  # a resumed run goes on with the state below; to skip would be to draw for nothing

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Go on where the checkpoint was: the same controller, and the tasks that had been drawn.

        Raises:
            UsageError: the checkpoint has no state of a course, or that of another one.
        """
        if not state.global_step:
            return
        try:
            kept: Mapping[str, Any] = state.stateful_callbacks[type(self).__name__]
            self.course.load_state_dict(kept["course"])
            self._waiting = {(str(f), int(n), int(i)): None for f, n, i in kept["waiting"]}
        except (KeyError, TypeError, ValueError) as error:
            missing = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise UsageError(
                f"the checkpoint of step {state.global_step} does not hold the state of this course: {missing}; go on from one"
                " that was written with callbacks=[lessons] for this curriculum, or begin again"
            ) from None

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One observation for each version of the policy that sampled something."""
        places = dict.fromkeys(place for place, _ in self._heard)
        heard = self._heard
        results = [
            Result(Bucket(*at[:2]), heard[at, "passes"], heard[at, "rollouts"], unread=heard[at, "unread"])
            for at in places
        ]
        if results:
            self.course.observe(results)
            self._heard.clear()

    def state(self) -> dict[str, Any]:
        """State for every checkpoint of the trainer: plain JSON, in its `trainer_state.json`."""
        return {"course": self.course.state_dict(), "waiting": list(self._waiting)}

    # --- rows

    def _rows(self) -> Iterator[dict[str, Any]]:
        if self._groups is None:
            raise UsageError("the controller hears nothing: give the trainer callbacks=[lessons] when it is made")
        yield from [self._row(self._task(place, "train"), "train") for place in self._waiting]
        while True:
            tasks = self.course.draw(self._groups)
            self._waiting |= {(task.bucket.family, task.bucket.level, task.index): None for task in tasks}
            yield from [self._row(task, "train") for task in tasks]

    def _row(self, task: Task, split: Split) -> dict[str, Any]:
        bucket = task.bucket
        return {
            "prompt": self._ask(task), "family": bucket.family, "level": bucket.level, "index": task.index, "split": split
        }  # fmt: skip

    def _task(self, place: Place, split: Split) -> Task:
        return self.course.task(Bucket(*place[:2]), place[2], split)


class _Stream:
    """Maker of the rows. `datasets` hashes it by pickling it: it pickles as a name, for nothing of it may be copied."""

    def __init__(self, rows: Callable[[], Iterator[dict[str, Any]]]) -> None:
        self._rows = rows
        _STREAMS[id(self)] = self

    def __call__(self) -> Iterator[dict[str, Any]]:
        return self._rows()

    def __reduce__(self) -> tuple[Any, ...]:
        return _stream, (id(self),)


_STREAMS: WeakValueDictionary[int, _Stream] = WeakValueDictionary()


def _stream(number: int) -> _Stream:
    return _STREAMS[number]


def _text(completion: Any) -> str:
    """Text of a completion, given as messages or as a text."""
    return completion if isinstance(completion, str) else "".join(str(message["content"]) for message in completion)
