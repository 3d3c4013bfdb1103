"""A family of sequences as a curriculum file describes it: what the sampler draws, level by level."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.tasks.settings import LONGEST, LevelList


def _reported(level: SamplerConfig) -> SamplerConfig:
    for name in ("base_length", "length"):
        bounds = getattr(level, name)
        if bounds is not None and bounds[1] > LONGEST:
            raise ValueError(f"{name}: at most {LONGEST:,}, as the sandbox reports no longer value; lower it")
    return level


class Family(LevelList):
    """Sequences to write programs for. `sampler` holds what all levels share; each level overrides part of it."""

    sampler: SamplerConfig = Field(default_factory=SamplerConfig, description="what all levels share")
    language: Literal["dsl", "python"] = Field(
        "dsl", description="what the policy writes: the small language, or free Python, which only containers can hold"
    )
    levels: list[Annotated[SamplerConfig, AfterValidator(_reported)]] = Field(
        min_length=1, description="easy to hard; what each level changes"
    )

    @property
    def pays_parts(self) -> bool:
        return self.language == "dsl"

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
