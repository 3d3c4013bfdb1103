"""What the policy that comes with kolmo can do: the figures of its card, on pairs of the published distribution.

    python benchmarks/shipped.py --pairs 1000 --seed 1
    python benchmarks/shipped.py --models RUN/checkpoints/step_000000 shipped
    python benchmarks/shipped.py --take RUN

The pairs are drawn with a seed of their own, so that a few of them may have a skeleton that training has seen, as anybody's
pairs may. `transcripts` write down what the policy is shown as a program (`policy/transcript.py`): what they save is not the
policy's merit. `greedy` takes the likeliest program; of `best of K` the shortest that is right counts. Under each stands what was
written beside the transcript. `search` has `--search` seconds of one core for each sequence. With two models or more, the last line of each compares it with the first: bits of all
sequences, where one without a right program costs its literal list, and the change in greedy accuracy, both in pairs.

`--curve` prints what a run had learnt after how many core-hours: in the warm start the share of its samples that pass, on all
levels alike, and after it the greedy accuracy on the held-out tasks.

`--take` makes the newest checkpoint of a run the shipped policy, with the run's settings beside it, and prints nothing else.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kolmocli.checkpoints import FOR_RESUMING, MANIFEST
from kolmocli.config import Config
from kolmocli.config.file import dump_config, load_config
from kolmocli.console import warn
from kolmocli.curriculum.base import Bucket
from kolmocli.evaluation.attempts import attempts_by
from kolmocli.evaluation.intervals import paired_difference, ratio_interval
from kolmocli.evaluation.report import PLAIN, full_report
from kolmocli.evaluation.samples import Attempts, best_of
from kolmocli.evaluation.searched import search_baseline
from kolmocli.language.coder import coded_bits, literal_bits
from kolmocli.language.interpreter import evaluate
from kolmocli.language.raw import raw_bits
from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import PUBLISHED
from kolmocli.paths import SHIPPED, find_curriculum, model_folder
from kolmocli.policy.loading import resolve_checkpoint
from kolmocli.policy.transcript import transcript
from kolmocli.tasks.sequences.task import SequenceTask, sequence_task

KINDS = ("transcripts to the letter", "right and no shorter", "right and shorter", "wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[SHIPPED], metavar="NAME", help="runs, checkpoints, or shipped")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the pairs and of the samples")
    parser.add_argument("--samples", type=int, default=16, help="for `best of K`; 1: greedy alone")
    parser.add_argument("--temperature", type=float, default=1.0, help="of these samples (default: %(default)s)")
    parser.add_argument("--search", type=float, default=0.0, metavar="SECONDS", help="of search as a baseline; 0: none")
    parser.add_argument("--take", type=Path, metavar="RUN", help="make this run's newest checkpoint the shipped policy")
    parser.add_argument("--curve", type=Path, metavar="RUN", help="what this run had learnt, by core-hours")
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error("--pairs must be at least 2")
    if options.curve is not None:
        curve(options.curve)
        return
    if options.take is not None:
        take(options.take)
        return

    tasks = drawn(options.pairs, options.seed)
    raw = raw_bits(task.target for task in tasks)
    print(
        f"{len(tasks)} pairs of the published distribution, seed {options.seed}; rates are bits ÷ bits of the plain bytes"
    )
    print(f"  reference programs     rate {sum(coded_bits(task.program) for task in tasks if task.program) / raw:.3f}")
    print(f"  transcripts            rate {sum(transcribed_bits(task.target) for task in tasks) / raw:.3f}")
    if options.search:
        found = search_baseline(tasks, options.search)["solid"]
        print(f"  search, {options.search:g} s each       rate {found:.3f}")
    config, first = load_config(find_curriculum("seqcoder"), {"training.temperature": options.temperature}), None
    for name in options.models:
        greedy = measured(name, "greedy", tasks, config, 1, None)
        if options.samples > 1:
            measured(name, f"best of {options.samples}", tasks, config, options.samples, options.seed)
        if first is None:
            first = greedy
        else:
            compare(first, greedy)


def transcribed_bits(sequence: Sequence[int]) -> int:
    """Of the transcript, or of the literal list where that is shorter."""
    program = transcript(sequence)
    assert tuple(evaluate(program) or ()) == tuple(sequence), sequence
    return min(coded_bits(program), literal_bits(sequence))


def drawn(count: int, seed: int) -> list[SequenceTask]:
    rng = random.Random(seed)
    pairs = [sample(rng, PUBLISHED) for _ in range(count)]
    return [sequence_task(Bucket("published", 1), i, pair.sequence, pair.program) for i, pair in enumerate(pairs)]


def measured(
    name: str, how: str, tasks: Sequence[SequenceTask], config: Config, samples: int, seed: int | None
) -> Attempts:
    began = time.perf_counter()
    attempts = attempts_by(name, tasks, config, samples=samples, seed=seed, device="auto", sandbox="auto", warn=warn)
    seconds = time.perf_counter() - began
    report = full_report(attempts, samples, "dsl", PLAIN)
    low, high = report["accuracy_ci"]
    print(
        f"  {Path(name).name}, {how:11s} accuracy {report['accuracy']:.1%} [{low:.1%}, {high:.1%}], "
        f"copies {report['copy_rate'] or 0:.1%} of them, rate {report['compression_rate']:.3f}, "
        f"xz {report['baselines']['xz']['solid']:.3f}, {seconds / len(tasks) * 1000:.0f} ms a sequence",
        flush=True,
    )
    kinds = Counter(_kind(task, best_of(outcomes)) for task, outcomes in attempts)
    print("    " + ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS), flush=True)
    return attempts


def _kind(task: Any, outcome: Any) -> str:
    """What was written, beside the transcript."""
    if not outcome.passed:
        return KINDS[3]
    program = transcript(task.target)
    if outcome.program == program:
        return KINDS[0]
    return KINDS[2] if outcome.bits < coded_bits(program) else KINDS[1]


def compare(first: Attempts, other: Attempts) -> None:
    before, after = ([_bits(task, best_of(outcomes)) for task, outcomes in attempts] for attempts in (first, other))
    interval = ratio_interval(after, before)
    low, high = interval if interval is not None else (float("nan"), float("nan"))
    passed = ([best_of(outcomes).passed for _, outcomes in attempts] for attempts in (first, other))
    lost, won = paired_difference(*passed)
    print(
        f"    against the first, greedy: bits {sum(after) / sum(before):.3f} [{low:.3f}, {high:.3f}], "
        f"accuracy {100 * lost:+.1f} to {100 * won:+.1f} points"
    )


def _bits(task: Any, outcome: Any) -> float:
    literal = literal_bits(task.target)
    return min(literal, outcome.bits) if outcome.passed and outcome.bits is not None else literal


def curve(run: Path) -> None:
    """Seconds are those of the steps, with what a busy machine gave to others."""
    threads, hours = load_config(run / "config.yaml").threads or 1, 0.0
    evaluated = {row["step"]: row for row in _rows(run / "events.jsonl") if row["kind"] == "eval"}
    print("  phase     step  core-hours  pass, or accuracy")
    for row in _rows(run / "metrics.jsonl"):
        if row["phase"] == "rl" and row["step"] == 1 and 0 in evaluated:
            print(f"  before REINFORCE    {hours:10.2f}  {evaluated[0]['accuracy']:.1%}")
        hours += sum(row["seconds"].values()) * threads / 3600
        warm = row["phase"] == "warmup"
        found = row["pass_rate"] if warm else evaluated.get(row["step"], {}).get("accuracy")
        if found is not None:
            print(f"  {row['phase']:8s} {row['step']:5d}  {hours:10.2f}  {found:.1%}")


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def take(run: Path) -> None:
    """Copy the policy of a run's newest checkpoint, without what only its resumption needs."""
    source, target = resolve_checkpoint(str(run), warn), model_folder(SHIPPED)
    if source is None:
        raise SystemExit(f"{run}: no run")
    target.mkdir(exist_ok=True)
    written = {file: of for file, of in json.loads((source / MANIFEST).read_text()).items() if file not in FOR_RESUMING}
    for file in written:
        (target / file).write_bytes((source / file).read_bytes())
    (target / MANIFEST).write_text(json.dumps(written, indent=1) + "\n")
    of_any_machine = {"model.precision": "auto", "threads": None, "sandbox.backend": "auto"}
    (target / "config.yaml").write_text(dump_config(load_config(run / "config.yaml", of_any_machine)))


if __name__ == "__main__":
    main()
