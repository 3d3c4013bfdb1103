from __future__ import annotations

import pytest

from kolmocli.monitor.events import describe


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"kind": "controller", "step": 12, "time": 1.0, "text": "scans mastered"}, "step 12: scans mastered"),
        ({"kind": "checkpoint", "step": 40, "time": 1.0, "path": "checkpoints/step_000040"},
         "step 40: checkpoint checkpoints/step_000040"),
        ({"kind": "eval", "step": 0, "time": 1.0, "when": "before", "accuracy": 0.21, "accuracy_ci": [0.18, 0.24],
          "compression_rate": 0.8}, "step 0: evaluation before: accuracy 21% (18% to 24%), size ÷ raw .80"),
        ({"kind": "eval", "step": 5, "accuracy": None}, "step 5: evaluation: accuracy –"),
        ({"kind": "sandbox", "step": 3, "time": 1.0, "replaced": 2, "reason": "x\x1b[2J"},
         "step 3: sandbox replaced 2, reason x�[2J"),
        ({}, "step 0: event"),
    ],
)  # fmt: skip
def test_events_in_words(event: dict[str, object], text: str) -> None:
    assert describe(event) == text
