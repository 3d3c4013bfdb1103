"""`kolmo curriculum show` and `validate`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from kolmocli.config import Config
from kolmocli.config.controller import build_controller
from kolmocli.config.file import load_config
from kolmocli.curriculum.base import Bucket
from kolmocli.paths import find_curriculum
from kolmocli.tasks.sources import family_tasks
from tests.cli.conftest import SMALL, refused
from tests.conftest import Run, packaged


def test_show_prints_each_level_with_a_task(kolmo: Run, small: Path) -> None:
    shown = kolmo("curriculum", "show", small, "--json", "--samples", 2)
    assert shown.stderr == ""
    described = json.loads(shown.stdout)
    assert described["schema_version"] == 1
    family = described["families"]["runs"]
    assert family["target"] == 0.5
    assert family["shared"]["base_length"] == [3, 9]
    assert [level["knobs"] for level in family["levels"]] == [{"bases": [1, 1]}, {"bases": [2, 2]}]
    for level in family["levels"]:
        assert len(level["samples"]) == 2
        for sample in level["samples"]:
            assert "repeat_num(" in sample["program"]
            assert sample["sequence"]

    table = kolmo("curriculum", "show", small)
    assert table.returncode == 0
    first = family["levels"][0]["samples"][0]
    assert first["program"] in table.stdout
    assert " ".join(map(str, first["sequence"])) in table.stdout
    assert "bases 2" in table.stdout


@pytest.mark.parametrize("name", packaged())
def test_packaged_curricula_are_valid(kolmo: Run, name: str) -> None:
    done = kolmo("curriculum", "validate", name)
    assert (done.returncode, done.stdout) == (0, f"{name}: ok\n")
    assert all(line.endswith("not checked") for line in done.stderr.splitlines())


@pytest.mark.parametrize("name", packaged())
def test_packaged_curricula_have_a_uniform_baseline(name: str) -> None:
    config = load_config(find_curriculum(name), {"controller.kind": "uniform"})
    buckets = family_tasks(config, "train").buckets()
    made = build_controller(config.controller, config.families, buckets, config.training.steps)
    weights = {f: m.weight for f, m in made.metrics().items()}
    sizes = Counter(b.family for b in buckets if in_bounds(config, b))
    assert weights == pytest.approx({family: size / sizes.total() for family, size in sizes.items()})


def in_bounds(config: Config, bucket: Bucket) -> bool:
    low, high = config.families[bucket.family].bounds or (1, bucket.level)
    return low <= bucket.level <= high


def test_validate_says_everything_that_is_wrong(kolmo: Run, small: Path) -> None:
    wrong = small.with_name("wrong.yaml")
    wrong.write_text(SMALL.replace("steps: 3", "stepz: 3").replace("tasks: 4", "tasks: 0"))
    done = kolmo("curriculum", "validate", "small.yaml", "wrong.yaml")
    assert done.returncode == 2
    assert done.stdout == "small.yaml: ok\n"
    assert sorted(done.stderr.splitlines()) == [
        "wrong.yaml:8: training.stepz: unknown key; did you mean steps?",
        "wrong.yaml:9: evaluation.tasks: must be > 0, got 0",
    ]
    found = json.loads(kolmo("curriculum", "validate", "small.yaml", "wrong.yaml", "--json").stdout)
    assert [(f["file"], f["ok"], len(f["problems"])) for f in found["files"]] == [
        ("small.yaml", True, 0),
        ("wrong.yaml", False, 2),
    ]


def test_validate_reads_the_files_of_tasks_that_are_there(kolmo: Run, small: Path, tmp_path: Path) -> None:
    small.write_text(f"{SMALL}data: {{train: train.jsonl, eval: eval.jsonl, families: true}}\n")
    (tmp_path / "train.jsonl").write_text('{"question": "1 + 1?"}\n')
    done = kolmo("curriculum", "validate", "small.yaml")
    assert done.returncode == 2
    assert "train.jsonl" in done.stderr and "eval.jsonl: not there, and not checked" in done.stderr
    (tmp_path / "train.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}\n')
    assert kolmo("curriculum", "validate", "small.yaml").returncode == 0


@pytest.mark.parametrize("data", ["per_task: true", "per_task: false"])
def test_validate_takes_a_profile_of_the_file_of_tasks(kolmo: Run, small: Path, tmp_path: Path, data: str) -> None:
    kind = "posterior" if "true" in data else "rasch"
    small.write_text(
        f"name: mine\nmodel: {{name: micro}}\ndata: {{train: t.jsonl, {data}}}\ncontroller: {{kind: {kind}, prior: t.jsonl}}\n"
    )
    (tmp_path / "t.jsonl").write_text('{"question": "1 + 1?", "answer": "2", "level": 1, "pass_rate": 0.5}\n')
    done = kolmo("curriculum", "validate", "small.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "small.yaml: ok\n", "")


def test_validate_finds_a_level_that_no_task_can_meet(kolmo: Run, small: Path) -> None:
    small.write_text(SMALL.replace("{bases: [2, 2]}", "{bases: [1, 1], length: [100, 200]}"))
    done = kolmo("curriculum", "validate", "small.yaml")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("small.yaml: families.runs.levels[1]: ")


def test_validate_finds_floors_that_do_not_fit_and_bounds_off_the_ladder(kolmo: Run, small: Path) -> None:
    small.write_text(SMALL + "controller: {floor: 0.1}\n")
    assert kolmo("curriculum", "validate", "small.yaml").returncode == 0
    family = "  more:\n    floor: 0.95\n    levels: [{bases: [1, 1]}]\n"
    small.write_text(SMALL.replace("families:\n", "families:\n" + family) + "controller: {floor: 0.1}\n")
    done = kolmo("curriculum", "validate", "small.yaml")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("small.yaml: the floors of 2 families add to 1.05, which is above 1;")
    small.write_text(SMALL.replace("families:\n", "families:\n" + family.replace("floor: 0.95", "bounds: [1, 2]")))
    done = kolmo("curriculum", "validate", "small.yaml")
    assert done.returncode == 2
    assert ": families.more.bounds: 1 to 2 is not a part of the 1 levels, easy to hard" in done.stderr


def test_show_says_which_levels_are_used(kolmo: Run, small: Path) -> None:
    small.write_text(SMALL.replace("    levels:", "    bounds: [1, 1]\n    levels:", 1))
    assert "target pass rate 0.5, levels 1 to 1" in kolmo("curriculum", "show", small).stdout


def test_an_unknown_name_is_refused(kolmo: Run) -> None:
    line = refused(kolmo("curriculum", "show", "quickstrat"), 2)
    assert line == "quickstrat: neither a curriculum file nor a packaged curriculum; did you mean quickstart?"
