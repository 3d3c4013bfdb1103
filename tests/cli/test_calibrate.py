"""`kolmo curriculum calibrate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Trained, refused
from tests.conftest import NO_ENGINE, Run


def test_the_curves_of_a_run_as_json(kolmo: Run, trained: Trained, small: Path) -> None:
    arguments = (
        "curriculum",
        "calibrate",
        trained.folder,
        small,
        "--tasks",
        3,
        "--samples",
        2,
        "--sandbox",
        "embedded",
    )
    done = kolmo(*arguments, "--seed", 5, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["schema_version"], report["curriculum"], report["seed"]) == (1, "small", 5)
    assert (report["rollouts"], report["masked"]) == (2 * 3 * 2, 0)
    family = report["families"]["runs"]
    assert family["target"] == 0.5
    assert [(level["level"], level["tasks"], level["n"]) for level in family["levels"]] == [(1, 3, 6), (2, 3, 6)]
    for level in family["levels"]:
        assert level["ci"][0] <= level["pass_rate"] <= level["ci"][1]
    assert kolmo(*arguments, "--seed", 5, "--json").stdout == done.stdout


def test_the_curves_of_a_preset_as_tables(kolmo: Run, small: Path) -> None:
    done = kolmo("curriculum", "calibrate", "tiny", small, "--tasks", 1, "--samples", 2, "--sandbox", "embedded")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("tiny on small: 1 tasks per level, 2 programs each, 4 rollouts\n")
    assert "runs: below the target of 0.5 even at the easiest level" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tiny", "quickstrat"], "quickstrat: neither a curriculum file nor a packaged curriculum"),
        (["no/such-model", "quickstart"], "model 'no/such-model': "),
        (["tiny", "quickstart", "--samples", 1], "Invalid value for '--samples'"),
        (["tiny", "quickstart", "--sandbox", "dokcer"], "--sandbox dokcer: no such choice; did you mean docker?"),
        (["tiny", "quickstart", "--device", "abacus"], "--device abacus: no such choice; there are auto, cpu"),
    ],
)
def test_wrong_arguments(kolmo: Run, arguments: list[object], said: str) -> None:
    assert refused(kolmo("curriculum", "calibrate", *arguments), 2).startswith(said)


def test_docker_without_an_engine(kolmo: Run) -> None:
    done = kolmo("curriculum", "calibrate", "tiny", "quickstart", "--sandbox", "docker", env=NO_ENGINE)
    assert "--sandbox embedded" in refused(done, 4)


def test_a_file_gets_levels(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "Twice three?", "answer": "6"}\n')
    given = ("curriculum", "calibrate", "tiny", "--data", "q.jsonl", "-o", "o.jsonl", "--samples", 2)
    done = kolmo(*given)
    assert done.returncode == 0, done.stderr
    assert "tiny on q.jsonl: 1 tasks, 2 answers each, 2 rollouts" in done.stdout
    assert "o.jsonl has the tasks with these levels" in done.stdout
    assert json.loads((tmp_path / "o.jsonl").read_text())["level"] == 1
    assert refused(kolmo(*given), 1) == "o.jsonl: exists already; use -f to overwrite it"


def test_the_report_becomes_a_file_that_a_run_begins_with(kolmo: Run, tmp_path: Path) -> None:
    given = ("curriculum", "calibrate", "tiny", "digits", "-o", "p.json", "--tasks", 1, "--samples", 2, "-q")
    done = kolmo(*given)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "p.json").read_text())
    assert report["schema_version"] == 1
    begun = ("train", "digits", "--num-steps", 0, "--set", "warmup.max_steps=0", "--set", "evaluation.tasks=1")
    done = kolmo(*begun, "--set", "controller.prior=p.json", "--set", "report=false", "-q")
    assert done.returncode == 0, done.stderr
    other = kolmo("train", "quickstart", "--num-steps", 0, "--set", "controller.prior=p.json", "-q")
    assert refused(other, 2).startswith(f"controller.prior: p.json: {next(iter(report['families']))}: it measured the")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "calibrate on a curriculum or --data"),
        (("quickstart", "--data", "q.jsonl"), "--data q.jsonl: say with -o where the file with levels goes"),
        (("quickstart", "--force"), "--force means nothing without -o"),
        (("quickstart", "--levels", 2), "--levels means nothing with a curriculum"),
        (("--data", "q.jsonl", "-o", "o", "--tasks", 2), "--tasks means nothing with --data"),
        (("--data", "q.jsonl"), "--data q.jsonl: say with -o where the file with levels goes"),
        (("quickstart", "-o", "-"), "-o -: the tables go to standard output; name a file"),
        (("c.yaml", "-o", "./c.yaml", "-f"), "./c.yaml: is the input; name another output with -o"),
        (("--data", "q.jsonl", "-o", "o"), "q.jsonl: cannot be read: No such file"),
    ],
)
def test_wrong_arguments_for_a_file(kolmo: Run, tmp_path: Path, arguments: tuple[object, ...], said: str) -> None:
    (tmp_path / "c.yaml").write_text("families: {a: {levels: [{}]}}\n")
    assert refused(kolmo("curriculum", "calibrate", "tiny", *arguments), 2).startswith(said)
