"""The race: seconds and rollouts until held-out accuracies, for kolmo, for TRL's GRPOTrainer, and for TRL with our controller.

    python benchmarks/race.py --quick
    python benchmarks/race.py
    python benchmarks/race.py --curricula expressions --seeds 100 101 --minutes 120
    python benchmarks/race.py --curricula benchmarks/ladder.yaml --variants rasch uniform      # control alone, without TRL
    python benchmarks/race.py --curricula expressions benchmarks/ladder.yaml --out benchmarks/race --minutes 0     # what is kept
    python benchmarks/race.py --curricula expressions --minutes 0 --keep benchmarks/race         # keeps what is finished

For every seed one supervised warm start is run, and every variant goes on from its weights with a fresh optimiser: with the
same tasks to draw from, the same judge, the same rollouts per update and per task, and greedy evaluations of the same
held-out tasks by the same code. The seeds are not those that curricula were made with, so tasks and held-out tasks are
fresh. Only updates take time: warm starts, evaluations and checkpoints do not count on either side.

`rasch` is the curriculum as it is, with what it has of reviews and replays; `rasch + screening` has a second loop, inside
the task. The other variants of kolmo change what chooses the tasks, and nothing else. `TRL as it comes` has TRL's
defaults. `TRL at its best` does not divide by the standard deviation, has bf16 where ours has it, our optimiser and
schedule. `TRL with kolmo` is that with our controller. What TRL is told in full: `race_trl.py`.

What chooses the tasks decides how much signal a step has, and so how large a step may be. Every variant but `TRL as it
comes` therefore has a learning rate of its own: of `--rates` the one with the best final accuracy on the seeds of `--tune`,
which are not raced. A single one is for all.

A stopped race goes on with the same command. Checkpoints of finished runs are removed. `figures.json` in each folder is all
that the table and the picture, `race.png`, are made from: a folder that has it is a finished run. `--keep FOLDER` gathers
them into one file a race; `benchmarks/race` has those of docs/evidence.md. `--json` has the runs one by one. What is
measured, and how: `paired_report.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from ablation import switch
from kept import Runs, kept_of, write_kept
from paired import WARM, Comparison, OutOfTime, Sitting, add_common, finished, open_sitting, positive
from paired_report import figures, prune
from race_rates import best_rates, rates_table, run_name, summary, tried, tune_folder
from race_report import ADAPTED, BEST, PLAIN, SCREENED, UNIFORM, measured, picture, show

from kolmocli.config.file import load_config, parse_settings
from kolmocli.paths import find_curriculum

SCRIPT = Path(__file__).with_name("race_trl.py")
QUIET = switch("training.noise_every=0", "report=false")
"""Measurements and pictures that no variant needs."""


@dataclass(frozen=True)
class Track:
    """How long a race on a curriculum is, and what is to be reached."""

    steps: int
    eval_freq: int
    targets: tuple[float, ...]
    rates: tuple[float, ...] = (2e-4, 5e-4, 1e-3, 3e-3)
    """Of which each variant's is chosen: around the curriculum's."""
    model: str | None = None
    """What it begins with, if not with the curriculum's."""
    ground: tuple[str, ...] = ()
    """Settings that are not the curriculum's: a start from which there is something to learn."""
    rows: int = 64
    """Rollouts that TRL at its best samples and learns from at a time: where it is named here, those that it was fastest with."""


TRACKS = {
    "expressions": Track(60, 5, (0.6, 0.65, 0.7, 0.75, 0.8), rows=128),
    "reasoning": Track(200, 20, (0.5, 0.52, 0.54, 0.56), (1e-4, 2e-4, 5e-4, 1e-3), rows=16),
    "ladder": Track(100, 10, (0.18, 0.2, 0.22, 0.24), (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4)),
    "digits": Track(100, 10, (0.25, 0.3, 0.35, 0.4), (3e-5, 1e-4, 3e-4, 1e-3)),
    # From weights that people know, with no warm start.
    "arithmetic": Track(50, 25, (0.15, 0.2, 0.25), (2e-5, 5e-5, 1e-4), rows=16),
    # The policy that comes with kolmo, with which the curriculum begins, passes 96 % of these tasks before anything is learnt.
    "kolmogorov": Track(
        40, 10, (0.34, 0.36, 0.38, 0.4), (1e-4, 3e-4, 1e-3), "tiny-segments",
        ("warmup.until=0.3", "warmup.max_steps=600", "warmup.check_every=50", "evaluation.tasks=1170"),
        rows=32,
    ),
}  # fmt: skip
RACED = ["expressions", "reasoning", "kolmogorov"]
"""Where nothing else is asked for: `ladder` is for control alone, where it should matter most."""
OTHER = Track(100, 10, (0.4, 0.5, 0.6, 0.7), (1e-4, 3e-4, 1e-3, 3e-3))
"""Of any other curriculum."""


