"""Judges of answers: the names that files and curricula may give, and the comparison behind each.

| name | what it takes for the same answer |
|---|---|
| `strict` | numbers exactly, choices, lists, intervals, text; two formulas only where they are written alike |
| `math` | as `strict`, and formulas that math-verify finds equal; single letters are variables and no choices |
| `text` | the same words, without case |
| `choice` | the same letters |
| `auto` | as the right answer asks: a choice, a number, a formula (by math-verify where it is installed), else text |
"""

from __future__ import annotations

from typing import Literal, get_args

JudgeName = Literal["auto", "strict", "math", "text", "choice"]
NAMES: tuple[str, ...] = get_args(JudgeName)
RULES = 6
"""Version of what these pages take for the same answer. It goes up when some answer is judged otherwise than before."""
