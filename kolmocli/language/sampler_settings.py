"""Settings of the sampler: every probability is a named field, its default the published value."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kolmocli.language.program import INITIATORS

Range = tuple[int, int]
Chance = Annotated[float, Field(ge=0.0, le=1.0)]
Weight = Annotated[float, Field(ge=0.0)]
_RANGES = (
    *("bases", "base_length", "values", "interval_step", "repeats", "jumps"),
    *("modifiers", "calls", "length"),
)

_MOST = 1_000_000
"""Upper bound of all that is drawn, apart from the values: a sequence has to fit in memory and in a prompt."""
_MOST_PARTS = 100
"""Upper bound of the parts of a program: with so many a draft takes a second, and the time grows as their cube."""

OPERATORS: dict[str, float] = {
    "reverse_list": 0.1,
    "repeat_list": 0.1,
    "get_subsequence_with_jumps": 0.05,
    "get_subsequence_between_indices": 0.05,
    "substitute": 0.1,
    "max_n": 0.05,
    "min_n": 0.05,
    "add_item_list": 0.05,
    "subtract_item_list": 0.05,
    "modulo_item_list": 0.1,
    "scan_add": 0.1,
    "filter": 1.0,
    "add_two_lists": 0.05,
    "subtract_two_lists": 0.05,
    "modulo_two_lists": 0.1,
}
"""The operators that derive a sequence from others, with their published probabilities."""


class SamplerConfig(BaseModel):
    """Probabilities and ranges of the sampler. Ranges are inclusive at both ends."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    # --- base sequences
    bases: Range = (1, 5)
    """Number of base sequences, uniform."""
    base_length: Range = (5, 25)
    """Nominal length of each base sequence, uniform; an interval may end earlier, at the top of `values`."""
    values: Range = (0, 255)
    """Every item of every sequence lies in this range."""
    initiators: dict[str, Weight] = Field(default_factory=lambda: dict.fromkeys(INITIATORS, 1.0))
    """Weight of each kind of base sequence; a name left out has none."""
    interval_step: Range = (2, 5)

    # --- the coins of the stages (published way only)
    list_update: Chance = 0.4
    """Stage 1: reverse, repeat, jumps, between indices, substitute."""
    math_update: Chance = 0.4
    """Stage 2: max_n or min_n for literals, otherwise add or subtract a constant; modulo."""
    filter_stage: tuple[Chance, Chance] = (0.4, 0.3)
    """Stage 4: two coins, both of which must fall; then one predicate on the newest sequence."""
    two_list: Chance = 0.4
    """Stage 5: every pair of sequences of equal length."""

    # --- operators: the coin per sequence; in the direct way, the weight
    operators: dict[str, Weight] = Field(default_factory=lambda: dict(OPERATORS))
    """Probability per sequence (per pair for the two-list operators). `max_n` and `min_n` share one coin,
    whose probability is their sum, and so do the additions and subtractions. A name left out has none.
    `filter` has no coin of its own in the published way; there it only has to be above 0."""
    repeats: Range = (2, 4)
    """Repetitions that `repeat_list` makes."""
    jumps: Range = (2, 5)
    """The step of `get_subsequence_with_jumps`."""
    drop_original: Chance = 0.25
    """Probability that a sequence that was substituted in is left out of the result itself."""

    # --- assembly
    interleave: Chance = 0.2
    """Probability that two sequences are interleaved instead of concatenated."""
    reuse: Chance = 0.2
    """Probability, once per sequence, that the result takes one more copy of some sequence."""
    max_uses: int = 2
    """A sequence that was used this often is not taken again."""

    # --- knobs beyond the published generator
    modifiers: Range | None = None
    """Number of operators, drawn directly instead of by stages."""
    drop_origin: Chance = 0.0
    """Direct way: probability that what an operator was applied to is left out of the result itself."""
    calls: Range | None = None
    """Number of calls of the program."""
    length: Range | None = None
    """Length of the result."""
    require: tuple[str, ...] = ()
    """At least one of these functions must occur (empty: no condition)."""

    @model_validator(mode="after")
    def _check(self) -> SamplerConfig:
        for name, bounds in self:
            if name in _RANGES and bounds is not None and bounds[0] > bounds[1]:
                raise ValueError(f"{name}: {bounds[0]} is above {bounds[1]}")
            most = _MOST_PARTS if name in ("bases", "modifiers") else _MOST
            if name in _RANGES and name != "values" and bounds is not None and bounds[1] > most:
                raise ValueError(f"{name}: at most {most:,}")
        for name, known in (("initiators", INITIATORS), ("operators", OPERATORS)):
            unknown = sorted(set(getattr(self, name)) - set(known))
            if unknown:
                raise ValueError(f"{name}: no such function: {', '.join(unknown)}; there are {', '.join(known)}")
        unknown = sorted(set(self.require) - {*INITIATORS, *OPERATORS, "concatenate", "interleave"})
        if unknown:
            raise ValueError(f"require: no such function: {', '.join(unknown)}")
        if self.bases[0] < 1 or self.base_length[0] < 1 or self.interval_step[0] < 1 or self.jumps[0] < 1:
            raise ValueError("bases, base_length, interval_step and jumps start at 1")
        ranges = self.initiators.get("range_func_up", 0) or self.initiators.get("range_func_interval", 0)
        if ranges and self.values[1] - self.values[0] < self.base_length[1]:
            raise ValueError("values: the range must be wider than the longest base sequence")
        if not any(self.initiators.values()):
            raise ValueError("initiators: at least one needs a weight above 0")
        return self


PUBLISHED = SamplerConfig()
