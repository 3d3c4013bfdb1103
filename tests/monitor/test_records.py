"""Records: what is written is read again, whatever older and newer runs have in their files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from monitor_samples import step_line, step_record

from kolmocli.monitor.events import KINDS, BestEvent, OtherEvent, describe, read_event
from kolmocli.monitor.record import Record
from kolmocli.monitor.records import BeliefRecord, BucketRecord, ReinforceRecord, WarmRecord, read_step
from kolmocli.monitor.summary import Summary


def test_a_record_survives_json() -> None:
    record = step_record(11)
    assert record.gradient is not None and record.buckets is not None
    assert read_step(json.loads(json.dumps(record.to_json()))) == record
    assert {key: value for key, value in record.to_json().items() if key in step_line(11)} == step_line(11)


@pytest.mark.parametrize("kind", [WarmRecord, ReinforceRecord, Summary, *KINDS.values()])
def test_an_empty_object_is_a_record_that_knows_nothing(kind: type[Record]) -> None:
    assert kind.from_json({}) == kind()
    assert kind.from_json(kind().to_json()) == kind()


@pytest.mark.parametrize(
    "line",
    [
        {
            "step": "x",
            "pass_rate": "high",
            "rollouts": True,
            "buckets": [1],
            "seconds": 3,
            "verdicts": {"passed": "all"},
        },
        {"step": None, "pass_rate": float("nan"), "loss": float("inf"), "gradient": "none", "generators": {"0": 7}},
        {"buckets": {"a": {"ci": [0.1]}, "b": None}, "gradient": {"norms": [["a", 1], 3]}},
    ],
)
def test_what_is_of_another_type_is_not_there(line: dict[str, Any]) -> None:
    record = read_step({"phase": "rl", **line, "a key of tomorrow": 1})
    assert isinstance(record, ReinforceRecord)
    assert (record.step, record.pass_rate, record.loss, record.rollouts) == (0, None, None, None)
    assert all(bucket.ci is None for bucket in (record.buckets or {}).values())
    assert record.gradient is None or record.gradient.norms == []


def test_a_rare_key_is_written_only_where_there_is_something_to_say() -> None:
    plain, valued = ReinforceRecord(), ReinforceRecord(value_loss=0.5)
    assert not {"gradient", "value_loss", "value_explained", "self_play", "generators"} & set(plain.to_json())
    assert valued.to_json()["value_explained"] is None, "it belongs to value_loss, and was not to be had"
    assert "belief" not in BucketRecord().to_json()


def test_what_is_written_is_rounded_where_it_is_said() -> None:
    bucket = BucketRecord(weight=0.123456, pass_rate=0.123456, belief=BeliefRecord(low=0.98765))
    written = bucket.to_json()
    assert (written["weight"], written["pass_rate"], written["belief"]["low"]) == (0.1235, 0.123456, 0.9877)


def test_a_kind_of_event_that_is_not_known_keeps_its_fields() -> None:
    event = read_event({"kind": "comet", "step": 3, "time": 1.0, "tail": 7})
    assert event == OtherEvent(kind="comet", step=3, time=1.0, fields={"tail": 7})
    assert describe(event) == "step 3: comet tail 7"
    assert read_event({"kind": "best", "bits": 7, "tail": 7}) == BestEvent(bits=7)
