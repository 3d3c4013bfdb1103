"""A sampler for any map-style data set, in any trainer that takes one: it draws the prompts that the policy passes half the time.

    sampler = PassRateSampler(dataset, level="level")
    for index in sampler: ...                                  # without end
    sampler.observe([index], passes=[3], rollouts=[8])         # after every update

It has the two verbs of stateful data loaders (torchdata), `state_dict` and `load_state_dict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from numbers import Integral
from typing import Any, Unpack

from torch.utils.data import Sampler

from kolmocli.curriculum.finite.cells import Column
from kolmocli.curriculum.finite.prompts import Options, Prompts
from kolmocli.errors import UsageError, suggest


class PassRateSampler(Sampler[int]):
    """Indices without end, each of a prompt whose pass rate is expected near the target.

    With the same seed and the same results every process draws the same: gather the results of all before `observe`.

    Args:
        data: a map-style data set, anything with a length, or how many prompts there are.
        family, level, pass_rate: what is known of the prompts beforehand: the name of a column of `data`, a sequence with an entry
            for each prompt, or nothing. Prompts of one family and level share what is learned from them; a pass rate that was
            measured before is the first belief.
        options: `target`, the pass rate to hold (0.5); `seed` of the draws (0); `probes`, `memory` and `sharpness`, as in `Prompts`.

    Raises:
        UsageError: a column is missing or does not fit, or a number is out of its range.
    """

    def __init__(
        self,
        data: Sized | int,
        *,
        family: str | Column | None = None,
        level: str | Column | None = None,
        pass_rate: str | Column | None = None,
        **options: Unpack[Options],
    ) -> None:
        size = int(data) if isinstance(data, int | Integral) else len(data)
        self.prompts = Prompts(
            size,
            family=_column(data, "family", family),
            level=_column(data, "level", level),
            pass_rate=_column(data, "pass_rate", pass_rate),
            **options,
        )
        self._again: list[int] = []
        """Drawn before a saved state, and without a result in it: they come first."""
        self._turn = 0

    def __len__(self) -> int:
        """Number of prompts: a trainer's epoch."""
        return self.prompts.size

    def __iter__(self) -> Iterator[int]:
        """Raises UsageError where an iterator goes on after a newer one was begun: two loaders would each lack what the other has."""
        self._turn += 1
        turn = self._turn
        while True:
            if turn != self._turn:
                raise UsageError("two loops draw from one PassRateSampler; make one for each")
            yield self._again.pop(0) if self._again else self.prompts.draw()

    def observe(
        self, indices: Sequence[int], passes: Sequence[float], rollouts: Sequence[int], *, age: int = 0
    ) -> None:
        """Take in how many of its rollouts each prompt passed, once for each version of the policy.

        Args:
            indices: numbers that this sampler gave.
            passes: as whole numbers, or as a sum of scores from 0 to 1.
            rollouts: 0 where all of them were lost: the prompt can be drawn again.
            age: policy updates since the rollouts were sampled.

        Raises:
            UsageError: an index was never drawn, or has more passes than rollouts; then nothing is taken in.
        """
        self.prompts.observe(indices, passes, rollouts, age=age)
        if self._again:  # a result that came after all
            waiting = set(self.prompts.waiting)
            self._again = [prompt for prompt in self._again if prompt in waiting]

    def observe_each(self, indices: Iterable[Any], passed: Iterable[Any], *, age: int = 0) -> None:
        """Take in single rollouts, in any order, once for each version of the policy.

        Args:
            indices: for each rollout the number of its prompt: whole numbers, as Python, numpy or torch have them.
            passed: whether it passed, or None where it could not be judged.
            age: policy updates since they were sampled.

        Raises:
            UsageError: as `observe`, there are not as many of one as of the other, or a score is neither 0 nor 1.
        """
        numbers, outcomes = [int(n) for n in indices], list(passed)
        if len(numbers) != len(outcomes):
            raise UsageError(f"{len(numbers)} indices, {len(outcomes)} outcomes: one of each a rollout")
        counts: dict[int, list[int]] = {}
        for n, outcome in zip(numbers, outcomes, strict=True):
            count = counts.setdefault(n, [0, 0])
            if outcome is not None:
                if outcome not in (0, 1):
                    raise UsageError(
                        f"prompt {n}: passed is True, False or None, got {outcome!r}; compare rewards: reward > 0.5"
                    )
                count[0] += bool(outcome)
                count[1] += 1
        prompts = sorted(counts)  # what is learnt depends on the order, and a batch may be shuffled over devices
        passes, rollouts = [counts[n][0] for n in prompts], [counts[n][1] for n in prompts]
        self.observe(prompts, passes, rollouts, age=age)

    def metrics(self) -> dict[str, float]:
        """Plain numbers for a log; `Prompts.metrics` says which."""
        return self.prompts.metrics()

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON. It grows with the prompts that were drawn, not with the data set."""
        return self.prompts.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was called. Prompts that were drawn and have no result come first again.

        Raises:
            UsageError: it is the state of another data set, or none.
        """
        self.prompts.load_state_dict(state)
        self._again = self.prompts.waiting


def _column(data: Any, name: str, given: str | Column | None) -> Column | None:
    if not isinstance(given, str):
        return given
    names = getattr(data, "column_names", None)
    if names is None:
        raise UsageError(
            f"{name}={given!r} names a column, and the data set has none; give a sequence with an entry for each prompt"
        )
    if given not in names:
        raise UsageError(f"{name}: the data set has no column {given!r}; {suggest(given, names)}")
    column: Column = data[given][:]
    return column
