from __future__ import annotations

import pytest

from kolmocli.monitor.events import describe, read_event


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"kind": "controller", "step": 12, "time": 1.0, "text": "scans mastered"}, "step 12: scans mastered"),
        (
            {"kind": "sandbox", "step": 3, "time": 1.0, "replaced": 2, "reason": "x\x1b[2J"},
            "step 3: sandbox replaced 2, reason x�[2J",
        ),
        ({}, "step 0: event"),
    ],
)
def test_events_in_words(event: dict[str, object], text: str) -> None:
    assert describe(read_event(event)) == text
