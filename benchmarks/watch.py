"""What `kolmo watch` costs: processor time of one core, while a run writes two steps a second.

    python benchmarks/watch.py

The run is made up: a folder with a history of `--steps` steps, to which lines are added at a steady pace, in the size
that a real run's have. `kolmo watch` looks at it from a process and a terminal of its own, 120 by 40, as a
user's would; what it used is read from /proc from the moment on when it has read the history and drawn its table.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

from kolmocli.monitor.records import ReinforceRecord
from kolmocli.monitor.writer import RunLog

FAMILIES = ("ramps", "repeats", "merges", "digits", "slices", "filters", "scans", "strides")
WARM_UP_SECONDS = 3.0


def step(number: int) -> ReinforceRecord:
    """A line with everything that the table shows."""
    rate = 0.5 + 0.1 * ((number * 7919) % 13 - 6) / 6
    bucket = {
        "level": 1 + number % 50 / 10, "top": 8, "pass_rate": rate, "ci": [rate - 0.1, rate + 0.1], "signal": 0.2,
        "signal_share": 0.9, "bits": 0.8, "bits_per_token": 0.05, "bits_per_gflop": 4.0, "weight": 0.125, "n": 16,
        "dead": 0.1, "shortest": 31, "state": "tracking", "belief": {"pass_rate": 0.5, "low": 0.4, "high": 0.6},
    }  # fmt: skip
    return ReinforceRecord.from_json({
        "step": number, "phase": "rl", "rollouts": 128, "pass_rate": rate, "reward": rate, "bits_per_rollout": 0.8,
        "bits_total": 100.0 * number, "loss": 0.1, "grad_norm": 1.0, "entropy": 0.5, "infra": 0, "tokens": 4000,
        "compression_rate": 0.6, "in_band": 0.8, "dead_groups": 2, "flops": 2e10,
        "seconds": {"rollout": 0.2, "execute": 0.1, "learn": 0.2}, "buckets": dict.fromkeys(FAMILIES, bucket),
    })  # fmt: skip


def processor_seconds(process: int) -> float:
    """User and system time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drain(terminal: int, drawn: threading.Event) -> None:
    """Read what is drawn, as a terminal does, until it is closed. `drawn`: the table is there."""
    try:
        while shown := os.read(terminal, 1 << 16):
            if b"ramps" in shown:
                drawn.set()
    except OSError:
        return


def watched(folder: Path, seconds: float, pace: float, history: int) -> float:
    """Share of one core that `kolmo watch` used."""
    (folder / "config.yaml").write_text("model: {name: tiny}\ntraining: {steps: 1000000}\n")
    with RunLog(folder) as log:
        for number in range(1, history + 1):
            log.step(step(number))
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        watcher = subprocess.Popen(
            [sys.executable, "-m", "kolmocli", "watch", str(folder)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        drawn = threading.Event()
        threading.Thread(target=drain, args=(ours, drawn), daemon=True).start()
        log.step(step(history + 1))
        if not drawn.wait(120):
            raise SystemExit("kolmo watch shows nothing")
        time.sleep(WARM_UP_SECONDS)
        used, began = processor_seconds(watcher.pid), time.monotonic()
        for number in range(history + 2, history + 2 + round(seconds * pace)):
            log.step(step(number))
            time.sleep(1.0 / pace)
        share = (processor_seconds(watcher.pid) - used) / (time.monotonic() - began)
        watcher.terminate()
        watcher.wait(timeout=10)
    return share


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pace", type=float, default=2.0, help="steps that the run writes per second")
    parser.add_argument("--steps", type=int, nargs="+", default=[0, 10_000], help="steps that the run has done before")
    options = parser.parse_args()
    print("| steps before | processor time, share of one core |\n|---|---|")
    for history in options.steps:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {history:,} | {watched(Path(folder), options.seconds, options.pace, history):.1%} |")


if __name__ == "__main__":
    main()
