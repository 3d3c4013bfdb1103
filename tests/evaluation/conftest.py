"""A chat endpoint for the length of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.evaluation.served import Replies, Served, serving
from tests.workers import workers_stay

__all__ = ["workers_stay"]


@pytest.fixture
def serve() -> Iterator[Callable[[Replies], Served]]:
    with ExitStack() as servers:
        yield lambda reply: servers.enter_context(serving(reply))
