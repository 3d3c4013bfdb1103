"""What a packaged curriculum gains as it is, for several seeds: the demo's figures, and those of any other.

    python benchmarks/gain.py --seeds 0 1 2 3 4
    python benchmarks/gain.py expressions --seeds 0 1 2 --keep runs/gain-expressions

Every seed is one `kolmo train` in a process of its own: a supervised warm start, an evaluation, REINFORCE, and an evaluation
of the same held-out tasks. The gain is between the two, with a paired 95 % interval; the last line has the mean over the
seeds, with Student's. p, S, bits and dead groups are of all steps of REINFORCE. Memory is the proportional set size of
the process and all it starts, looked at twice a second; containers of a Docker engine are not among them. Judging is the
seconds that updates waited for verdicts; entropy and late dead groups are of the second half of REINFORCE.

With `--keep` the same command goes on: finished runs are read, stopped ones resumed. Only what ran in one go has a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paired import finished
from paired_report import mean, mean_of, measure

from kolmocli.monitor.history import read_history

HEADINGS = "seed  wall s  warm start s  MiB   before   after   gain  95 % interval    in band     p     S  bits  dead  judging s  entropy  late dead"


def memory_of_tree(root: int) -> int:
    """Bytes of proportional set size of a process and its descendants."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    total = 0
    for pid in tree:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def train(command: Sequence[str]) -> tuple[float, float]:
    """Wall seconds and the highest MiB of a run that goes to its end."""
    began, peak = time.monotonic(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, memory_of_tree(process.pid))
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(process.returncode)
    return time.monotonic() - began, peak / 2**20


def run(curriculum: str, seed: int, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of one seed."""
    cost = folder.with_suffix(".json")
    if not finished(folder):
        where = [] if options.sandbox == "auto" else ["--sandbox", options.sandbox]  # questions are asked without one
        resume = ["--resume"] if (folder / "config.yaml").is_file() else []
        wall, memory = train(
            [
                sys.executable, "-m", "kolmocli", "train", curriculum, "--seed", str(seed), "-q",
                *where, "--run-dir", str(folder), *options.more, *resume,
            ]
        )  # fmt: skip
        cost.write_text(json.dumps({} if resume else {"wall_s": wall, "memory_mib": memory}))
    history = read_history(folder)
    summary = history.summary
    after, seconds = summary.eval.after, summary.seconds
    late = history.rl[len(history.rl) // 2 :]
    dead = sum(m.dead_groups or 0 for m in late)
    assert after is not None
    low, high = after["gain_ci"]
    return {
        "seed": seed,
        **(json.loads(cost.read_text()) if cost.exists() else {}),
        "warm_start_s": seconds.warmup,
        "gain": after["gain"],
        "gain_low": low,
        "gain_high": high,
        "tasks": after["n"],
        "in_band": summary.pass_rate.in_band,
        "judging_s": seconds.execute,
        "entropy": mean_of(m.entropy for m in late),
        "dead_late": dead / groups if (groups := sum(m.groups or 0 for m in late)) else None,
        **{k: v for k, v in measure(folder, []).items() if k not in ("reached", "accuracies")},
    }


def line(r: dict[str, Any]) -> str:
    def number(key: str, form: str) -> str:
        return format(r[key], form) if r.get(key) is not None else "–".rjust(int(form.split(".")[0]))

    return (
        f"{r['seed']:4d} {number('wall_s', '7.0f')} {number('warm_start_s', '13.0f')} {number('memory_mib', '5.0f')} "
        f"{r['before']:8.1%} {r['final']:7.1%} {100 * r['gain']:+6.1f}  [{100 * r['gain_low']:+5.1f}, "
        f"{100 * r['gain_high']:+5.1f}] {number('in_band', '9.2f')} {number('pass_rate', '5.2f')} "
        f"{number('signal_share', '5.2f')} {number('bits_per_rollout', '5.2f')} {r['dead_groups']:5.0%} "
        f"{r['judging_s']:10.0f} {number('entropy', '8.2f')} {number('dead_late', '10.0%')}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "curriculum", nargs="?", default="quickstart", help="a packaged name or a file (default: the demo)"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--keep", type=Path, help="folder for the runs (default: a temporary one)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("more", nargs="*", help="further options of kolmo train, after --")
    options = parser.parse_intermixed_args()
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        os.makedirs(folder, exist_ok=True)
        if not options.json:
            print(HEADINGS, flush=True)
        for seed in options.seeds:
            found.append(run(options.curriculum, seed, folder / str(seed), options))
            if not options.json:
                print(line(found[-1]), flush=True)
    gain = mean([r["gain"] for r in found])
    if options.json:
        print(json.dumps({"schema_version": 1, "runs": found, "gain": gain}, indent=1))
    elif gain["ci"]:
        print(
            f"mean gain of {gain['n']} seeds: {100 * gain['mean']:+.1f} [{', '.join(f'{100 * x:+.1f}' for x in gain['ci'])}]"
        )


if __name__ == "__main__":
    main()
