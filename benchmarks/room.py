"""Room to control: the packaged curricula, each run once as it comes, and whether their room foretells what control gains.

    python benchmarks/room.py                                     # prints what is kept
    python benchmarks/room.py --minutes 60                        # runs what is missing, smallest first
    python benchmarks/room.py --minutes 60 --curricula python --sandbox docker
    python benchmarks/room.py --calibrate --minutes 60            # the room of the kept races' starts
    python benchmarks/room.py --keep --page docs/information.md   # keeps what is finished, and writes the tables

One seed, one `kolmo train` for each curriculum. *Room* is U(best) ÷ U(uniform) of `curriculum/room.py`, by the groups of the
first 20 and of the last 20 steps: how many times fewer rollouts the best mixture of levels would need than uniform
sampling. Levels that a run left out count as their nearest neighbours, so these are lower bounds. `--calibrate`
measures it without that: it makes the warm start of the first seed of a kept race again and asks it for every level.

`text`, `dna` and `audio` need files of your own (`--data`), and are left out without them. A stopped run goes on with the same
command, and finished ones are not run again. With `--jobs 2` each run has half of the
cores. `benchmarks/room.json` has the figures that are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from evidence_page import BITS, CONTROLLED, RASCH, Runs, average, points, runs
from kept import Kept, kept_of, write_kept
from paired import WARM, Comparison, OutOfTime, Sitting, finished, open_sitting, positive
from paired_report import difference, figures
from race_report import UNIFORM

from kolmocli.config.file import load_config
from kolmocli.monitor.history import History, read_history
from kolmocli.monitor.metrics_page import Rows, renewed, table
from kolmocli.monitor.writer import write_atomically
from kolmocli.paths import find_curriculum

HERE = Path(__file__).parent
KEPT = HERE / "room"
"""`room.json`, as `kept.py` names it."""
ONCE = (
    "quickstart", "text", "dna", "expressions", "python", "audio", "digits", "numbers", "hints", "self-play", "reasoning",
    "arithmetic", "functions", "kolmogorov", "seqcoder",
)  # fmt: skip
"""The smallest first."""
GROUNDS = CONTROLLED | {"`arithmetic`, SmolLM2": "arithmetic"}
"""Kept races of `rasch` and uniform sampling, by what their tasks are called."""
STARTS = "calibrated"
"""The folder of warm starts of the kept races, beside those of the seeds."""
SAMPLES, TASKS = 8, 16
"""Of a calibration: rollouts of a task, and tasks of a level."""
UNRUN = "not run"


def once(folder: Path) -> dict[str, Any]:
    """What is kept of a finished run."""
    history = read_history(folder)
    rates, after = history.summary.pass_rate, history.summary.eval.after
    assert after is not None, f"{folder} is not finished"
    config = load_config(folder / "config.yaml")
    return {
        **{key: value for key, value in figures(folder).items() if key != "noise_scale"},
        "gain": after["gain"],
        "gain_ci": after["gain_ci"],
        "in_band": rates.in_band,
        "controlled": rates.controlled,
        "in_band_controlled": rates.in_band_controlled,
        "passed_groups": passed_groups(history),
        "ends": history.summary.ends,
        "room": [history.rl[at].room.to_json() for at in room_steps(history)],  # type: ignore[union-attr]
        "wall_s": history.summary.seconds.total,
        "sandbox": history.summary.sandbox.backend if config.runs_programs else None,
    }


def passed_groups(history: History) -> float | None:
    """The share of all groups that passed whole."""
    known = [m for m in history.rl if m.dead_pass is not None and m.groups]
    groups = sum(m.groups or 0 for m in known)
    return sum(m.dead_pass or 0 for m in known) / groups if groups else None


def room_steps(history: History) -> list[int]:
    """Where the first and the last step stand that say what room there was; nowhere in a run that is too short to tell."""
    known = [at for at, m in enumerate(history.rl) if m.room is not None]
    return [known[0], known[-1]] if known else []


def train(o: argparse.Namespace, sitting: Sitting) -> None:
    """Run, or go on with, the curricula that are not finished."""
    work = []
    for name in o.curricula:
        config = load_config(find_curriculum(name))
        where = ["--sandbox", o.sandbox] if config.runs_programs else []
        folder = o.out / f"seed{o.seed}" / name
        if config.data.train is not None:
            file = o.data / Path(config.data.train).name
            if not file.is_file():
                print(
                    f"{name}: left out, {file} is missing; the curriculum's file says how to make it", file=sys.stderr
                )
                continue
            where += ["--data", str(file)]
        work.append(
            (
                folder,
                [
                    sys.executable, "-m", "kolmocli", "train", name, "--seed", str(o.seed), "--quiet",
                    "--run-dir", str(folder), *where, "--set", "report=false",
                ],
            )
        )  # fmt: skip
    for each in work:  # one at a time: they share the cores with nothing of ours
        sitting.run([each])


def calibrate(o: argparse.Namespace, sitting: Sitting) -> None:
    """The room of each kept race at its start: its warm start once more, and then the calibration of that."""
    for race in GROUNDS.values():
        if o.calibrate and Path(race).name not in o.calibrate:
            continue
        kept = kept_of(HERE / "race" / race)
        assert kept is not None
        known = {field.name for field in fields(Comparison)}
        comparison = Comparison(**{key: value for key, value in kept.settings.items() if key in known})
        folder, seed = o.out / STARTS / Path(race).name, min(runs(race, UNIFORM))
        if (folder / "room.json").is_file():
            continue
        sitting.run([(folder / WARM, comparison.warm_start(folder, seed))])
        command = [
            sys.executable, "-m", "kolmocli", "curriculum", "calibrate", str(folder / WARM), comparison.curriculum,
            "--samples", str(SAMPLES), "--tasks", str(TASKS), "--seed", str(seed), "--json", "-q",
        ]  # fmt: skip
        print(f"{folder}: calibrating", file=sys.stderr, flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.returncode)
        write_atomically(folder / "room.json", json.dumps(json.loads(done.stdout)["room"]))


Found = Mapping[str, Mapping[str, Any]]


def found_of(o: argparse.Namespace) -> tuple[Found, Found]:
    """What is kept or finished: of the curricula, and of the starts of the races."""
    kept = kept_of(KEPT) or Kept({}, {})
    ran: dict[str, Any] = dict(kept.runs.get(f"seed{o.seed}", {}))
    starts: dict[str, Any] = dict(kept.runs.get(STARTS, {}))
    for name in o.curricula:
        folder = o.out / f"seed{o.seed}" / name
        if folder.is_dir() and finished(folder):
            ran[name] = once(folder)
    for race in GROUNDS.values():
        file = o.out / STARTS / Path(race).name / "room.json"
        if file.is_file():
            starts[Path(race).name] = json.loads(file.read_text())
    return ran, starts


def curricula_rows(ran: Found) -> Rows:
    return [_row(name, ran[name]) if name in ran else (f"`{name}`", UNRUN, "", "", "", "") for name in ONCE]


def _row(name: str, run: Mapping[str, Any]) -> tuple[str, ...]:
    low, high = run["gain_ci"]
    gain = f"{100 * run['gain']:+.1f} [{100 * low:.1f}, {100 * high:.1f}]".replace("-", "−")
    held = percent(run["in_band"])
    if run["controlled"] is not None and run["controlled"] < 1:
        held += f"; {percent(run['in_band_controlled'])} of the {percent(run['controlled'])} with something to control"
    rooms = [room["ratio"] for room in run["room"]]
    return (
        f"`{name}`", f"{percent(run['before'])} → {percent(run['final'])}: {gain}", held, number(run["signal_share"]),
        " / ".join(percent(run[groups]).removesuffix(" %") for groups in ("failed_groups", "passed_groups")),
        " → ".join(map(number, rooms)) if rooms else "–",
    )  # fmt: skip


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def race_rows(starts: Found) -> Rows:
    return list(_race_rows(starts))


def _race_rows(starts: Found) -> Iterator[tuple[str, ...]]:
    for ground, race in GROUNDS.items():
        rasch, uniform = runs(race, RASCH), runs(race, UNIFORM)
        room = starts.get(Path(race).name)
        bits = average(rasch, BITS) / average(uniform, BITS)
        yield (
            f"{ground}, {len(uniform)} seeds", UNRUN if room is None else ratio(room), f"{bits:.2f}", gained(rasch, uniform),
        )  # fmt: skip


def ranked(starts: Found) -> float | None:
    """Spearman's correlation of the rooms at the start with the mean gains; `None` for fewer than three races."""
    known = [
        (starts[Path(race).name]["ratio"], difference(runs(race, RASCH), runs(race, UNIFORM))["mean"])
        for race in GROUNDS.values()
        if starts.get(Path(race).name, {}).get("ratio") is not None
    ]
    if len(known) < 3:
        return None
    rooms, gains = (np.argsort(np.argsort(column)) for column in zip(*known, strict=True))
    return float(np.corrcoef(rooms, gains)[0, 1])


