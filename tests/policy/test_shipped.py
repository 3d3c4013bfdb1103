"""The policy that comes with kolmo: its files are whole and small, every command takes it by its name, and it is trained."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

import kolmocli
from kolmocli.checkpoints import MANIFEST, require_as_written
from kolmocli.config.file import load_config
from kolmocli.errors import KolmoError, UsageError
from kolmocli.language.interpreter import evaluate
from kolmocli.language.program import parse
from kolmocli.paths import SHIPPED, model_folder
from kolmocli.policy.loading import load_policy
from tests.conftest import Run

FOLDER = model_folder(SHIPPED)


def test_its_files_are_whole_small_and_explained() -> None:
    require_as_written(FOLDER)
    assert set(json.loads((FOLDER / MANIFEST).read_text())) == {
        file.name for file in FOLDER.iterdir() if file.name not in (MANIFEST, "config.yaml", "README.md")
    }
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 10_000_000
    assert "# " in (FOLDER / "README.md").read_text()


def test_its_settings_are_those_of_no_machine() -> None:
    config = load_config(FOLDER / "config.yaml")
    assert (config.threads, config.model.precision, config.model.device) == (None, "auto", "auto")
    assert config.data.train is None


def test_a_folder_of_that_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert model_folder(SHIPPED) == FOLDER
    (tmp_path / SHIPPED).mkdir()
    with pytest.raises(UsageError, match="shipped: a folder without a model"):
        load_policy(SHIPPED, device="cpu")


def test_a_damaged_one_is_refused(tmp_path: Path) -> None:
    for file in FOLDER.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = bytearray((tmp_path / "model.safetensors").read_bytes())
    weights[len(weights) // 2] ^= 1
    (tmp_path / "model.safetensors").write_bytes(weights)
    with pytest.raises(KolmoError, match=r"model\.safetensors is not what was written there"):
        load_policy(str(tmp_path), device="cpu")


def test_it_answers_no_questions() -> None:
    with pytest.raises(UsageError, match="shipped writes programs and has no letters for questions"):
        load_policy(SHIPPED, device="cpu", alphabet="characters")


def test_it_is_evaluated_on_its_own_tasks_and_is_good_at_the_easiest() -> None:
    report = kolmocli.evaluate(SHIPPED, tasks=100, device="cpu")
    assert report["model"] == SHIPPED
    assert report["buckets"]["published/1"]["accuracy"] >= 0.8
    assert report["accuracy"] >= 0.6


def test_its_programs_join_the_search(kolmo: Run) -> None:
    # No search: what is found is the policy's.
    done = kolmo(
        "solve", *range(40, 60), *range(40, 60), "--model", SHIPPED, "--seconds", 0, "--device", "cpu", "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["from"] in ("policy", "both")
    assert evaluate(parse(found["program"])) == [*range(40, 60), *range(40, 60)]


def test_its_programs_join_an_archive(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(bytes([*range(40, 60)] * 3 + [7] * 40))
    packed, again = tmp_path / "packed", tmp_path / "again"
    done = kolmo("compress", tmp_path / "plain", "-o", packed, "--model", SHIPPED, "--samples", 2)
    assert done.returncode == 0, done.stderr
    assert kolmo("decompress", packed, "-o", again).returncode == 0
    assert again.read_bytes() == (tmp_path / "plain").read_bytes()


def test_a_run_goes_on_from_it(tmp_path: Path) -> None:
    curriculum = {
        "name": "on",
        "model": {"name": SHIPPED, "device": "cpu"},
        "families": {"published": {"levels": [{"length": [2, 24]}]}},
        "warmup": {"max_steps": 0},
        "training": {"steps": 1, "batch_size": 8, "group_size": 4, "learning_rate": 1e-5},
        "evaluation": {"tasks": 60},
        "report": False,
    }
    summary = kolmocli.train(curriculum, run_dir=tmp_path / "run")
    assert summary["eval"]["before"]["accuracy"] >= 0.5
    saved = load_policy(str(tmp_path / "run"), device="cpu")
    assert saved.reads_segments
    assert saved.parameters == load_policy(SHIPPED, device="cpu").parameters


def test_the_figures_of_its_card_are_printed_by_a_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "shipped.py"
    monkeypatch.chdir(tmp_path)
    asked = ["--pairs", "20", "--samples", "2", "--models", SHIPPED, str(FOLDER)]
    monkeypatch.setattr(sys, "argv", [str(script), *asked])
    monkeypatch.syspath_prepend(str(script.parent))
    runpy.run_path(str(script), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("20 pairs of the published distribution, seed 1;")
    rates = [float(line.split()[-1]) for line in lines[1:3]]
    assert rates[0] < rates[1] < 1  # the programs that made the sequences, and their segments written down
    kinds = [[int(count) for count in re.findall(r"\d+", line)] for line in lines[4:11:2]]
    assert [sum(counts) for counts in kinds] == [20] * 4
    assert kinds[0] == kinds[2]
    assert [line.split(" accuracy ")[0].strip() for line in lines[3:11:2]] == [
        "shipped, greedy", "shipped, best of 2", "shipped, greedy", "shipped, best of 2",
    ]  # fmt: skip
    # The same weights twice: no bit more or less, and no pair won or lost.
    low, high = re.findall(
        r"[+-][0-9.]+", lines[11].removeprefix(same := "    against the first, greedy: bits 1.000 [1.000, 1.000]")
    )
    assert lines[11].startswith(same)
    assert float(low) == -float(high)
