"""One process of several that train together, as `torch.distributed.run --nproc-per-node 2` starts them; it is given a folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch

from tests.integrations.stories import open_stories
from tests.integrations.test_trl import train
from tests.integrations.test_trl_prompts import read_rows, sampler, train as train_on_prompts


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    course = open_stories()
    trainer = train("GRPO", folder, course, 3, per_device_train_batch_size=6)
    told = [[[str(r.bucket), r.passes, r.rollouts] for r in results] for results in course.told]
    means = [log["rewards/reward/mean"] for log in trainer.state.log_history if "rewards/reward/mean" in log]
    rank = os.environ["RANK"]
    rows = read_rows(folder / f"rows-{rank}")
    prompts = sampler(rows)
    train_on_prompts("GRPO", folder, rows, prompts, 3, per_device_train_batch_size=6)
    heard = {"told": told, "means": means, "prompts": [sorted(results.items()) for results in prompts.told]}
    (folder / f"told-{rank}.json").write_text(json.dumps(heard))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
