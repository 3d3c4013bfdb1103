"""Numbers as the tables of results show them. An unknown number is a dash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNKNOWN = "–"
_MASKED = 0.1
"""The share of tasks that may go unjudged without a word."""


def mostly_masked(report: Mapping[str, Any]) -> str:
    """A warning that more than a tenth of an evaluation's tasks could not be judged; empty for any other."""
    masked = report.get("masked") or 0
    tasks = masked + (report.get("n") or 0)
    return f"{masked:,} of {tasks:,} tasks could not be judged" if masked > _MASKED * tasks else ""


def percent(share: float | None, digits: int = 1) -> str:
    """A share of one: 12.3 %."""
    return UNKNOWN if share is None else f"{100 * share:.{digits}f} %"


def decimals(value: float | None, digits: int = 3) -> str:
    """`digits` digits behind the point, so that a column of them lines up: 0.123."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def rounded(value: float | None) -> str:
    """Three significant digits, and all digits of large numbers: 0.123, 12.3, 12,345."""
    return UNKNOWN if value is None else f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