def track_of(curriculum: str) -> Track:
    return TRACKS.get(Path(curriculum).stem, OTHER)


def variants(batch: int, rows: int) -> dict[str, list[str]]:
    """By name, the options of each, for this many rollouts a step, and this many at a time for TRL at its best."""
    best = ["--best", "--rows", str(rows)]
    return {
        "rasch": [],
        UNIFORM: switch("controller.kind=uniform"),
        SCREENED: switch("methods.screening.draws=16", "methods.screening.visits=1"),
        "uniform + refill": switch(
            "controller.kind=uniform", "methods.refill.most=2", f"training.batch_size={batch // 2}"
        ),
        **{kind: switch(f"controller.kind={kind}") for kind in ("window", "pool", "staircase", "learnability")},
        "rasch, rloo": switch("training.baseline=rloo"),
        "uniform, rloo": switch("controller.kind=uniform", "training.baseline=rloo"),
        PLAIN: [],
        BEST: best,
        ADAPTED: [*best, "--adapter"],
    }


def of_trl(variant: str) -> bool:
    return variant in (PLAIN, BEST, ADAPTED)


def at(rate: float, variant: str) -> list[str]:
    """The option that gives the variant this learning rate."""
    return ["--rate", str(rate)] if of_trl(variant) else switch(f"training.learning_rate={rate}")


@dataclass(frozen=True)
class Race(Comparison):
    rates: list[float]
    """Of which each variant's is chosen."""
    tune: list[int]
    """The seeds that it is chosen on."""

    def run(self, folder: Path, seed: int, variant: str, options: Sequence[str], name: str | None = None) -> list[str]:
        """A variant, in a folder of its own or of this name, goes on from the warm start in `folder`."""
        if not of_trl(variant):
            return super().run(folder, seed, name or variant, options)
        tasks = ["--eval-samples", str(self.eval_samples)] if self.eval_samples else []
        return [
            sys.executable, str(SCRIPT), self.curriculum, "--warm", str(folder / WARM),
            "--run-dir", str(folder / (name or variant)), "--seed", str(seed), "--steps", str(self.steps),
            "--eval-freq", str(self.eval_freq), "--sandbox", self.sandbox, *tasks, *self.more, *options,
        ]  # fmt: skip

    def choose_rates(self, out: Path, variants: Mapping[str, list[str]], sitting: Sitting) -> dict[str, float]:
        """By variant the best of the rates; of a variant that is not in it, its own."""
        rated = [name for name in variants if name != PLAIN]
        if len(self.rates) < 2:
            return {name: rate for name in rated for rate in self.rates}
        folders = {seed: tune_folder(out, seed) for seed in self.tune}
        runs = [(name, rate, run_name(name, rate)) for name in rated for rate in self.rates]
        self.warm_up(folders, [run for _, _, run in runs], sitting)
        sitting.run(
            [
                (folder / run, self.run(folder, seed, name, [*variants[name], *at(rate, name)], run))
                for seed, folder in folders.items()
                for name, rate, run in runs
            ]
        )
        return best_rates(tried(out, self.tune, rated, self.rates))

    def warm_up(self, folders: Mapping[int, Path], names: Collection[str], sitting: Sitting) -> None:
        """The warm start of each seed of which a run of these names is not finished."""
        begun = {seed: folder for seed, folder in folders.items() if not all(finished(folder / n) for n in names)}
        sitting.run([(folder / WARM, self.warm_start(folder, seed)) for seed, folder in begun.items()])

    def go(self, out: Path, seeds: Sequence[int], chosen: Sequence[str], sitting: Sitting) -> None:
        """All that is left to run. Raises OutOfTime when some of it still is."""
        batch = load_config(find_curriculum(self.curriculum), parse_settings(self.more[1::2])).training.batch_size
        rows = track_of(self.curriculum).rows
        found = {name: more for name, more in variants(batch, rows).items() if name in chosen}
        rates = self.choose_rates(out, found, sitting)
        runs = {name: [*more, *at(rates[name], name)] if name in rates else more for name, more in found.items()}
        folders = {seed: out / f"seed{seed}" for seed in seeds}
        self.warm_up(folders, runs, sitting)
        sitting.run(  # all variants of a seed before the next one: a part is a fair race too
            [(f / name, self.run(f, seed, name, more)) for seed, f in folders.items() for name, more in runs.items()]
        )


