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

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from accelerate.utils import gather_object
from datasets import Dataset, IterableDataset
from transformers import TrainerCallback

from kolmocli.curriculum.base import Bucket, Result
from kolmocli.errors import UsageError
from kolmocli.integrations.course import Course, messages
from kolmocli.tasks.base import Split, Task

STATE = "kolmo.json"
"""What a checkpoint's folder holds beside the trainer's own files."""
Place = tuple[str, int, int]
"""Family, level and index of a task of training."""


class Lessons(TrainerCallback):
    """One for each trainer. In every process it draws the same tasks, since it hears the results of all of them.

    Args:
        course: the tasks, the judge and the controller.
        ask: what TRL is given as the prompt of a task: messages for a chat model, or one text.
    """

    def __init__(self, course: Course, *, ask: Callable[[Task], Any] = messages) -> None:
        self.course, self._ask = course, ask
        self._groups = 1
        self._waiting: dict[Place, None] = {}
        """Tasks that were drawn and have no result yet, in order: TRL reads one batch ahead."""
        self._heard: Counter[tuple[Place, str]] = Counter()
        """Passes and judged rollouts of the present version of the policy."""

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
        """What the curriculum pays; None, which TRL leaves out, where the sandbox failed."""
        places = list(zip(family, level, index, strict=True))
        known = {(*place, s): self._task(place, s) for place, s in zip(places, split, strict=True)}
        tasks = [known[(*place, s)] for place, s in zip(places, split, strict=True)]
        outcomes = self.course.judge(tasks, [_text(completion) for completion in completions])
        if split[0] == "train":
            said = [(p, o.passed, o.reward is not None) for p, o in zip(places, outcomes, strict=True)]
            for place, passed, judged in gather_object(said):  # a group may be spread over several processes
                self._heard[tuple(place), "passes"] += passed and judged
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
        self._groups = args.generation_batch_size // args.num_generations
        args.ignore_data_skip = True  # a resumed run goes on with the state below; to skip would be to draw for nothing

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step:
            self.load(_folder(args, state))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One observation for each version of the policy that sampled something."""
        places = dict.fromkeys(place for place, _ in self._heard)
        results = [
            Result(Bucket(*place[:2]), self._heard[place, "passes"], self._heard[place, "rollouts"]) for place in places
        ]
        if results:
            self.course.observe(results)
            self._heard.clear()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.is_world_process_zero:
            kept = {"course": self.course.state_dict(), "waiting": list(self._waiting)}
            (_folder(args, state) / STATE).write_text(json.dumps(kept))

    def load(self, checkpoint: Path) -> None:
        """Go on where a checkpoint was: the same controller, and the tasks that had been drawn for it.

        Raises:
            UsageError: the folder has no state of a course, or that of another one.
        """
        try:
            kept: Mapping[str, Any] = json.loads((checkpoint / STATE).read_text())
            self.course.load_state_dict(kept["course"])
            self._waiting = {(str(f), int(n), int(i)): None for f, n, i in kept["waiting"]}
        except (OSError, KeyError, ValueError) as error:
            raise UsageError(f"{checkpoint / STATE} does not hold the state of this course: {error}") from None

    # --- rows

    def _rows(self) -> Iterator[dict[str, Any]]:
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
    """What makes the rows. `datasets` hashes it by pickling it: it pickles as a name, for nothing of it may be copied."""

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
    """What the policy wrote, as messages or as a text."""
    return completion if isinstance(completion, str) else "".join(str(message["content"]) for message in completion)


def _folder(args: Any, state: Any) -> Path:
    """Where TRL writes the checkpoint of this step."""
    return Path(args.output_dir) / f"checkpoint-{state.global_step}"
