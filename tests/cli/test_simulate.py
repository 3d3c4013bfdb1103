"""`kolmo curriculum simulate`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import refused
from tests.conftest import Run

FIGURES = {"settle", "rmse", "rmse_lag6", "dead_groups", "coverage", "recovery"}


def test_the_figures_as_json(kolmo: Run) -> None:
    done = kolmo(
        "curriculum", "simulate", "--controller", "rasch", "--controller", "uniform", "--seeds", 2, "--steps", 200, "--json"
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["schema_version"] == 1
    assert list(report["controllers"]) == ["rasch", "uniform"]
    assert all(set(figures) >= FIGURES for figures in report["controllers"].values())
    assert report["controllers"]["rasch"]["rmse"] < report["controllers"]["uniform"]["rmse"]
    assert (report["seeds"], report["steps"], report["lag"], report["scenario"]) == (2, 200, 0, "base")


def test_the_figures_as_tables(kolmo: Run) -> None:
    done = kolmo(
        "curriculum", "simulate", "--controller", "rasch", "--controller", "oracle", "--scenario", "steep",
        "--scenario", "noisy", "--lag", 2, "--seeds", 1, "--steps", 100,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "results 2 steps late" in done.stdout
    assert "steep: four times as steep" in done.stdout
    assert "noisy: " in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines() if " – " in line or "%" in line].count("rasch") == 2


def test_one_kind_plays_with_several_settings(kolmo: Run) -> None:
    variants = ("rasch", "rasch:target=0.45", "rasch:weigh=alive,guard=0.1")
    flags = [part for name in variants for part in ("--controller", name)]
    done = kolmo("curriculum", "simulate", *flags, "--scenario", "transfer", "--seeds", 1, "--steps", 100, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)["controllers"]
    assert list(figures) == list(variants)
    assert len({json.dumps(row) for row in figures.values()}) == 3
    for name, said in (
        ("rash:target=0.4", "--controller rash: no such choice; did you mean rasch?"),
        ("rasch:target", "--controller rasch:target: 'target' is no KEY=VALUE, such as rasch:target=0.45"),
        ("rasch:weigh=both", "--controller rasch:weigh=both: controller.weigh: must be one of"),
        ("rasch:foo=1", "--controller rasch:foo=1: controller has no key foo; did you mean floor?"),
        ("rasch:prior=p.json", "--controller rasch:prior=p.json: a profile is of a real curriculum"),
    ):
        assert refused(kolmo("curriculum", "simulate", "--controller", name), 2).startswith(said)


def test_finite_sets_are_played_on_too(kolmo: Run) -> None:
    asked = ("curriculum", "simulate", "--prompts", 200, "--seeds", 1)
    done = kolmo(*asked, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["prompts"]["200"]
    assert list(rows) == ["posterior", "profiled", "bots", "mopps", "buckets", "pool", "refill", "uniform"]
    assert rows["posterior"]["information"] > 1.3 * rows["uniform"]["information"]
    assert rows["refill"]["updates"] < 300 == rows["uniform"]["updates"]
    assert "200 prompts" in kolmo(*asked, "--controller", "uniform").stdout
    for flags, said in (
        (("--scenario", "base"), "--scenario means nothing with --prompts"),
        (("--controller", "rasch"), "--controller rasch: no such choice; there are posterior"),
        (("--set", "controller.floor=0.1"), "--set controller.floor: with --prompts only controller.target can be set"),
    ):
        assert refused(kolmo(*asked, *flags), 2).startswith(said)


FINITE = """\
from kolmocli.curriculum.simulator.finite import PLAYERS

class First:
    def __init__(self, world):
        self.size = world.size

    def draw(self):
        return range(16)

    def observe(self, prompts, passes):
        pass

PLAYERS["first"] = First
"""


def test_a_player_of_a_plugin_plays_on_finite_sets(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FINITE)
    done = kolmo("curriculum", "simulate", "--plugin", "first.py", "--prompts", 50, "--controller", "first", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["prompts"]["50"]["first"]["asked"] == 16


def test_what_does_not_exist_is_refused(kolmo: Run) -> None:
    line = refused(kolmo("curriculum", "simulate", "--controller", "rash"), 2)
    assert line == "--controller rash: no such choice; did you mean rasch?"
    line = refused(kolmo("curriculum", "simulate", "--scenario", "shok"), 2)
    assert line == "--scenario shok: no such choice; did you mean shock?"
    assert "--steps" in refused(kolmo("curriculum", "simulate", "--steps", 5), 2)


def test_settings_reach_the_controllers_and_nothing_else_may_be_set(kolmo: Run) -> None:
    def simulated(*settings: str) -> Run:
        flags = [part for setting in settings for part in ("--set", setting)]
        return kolmo(
            "curriculum", "simulate", "--controller", "integral", "--seeds", 1, "--steps", 100, "--json", *flags
        )

    usual, lively = (json.loads(simulated(*s).stdout) for s in ((), ("controller.integral.gain=0.2",)))
    assert lively["controllers"]["integral"] != usual["controllers"]["integral"]
    assert (usual["settings"], lively["settings"]) == ({}, {"controller.integral.gain": 0.2})
    assert json.loads(simulated("controller.target=0.75").stdout)["target"] == 0.75
    for key, said in (
        ("training.steps", "only what is below controller can be set here, and --controller is the kind"),
        ("controller.kind", "only what is below controller can be set here, and --controller is the kind"),
        ("controller.integral.gian", "controller.integral has no key gian; did you mean gain?"),
    ):
        assert refused(simulated(f"{key}=1"), 2) == f"--set {key}=1: {said}"
    line = refused(simulated("controller.integral.gain=-1"), 2)
    assert line == "--set controller.integral.gain: must be > 0, got -1"


def test_it_needs_no_torch() -> None:
    code = "import sys, kolmocli.curriculum.simulator.compare as c; c.compare(['rasch'], ['base'], 0, 1, 100); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


PLUGIN = """\
from kolmocli.curriculum import LevelBase, register_controller

@register_controller("still")
class Still(LevelBase):
    level = 1.0

    def observe(self, results):
        return []
"""


def test_a_controller_of_a_plugin_plays_too(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "still.py").write_text(PLUGIN)
    done = kolmo(
        "curriculum", "simulate", "--plugin", "still.py", "--controller", "still", "--controller", "rasch",
        "--seeds", 1, "--steps", 100, "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads(done.stdout)["controllers"]) == ["still", "rasch"]
    line = refused(kolmo("curriculum", "simulate", "--controller", "still"), 2)
    assert line.startswith("--controller still: no such choice; there are rasch, integral")


def test_a_plugin_that_fails_is_one_line(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(PLUGIN + "1 / 0\n")
    line = refused(kolmo("curriculum", "simulate", "--plugin", "bad.py"), 2)
    assert line == "plugin bad.py:9: ZeroDivisionError: division by zero"
    line = refused(kolmo("curriculum", "simulate", "--plugin", "none.py"), 2)
    assert line == "plugin none.py: no such file"
