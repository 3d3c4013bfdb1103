"""A question with several accepted answers: any one of them passes."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kolmocli.tasks.answers.task import AnswerTask, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedTask(AnswerTask):
    others: tuple[str, ...] = ()
    """Answers beside the usual one."""

    def read(self, text: str) -> Reading:
        known = {field.name: getattr(self, field.name) for field in fields(AnswerTask)}
        readings = [AnswerTask(**{**known, "answer": answer}).read(text) for answer in (self.answer, *self.others)]
        first = readings[0]
        return Reading(
            first.placed, any(each.strict for each in readings), any(each.lenient for each in readings), first.formatted,
            first.number,
        )  # fmt: skip
