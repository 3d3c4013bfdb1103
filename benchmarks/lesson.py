"""The lesson in Python: what REINFORCE alone adds to held-out accuracy, for several seeds.

    python benchmarks/lesson.py --seeds 0 1 2

Every seed is one `kolmo train python` in a process of its own: a supervised warm start, an evaluation, REINFORCE with every
rollout run as Python in the sandbox, and an evaluation of the same held-out functions. The gain is between the two, with a
paired 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from demo import run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument("--keep", type=Path, help="folder for the runs (default: a temporary one)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("more", nargs="*", help="further options of kolmo train, after --")
    options = parser.parse_args()
    found = []
    if not options.json:
        print("seed  wall s  warm start s  in band  before  after   gain  95 % interval    tasks  sandbox", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        for seed in options.seeds:
            r = run(seed, options.keep or Path(temporary), options.sandbox, options.more, "python")
            found.append(r)
            if not options.json:
                print(
                    f"{r['seed']:4.0f} {r['wall_s']:7.0f} {r['warmup_s']:13.0f} {r['in_band']:8.2f} {r['before']:7.3f} "
                    f"{r['after']:6.3f} {r['gain']:+6.3f}  [{r['gain_low']:+.3f}, {r['gain_high']:+.3f}] {r['tasks']:6.0f} "
                    f"{r['sandbox_share']:7.1%}",
                    flush=True,
                )
    if options.json:
        print(json.dumps({"schema_version": 1, "runs": found}, indent=1))


if __name__ == "__main__":
    main()
