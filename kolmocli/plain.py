"""Numbers as JSON can write them, and JSON of strangers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """The value with every float that JSON cannot write (inf, nan) replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def parsed(text: str | bytes) -> Any:
    """The value of a text of JSON of any author.

    Raises:
        ValueError: it is none, or too deep for Python, or has an integer of thousands of digits; one line says which.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:  # of an integer of thousands of digits; what Python says goes on to talk to programmers
        raise ValueError(str(error).partition(";")[0]) from None
