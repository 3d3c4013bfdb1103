"""Families of tasks: what is trained on, from easy to hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Discriminator, Field, Tag, model_validator

from kolmocli.config.base import Positive, Section, Share
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.tasks.answers.levels import ReverseDigitsLevel, SumDigitsLevel


class Ladder(Section):
    """What families of every kind have. Their levels are the rungs."""

    levels: Sequence[BaseModel]
    target: Share | None = Field(None, description="pass rate to hold for this family (default: the controller's)")
    floor: Share | None = Field(
        None, description="least share of the groups for this family (default: the controller's)"
    )
    bounds: tuple[Positive, Positive] | None = Field(None, description="lowest and highest level to use (default: all)")

    @model_validator(mode="after")
    def _bounds_on_the_ladder(self) -> Self:
        if self.bounds is not None and not self.bounds[0] <= self.bounds[1] <= len(self.levels):
            low, high = self.bounds
            raise ValueError(f"bounds: {low} to {high} is not a part of the {len(self.levels)} levels, easy to hard")
        return self


class Family(Ladder):
    """Sequences to write programs for. `sampler` holds what all levels share; each level overrides part of it."""

    sampler: SamplerConfig = Field(default_factory=SamplerConfig, description="what all levels share")
    levels: list[SamplerConfig] = Field(min_length=1, description="easy to hard; what each level changes")

    @model_validator(mode="before")
    @classmethod
    def _inherit(cls, data: object) -> object:
        """Fill each level with the family's sampler, so that a resolved level says everything."""
        if (
            isinstance(data, dict)
            and isinstance(data.get("sampler", {}), dict)
            and isinstance(data.get("levels"), list)
        ):
            shared = data.get("sampler", {})
            levels = [{**shared, **level} if isinstance(level, dict) else level for level in data["levels"]]
            return {**data, "levels": levels}
        return data


class SumDigits(Ladder):
    """The sum of all digits of some integers, asked in words."""

    task: Literal["sum_digits"] = Field(description="the sum of all digits of some integers, asked in words")
    levels: list[SumDigitsLevel] = Field(min_length=1, description="easy to hard")


class ReverseDigits(Ladder):
    """An integer with its digits in reverse, asked in words."""

    task: Literal["reverse_digits"] = Field(description="an integer with its digits in reverse, asked in words")
    levels: list[ReverseDigitsLevel] = Field(min_length=1, description="easy to hard")


DigitFamily = SumDigits | ReverseDigits


def _kind(family: object) -> str:
    """A family that names no task is one of sequences to write programs for."""
    named = family.get("task") if isinstance(family, dict) else getattr(family, "task", None)
    return "programs" if named is None else str(named)


AnyFamily = Annotated[
    Annotated[Family, Tag("programs")]
    | Annotated[SumDigits, Tag("sum_digits")]
    | Annotated[ReverseDigits, Tag("reverse_digits")],
    Discriminator(_kind),
]
