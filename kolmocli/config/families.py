"""Families of tasks in a curriculum file: each section is of a registered kind, which validates it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    Discriminator,
    PlainSerializer,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import InitErrorDetails

from kolmocli.console import printable, unfit
from kolmocli.section import placed, plain
from kolmocli.tasks.answers.settings import ReverseDigits, SumDigits
from kolmocli.tasks.examples.settings import Examples
from kolmocli.tasks.family import SEQUENCES, families, kind_name
from kolmocli.tasks.kinds import BUILT_IN
from kolmocli.tasks.sequences.settings import Family
from kolmocli.tasks.settings import FamilySettings

MOST_FAMILIES = 1_000
"""Most families of one file: each has a row in every table and every record."""


def _tag(section: object) -> str:
    return kind_name("", section)


AnyFamily = Annotated[
    Annotated[Family, Tag(SEQUENCES)]
    | Annotated[SumDigits, Tag("sum_digits")]
    | Annotated[ReverseDigits, Tag("reverse_digits")]
    | Annotated[Examples, Tag("examples")],
    Discriminator(_tag),
]
"""The kinds that the schema spells out. Those of plugins are known at run time only."""


def _validated(sections: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Sections of built-in kinds by the union above, those of plugins by their own settings."""
    if not isinstance(sections, Mapping):
        return handler(sections)
    for name in sections:
        if wrong := unfit(str(name)):
            raise ValueError(f"the name {printable(str(name))[:20]} {wrong}")
    if len(sections) > MOST_FAMILIES:
        raise ValueError(f"{len(sections):,} families; at most {MOST_FAMILIES:,} are taken")
    kinds = {name: kind for name, section in sections.items() if (kind := _plugged(name, section)) is not None}
    rest = {name: section for name, section in sections.items() if name not in kinds}
    found: dict[str, FamilySettings] = {}
    problems: list[InitErrorDetails] = []
    try:
        found |= handler(rest) if rest or not kinds else {}
    except ValidationError as error:
        problems += placed(error)
    for name, kind in kinds.items():
        section = sections[name]
        try:
            found[name] = families.get(kind).settings.model_validate({} if section is None else section)
        except ValidationError as error:
            problems += placed(error, name, kind)  # as pydantic places those in a union: the kind after the name
    if problems:
        raise ValidationError.from_exception_data("families", problems)
    return {name: found[name] for name in sections}


def _plugged(name: object, section: Any) -> str | None:
    """The registered kind of a section, where that is none of the built-in ones."""
    kind = kind_name(str(name), section)
    return kind if kind not in BUILT_IN and kind in families else None


Families = Annotated[dict[str, AnyFamily], WrapValidator(_validated), PlainSerializer(plain)]
