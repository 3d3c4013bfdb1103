"""Files of tasks as a curriculum names them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kolmocli.section import Positive, Section
from kolmocli.tasks.settings import LONGEST


class Data(Section):
    train: str | None = Field(
        None, description="file of tasks to train on, instead of the families: JSONL, CSV, Parquet, or a data set"
    )
    eval: str | None = Field(None, description="file of tasks to evaluate on")
    families: bool = Field(False, description="train on the families as well as the file")
    order: Literal["auto", "length", "compressibility", "reference_bits"] = Field(
        "auto", description="what makes a sequence harder where the file names no buckets"
    )
    levels: Positive = Field(4, description="levels that tasks without a bucket are split into")
    level_key: str | None = Field(
        None,
        description="the key of a line that says how hard its task is, in place of level and bucket; -KEY where more is easier",
    )
    columns: str | None = Field(
        None,
        description="columns of a file whose layout is unknown: prompt=problem,answer=solution, tests=…, reference=…",
    )
    per_task: bool = Field(
        False,
        description="train with every task of the file as a level of its own, as controller.kind: posterior needs it",
    )
    max_items: Annotated[int, Field(gt=0, le=LONGEST)] = Field(
        1024, description="longer sequences of a file are skipped, by name"
    )
    strict: bool = Field(False, description="stop at the first bad line of a file instead of skipping it")