def gained(rasch: Runs, uniform: Runs) -> str:
    """`points`; of two seeds their mean alone, whose interval says nothing."""
    text = points(rasch, uniform)
    return text if len(uniform) > 2 else text.partition(" [")[0].lstrip("*")


def ratio(room: Mapping[str, Any]) -> str:
    if room["ratio"] is None:
        return "–"
    return f"{room['ratio']:.2f}" + (f" [{room['ci'][0]:.2f}, {room['ci'][1]:.2f}]" if room["ci"] else "")


def tables(ran: Found, starts: Found) -> dict[str, tuple[tuple[str, ...], Any]]:
    return {
        "room: curricula": (
            ("curriculum", "held-out accuracy: gain, points", "in band", "S", "groups that fail / pass whole, %", "room, start → end"),
            lambda: curricula_rows(ran),
        ),
        "room: races": (
            ("tasks", "room at the start", "bits, `rasch` ÷ uniform", "gain, points"),
            lambda: race_rows(starts),
        ),
    }  # fmt: skip


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--curricula", nargs="+", choices=ONCE, default=list(ONCE), metavar="NAME", help="(default: all)"
    )
    races = [Path(race).name for race in GROUNDS.values()]
    parser.add_argument(
        "--calibrate",
        nargs="*",
        choices=races,
        metavar="RACE",
        help="measure the room of these races' starts instead (all)",
    )
    parser.add_argument(
        "--data", type=Path, default=Path("runs/room/data"),
        help="folder of text.jsonl, dna.jsonl and audio.jsonl (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=11, help="(default: %(default)s)")
    parser.add_argument("--sandbox", default="auto", choices=["auto", "docker", "embedded"])
    parser.add_argument(
        "--minutes", type=float, default=0, help="run what is missing for so long (default: nothing is run)"
    )
    parser.add_argument("--jobs", type=positive, default=1, help="share of the cores that a run has: 1 ÷ JOBS")
    parser.add_argument("--out", type=Path, default=Path("runs/room"), help="folder of the runs (default: %(default)s)")
    parser.add_argument(
        "--keep", action="store_true", help="write the figures of finished runs to benchmarks/room.json"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables between their markers on this page")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main() -> None:
    o = parser().parse_args()
    if o.minutes > 0:
        sitting = open_sitting(o)
        try:
            (train if o.calibrate is None else calibrate)(o, sitting)
        except (OutOfTime, KeyboardInterrupt):
            print("stopped; the same command goes on", file=sys.stderr)
    ran, starts = found_of(o)
    if o.keep:
        found = {f"seed{o.seed}": dict(ran), STARTS: dict(starts)}
        write_kept(KEPT, {"samples": SAMPLES, "tasks": TASKS}, {name: each for name, each in found.items() if each})
    both = tables(ran, starts)
    if o.page:
        o.page.write_text(renewed(o.page.read_text("utf-8"), both), "utf-8")
    if o.json:
        print(json.dumps({"schema_version": 1, "seed": o.seed, "curricula": ran, "races": starts}, indent=1))
        return
    for name, (head, rows) in both.items():
        print(f"{name.removeprefix('room: ')}\n\n{table(head, rows())}\n")
    if (both_ranked := ranked(starts)) is not None:
        print(f"ranks of room and gain correlate at {both_ranked:.2f}")


if __name__ == "__main__":
    main()
