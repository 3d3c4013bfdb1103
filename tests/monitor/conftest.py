from __future__ import annotations

from pathlib import Path

import pytest
from monitor_samples import write_run

from kolmocli.monitor.events import BestEvent, FailingEvent
from kolmocli.monitor.plots import write_report
from kolmocli.monitor.writer import RunLog


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of 40 steps with its plots and its page: drawn once, because that takes seconds. Read it only."""
    run_dir = write_run(tmp_path_factory.mktemp("reported") / "quick", steps=40)
    (run_dir / "config.yaml").write_text("name: quick & dirty\n")
    with RunLog(run_dir, resume_step=40) as log:
        log.event(BestEvent(step=40, family="ramps", bits=31, literal_bits=200, target="0 1 2", program="a = 1\nb = a"))
        log.event(
            FailingEvent(step=40, family="ramps", level=2, verdict="missed", target="7 8", made="7 9", program="c = 2")
        )
        log.event(
            FailingEvent(step=40, family="ramps", level=2, verdict="RUNTIME", target="7 8", made=None, program="d = 3")
        )
    write_report(run_dir)
    return run_dir
