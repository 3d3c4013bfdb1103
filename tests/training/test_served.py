"""A run that is judged by a server: the same run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.sandbox.service.servers import serving

from .runs import metrics, run, small_config


def test_a_run_with_a_server_is_the_run_with_a_pool(tmp_path: Path) -> None:
    smaller = {"training": {"steps": 4}, "warmup": {"max_steps": 10, "check_every": 10}}
    run(small_config(**smaller), tmp_path / "here")
    with serving(tmp_path, "--workers", "2") as server:
        summary = run(small_config(**smaller, sandbox={"backend": server.url}), tmp_path / "there")
        assert server.metric('jobs_total{status="OK"}') > 0
    here, there = metrics(tmp_path / "here"), metrics(tmp_path / "there")
    assert here == there and len(here) > 4
    assert summary["sandbox"]["backend"] == "embedded" and summary["sandbox"]["executed"] > 0
    ended = json.loads((tmp_path / "there" / "summary.json").read_text())
    assert ended["sandbox"]["infra"] == 0
