"""A question with several accepted answers: any one of them passes."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kolmocli.tasks.answers.task import AnswerTask, Reading
from kolmocli.tasks.answers.trees import Equal


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedTask(AnswerTask):
    others: tuple[str, ...] = ()
    """Answers other than the usual one."""

    def read(self, text: str, equal: Equal | None = None) -> Reading:
        known = {field.name: getattr(self, field.name) for field in fields(AnswerTask)}
        readings = [
            AnswerTask(**{**known, "answer": answer}).read(text, equal) for answer in (self.answer, *self.others)
        ]
        first, strict = readings[0], any(each.strict for each in readings)
        return Reading(
            first.placed, strict, any(each.lenient for each in readings), first.formatted, first.number,
            any(each.limited for each in readings) and not strict, any(each.fault for each in readings) and not strict,
        )  # fmt: skip
