"""Whole runs, small enough for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kolmocli.config import Config
from kolmocli.training.train import RunOptions, train

CURRICULUM = """\
name: resumed
model: {name: tiny, device: cpu}
families:
  runs:
    sampler:
      modifiers: [0, 0]
      reuse: 0
      interleave: 0
      base_length: [2, 6]
      values: [0, 15]
      initiators: {repeat_num: 1}
    levels: [{bases: [1, 1]}, {bases: [2, 2]}]
warmup: {max_steps: 25, check_every: 25, batch_size: 16, learning_rate: 6.0e-3, until: 1}
training: {steps: 12, batch_size: 8, group_size: 4, max_new_tokens: 16, hindsight: 1.0}
evaluation: {tasks: 4, every: 5}
sandbox: {backend: embedded, workers: 2}
checkpoint_every: 3
report: false
"""


def small_config(**changes: dict[str, Any]) -> Config:
    """The curriculum as a configuration, with some keys of some sections changed."""
    import yaml

    data = yaml.safe_load(CURRICULUM)
    for section, keys in changes.items():
        data[section] = {**data.get(section, {}), **keys}
    return Config.model_validate(data)


def run(config: Config, folder: Path, *, resume: bool = False, stop_at: int | None = None) -> dict[str, Any]:
    return train(config, RunOptions(run_dir=folder, resume=resume, stop_at=stop_at, quiet=True))


def metrics(folder: Path) -> list[dict[str, Any]]:
    """What the run wrote, times aside; a line without its end is still being written."""
    file = folder / "metrics.jsonl"
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    return [{key: value for key, value in record.items() if key != "seconds"} for record in records]


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    return [event for event in found if event["kind"] == kind]
