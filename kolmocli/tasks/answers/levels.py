"""What the levels of the digit tasks can change. The defaults are the ranges that the tasks were founded with."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
