"""The demo's figures: wall time, memory, pass-rate control and the gain on held-out tasks, for several seeds.

    python benchmarks/demo.py --seeds 0 1 2 3 4

Every seed is one `kolmo train quickstart` in a process of its own. Memory is the proportional set size of that
process and all it starts, looked at twice a second; containers of a Docker engine are not among them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


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


def run(seed: int, folder: Path, sandbox: str, more: list[str], curriculum: str = "quickstart") -> dict[str, float]:
    command = [sys.executable, "-m", "kolmocli.cli.main", "train", curriculum, "--seed", str(seed), "--json", "-q"]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--sandbox", sandbox, "--run-dir", str(folder / str(seed)), *more], stdout=subprocess.PIPE, text=True
    )
    peak = 0
    output: list[str] = []
    reader = threading.Thread(target=lambda: output.append(process.stdout.read() if process.stdout else ""))
    reader.start()
    while process.poll() is None:
        peak = max(peak, memory_of_tree(process.pid))
        time.sleep(0.5)
    reader.join()
    if process.returncode:
        raise SystemExit(process.returncode)
    summary = json.loads(output[0])
    after = summary["eval"]["after"]
    seconds = summary["seconds"]
    return {
        "seed": seed,
        "wall_s": time.monotonic() - began,
        "warmup_s": seconds["warmup"],
        "memory_mib": peak / 2**20,
        "in_band": summary["pass_rate"]["in_band"],
        "before": summary["eval"]["before"]["accuracy"],
        "after": after["accuracy"],
        "gain": after["gain"],
        "gain_low": after["gain_ci"][0],
        "gain_high": after["gain_ci"][1],
        "tasks": after["n"],
        "bits": summary["bits"]["per_rollout"],
        "sandbox_share": seconds["execute"] / seconds["total"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--keep", type=Path, help="folder for the runs (default: a temporary one)")
    parser.add_argument("more", nargs="*", help="further options of kolmo train, after --")
    options = parser.parse_args()
    columns = "seed  wall s  memory MiB  in band  before  after   gain  95 % interval    tasks  bits  sandbox"
    print(columns, flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        for seed in options.seeds:
            r = run(seed, options.keep or Path(temporary), options.sandbox, options.more)
            print(
                f"{r['seed']:4.0f} {r['wall_s']:7.0f} {r['memory_mib']:11.0f} {r['in_band']:8.2f} {r['before']:7.3f} "
                f"{r['after']:6.3f} {r['gain']:+6.3f}  [{r['gain_low']:+.3f}, {r['gain_high']:+.3f}] {r['tasks']:6.0f} "
                f"{r['bits']:5.2f} {r['sandbox_share']:7.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
