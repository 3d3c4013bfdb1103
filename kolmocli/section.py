"""What the sections of a curriculum file have in common, whoever reads them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[int, Field(gt=0)]


class Section(BaseModel):
    """A part of the file: immutable, and strict about its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
