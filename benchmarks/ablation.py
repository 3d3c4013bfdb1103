"""What each way of raising the pass rate, and of making the signal denser, is worth: one switch at a time.

    python benchmarks/ablation.py
    python benchmarks/ablation.py --curriculum arithmetic --steps 50 --variants base "target 0.45" alive --seeds 0 1 2 --jobs 2

Every variant changes one thing of `base`, which is the curriculum as it is (`quickstart`: a warm start, hindsight and
the rasch controller), and is compared with it seed by seed: at the same number of updates and rollouts, on the same
held-out tasks, from the same warm start, but for the variant without one. (`best of 2` samples as many and learns from half.) What is measured, and how: `paired_report.py`.
"""

from __future__ import annotations

import argparse

from paired import add_options, run_all, shorten
from paired_report import show

BASE = "base"


def switch(*keys: str) -> list[str]:
    return [option for key in keys for option in ("--set", key)]


def variants(preset: str = "tiny") -> dict[str, list[str]]:
    """By name, the options of each; `preset` is what a run without a warm start begins with."""
    return {
        BASE: [],
        "no warm start": ["--model", preset],
        "no hindsight": switch("training.hindsight=0"),
        "hints": switch("methods.hints.most=0.9"),
        "best of 2": switch("training.best_of=2", "training.batch_size=64"),
        "shaping": switch("methods.shaping.weight=0.5"),
        "process reward": switch("reward.partial=0.1"),
        "value head": switch("training.baseline=value"),
        "self-play": switch("methods.self_play.share=0.25"),
        "uniform": switch("controller.kind=uniform"),
        "sequential": switch("controller.kind=sequential"),
        "target 0.45": switch("controller.target=0.45"),
        "alive": switch("controller.weigh=alive"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", nargs="+", default=list(variants()), choices=variants(), metavar="VARIANT")
    parser.add_argument("--targets", type=float, nargs="+", default=[0.4, 0.5], help="held-out accuracies")
    add_options(parser, curriculum="quickstart", steps=100, eval_freq=25, out="runs/benchmark-ablation")
    o = parser.parse_args()
    shorten(o)
    chosen = variants(o.model or "tiny")
    comparison = run_all(o, {name: chosen[name] for name in o.variants})
    show(comparison, o.out, o.seeds, o.variants, BASE, o.targets, o.json)


if __name__ == "__main__":
    main()