def keep(race: Race, folder: Path, kept: Path) -> Path:
    """Write the figures of all finished runs of this folder into the file of a kept race, whose settings are the same."""
    before = kept_of(folder)
    runs: Runs = {} if before is None else dict(before.runs)
    for run in sorted(folder.glob("*/*")):
        if run.name != WARM and not run.is_symlink() and finished(run):
            runs[run.parent.name] = runs.get(run.parent.name, {}) | {run.name: figures(run)}
    if kept_of(kept) is not None:
        race.claim(kept)
    return write_kept(kept, asdict(race), runs)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = list(variants(1, 1))
    parser.add_argument("--curricula", nargs="+", default=RACED, help="(default: %(default)s)")
    parser.add_argument("--variants", nargs="+", choices=names, default=names, metavar="VARIANT", help="(default: all)")
    parser.add_argument("--rates", type=float, nargs="*",
                        help="learning rates to choose each variant's from (default: some around the curriculum's own; none: that)")  # fmt: skip
    parser.add_argument(
        "--tune", type=int, nargs="+", default=[99], help="seeds to choose it on (default: %(default)s)"
    )
    parser.add_argument("--targets", type=float, nargs="+", help="held-out accuracies (default: the curriculum's)")
    parser.add_argument("--steps", type=positive, help="updates of a run (default: the curriculum's)")
    parser.add_argument("--eval-freq", type=positive, help="updates between evaluations (default: the curriculum's)")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="write the figures of finished runs to FOLDER/CURRICULUM.json"
    )
    quick = "`expressions`, two seeds, 12 steps, five variants, no tuning, two runs at a time"
    add_common(parser, seeds=range(100, 105), out="runs/benchmark-race", quick=quick)
    return parser


def shorten(o: argparse.Namespace) -> None:
    """With `--quick`, in a folder of its own: runs of another length are another comparison."""
    o.curricula, o.seeds, o.rates, o.steps, o.eval_freq, o.eval_samples, o.jobs = (
        ["expressions"],
        [100, 101],
        [],
        12,
        4,
        150,
        2,
    )
    o.variants = ["rasch", UNIFORM, PLAIN, BEST, ADAPTED]
    o.targets = o.targets or [0.6, 0.65, 0.7]
    o.out = o.out.with_name(f"{o.out.name}-quick")


def check(o: argparse.Namespace, usage: argparse.ArgumentParser) -> None:
    """What can be said before anything has run."""
    if set(o.more[0::2]) - {"--set"} or len(o.more) % 2:
        usage.error("after -- only --set KEY=VALUE is known to both sides")
    if set(o.seeds) & set(o.tune) and (o.rates is None or len(o.rates) > 1):
        usage.error("--tune: a seed that is raced is not one to choose a learning rate on")
    others = [name for name in o.variants if of_trl(name)]
    runs = [o.out / Path(c).stem / f"seed{seed}" / name for c in o.curricula for seed in o.seeds for name in others]
    if o.minutes != 0 and not all(map(finished, runs)) and find_spec("trl") is None:  # after no minutes nothing is run
        usage.error("TRL is not installed: pip install 'kolmocli[bench]', or leave its --variants out")


def main() -> None:
    usage = parser()
    o = usage.parse_args()
    if o.quick:
        shorten(o)
    check(o, usage)
    sitting = open_sitting(o, prune)
    tracks = {name: track_of(name) for name in o.curricula}
    more = {name: [*QUIET, *switch(*track.ground), *o.more] for name, track in tracks.items()}
    configs = {name: load_config(find_curriculum(name), parse_settings(each[1::2])) for name, each in more.items()}
    races = {
        name: Race(
            name, o.model or track.model, o.steps or track.steps, o.eval_freq or track.eval_freq, o.eval_samples,
            o.sandbox if configs[name].runs_programs else "auto", more[name],
            list(track.rates) if o.rates is None else o.rates, o.tune,
        )
        for name, track in tracks.items()
    }  # fmt: skip
    folders = {name: o.out / Path(name).stem for name in races}
    for name, race in races.items():
        race.claim(folders[name])
    try:
        for name, race in races.items():
            race.go(folders[name], o.seeds, o.variants, sitting)
    except (OutOfTime, KeyboardInterrupt):
        print("stopped; the same command goes on", file=sys.stderr)
    for name, race in races.items() if o.keep else ():
        print(keep(race, folders[name], o.keep / folders[name].name), file=sys.stderr)
    found = {
        name: measured(folder, o.seeds, o.variants, o.targets or tracks[name].targets)
        for name, folder in folders.items()
    }
    rates = {
        name: tried(folders[name], o.tune, o.variants, race.rates)
        for name, race in races.items()
        if len(race.rates) > 1
    }
    if o.json:
        both = {
            name: {"settings": asdict(race), "rates": summary(rates.get(name, {})), **found[name]}
            for name, race in races.items()
        }
        print(json.dumps({"schema_version": 1, "curricula": both}, indent=2, allow_nan=False))
    else:
        show(found, rates_table(rates))
    (o.out / "race.png").write_bytes(picture(found))
    print(o.out / "race.png", file=sys.stderr)


if __name__ == "__main__":
    main()
