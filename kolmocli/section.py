"""Base of the sections of a curriculum file."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]
MOST = 1_000_000
"""Upper bound of counts of things that take memory or a process; it catches typos."""
Positive = Annotated[int, Field(gt=0, le=MOST)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""Number of steps, or of other events that are only counted; 0 switches most of them off."""
Rate = Annotated[float, Field(gt=0, le=10)]
"""A learning rate."""


class Section(BaseModel):
    """A part of the file: immutable, strict about its keys, and all its numbers are finite."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
