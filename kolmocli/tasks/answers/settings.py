"""Answers in words as a curriculum file describes them: their judge, and the digit tasks, whose defaults are the ranges that the tasks were founded with."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kolmocli.section import Section
from kolmocli.tasks.answers.judges import JudgeName
from kolmocli.tasks.settings import LevelList


class Answers(Section):
    judge: JudgeName = Field(
        "auto",
        description="what counts as the same answer to a question: auto follows the kind of the right answer; math-verify compares "
        "formulas of auto and math",
    )


_Count = Annotated[int, Field(ge=1, le=40)]
_Digits = Annotated[int, Field(ge=1, le=15)]


class _Level(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="after")
    def _ascending(self) -> _Level:
        for name, (low, high) in self:
            if low > high:
                raise ValueError(f"{name}: {low} is above {high}")
        return self


class SumDigitsLevel(_Level):
    integers: tuple[_Count, _Count] = Field((2, 4), description="how many integers, at least and at most")
    digits: tuple[_Digits, _Digits] = Field((2, 3), description="digits of each, at least and at most")


class ReverseDigitsLevel(_Level):
    digits: tuple[_Digits, _Digits] = Field((6, 7), description="digits of the integer, at least and at most")


class SumDigits(LevelList):
    """The sum of all digits of some integers, asked in words."""

    task: Literal["sum_digits"] = Field(description="the sum of all digits of some integers, asked in words")
    levels: list[SumDigitsLevel] = Field(min_length=1, description="easy to hard")


class ReverseDigits(LevelList):
    """An integer with its digits in reverse, asked in words."""

    task: Literal["reverse_digits"] = Field(description="an integer with its digits in reverse, asked in words")
    levels: list[ReverseDigitsLevel] = Field(min_length=1, description="easy to hard")
