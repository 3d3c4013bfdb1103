"""The commands with questions instead of programs: what they take, and what they refuse in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from kolmocli.cli.app import app
from kolmocli.config import Config
from kolmocli.config.file import dump_config, load_config
from kolmocli.config.tree import ConfigError
from kolmocli.errors import UsageError
from kolmocli.paths import find_curriculum
from kolmocli.tasks.family import families
from tests.evaluation.served import says, serving

DIGITS = find_curriculum("digits")
OF_A_FILE = Path(__file__).parents[2] / "examples" / "gsm8k.yaml"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.glob("runs*")), "a refused command left something behind"


def kolmo(*arguments: str) -> None:
    """In this process; errors are raised and not yet printed."""
    app(list(arguments), prog_name="kolmo", standalone_mode=False)


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    kolmo("train", *arguments, "--dry-run", "--json")
    return dict(json.loads(capsys.readouterr().out))


def test_a_task_is_one_family_of_the_digits(capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned(capsys, "--task", "sum_digits", "--num-steps", "20", "--eval-samples", "20")
    assert (plan["name"], plan["families"], plan["steps"], plan["sandbox"]) == ("digits", 1, 20, "none")
    assert list(plan["config"]["families"]) == ["sum_digits"]
    whole = Config.model_validate(planned(capsys, "digits")["config"])
    assert whole == load_config(DIGITS)
    assert Config.model_validate(plan["config"]).families["sum_digits"] == whole.families["sum_digits"]


def test_a_sandbox_that_is_not_needed_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert planned(capsys, "digits", "--sandbox", "embedded")["sandbox"] == "none"


def test_a_task_is_a_family_of_the_curriculum_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(planned(capsys, "quickstart", "--task", "runs")["config"]["families"]) == ["runs"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--task", "sum_digit"), "--task sum_digit: the curriculum has no such family; did you mean sum_digits"),
        (("--task", "runs", "quickstart", "--data", "d.jsonl"), "takes its tasks from d.jsonl; use only one of them"),
        (("digits", "--set", "sandbox.cpu_ms=50"), "no program runs, and no sandbox opens; remove it"),
        (("digits", "--length-penalty", "0.1"), "pays for short programs; set it to binary"),
        (("digits", "--set", "reward.partial=0.1"), "paid for pieces of a sequence; remove it"),
        (("digits", "--set", "hints.most=0.5"), "gives the beginning of a program; remove it"),
        (("digits", "--set", "self_play.share=0.5"), "for targets that a program makes; remove it"),
        (("digits", "--set", "training.shaping=0.5"), "paid for pieces of a sequence; remove it"),
        (("digits", "--set", "training.hindsight=1"), "learns from what a program makes; remove it"),
        (("digits", "--set", "families.sum_digits.levels[0].digits=[3, 2]"), "levels[0].digits: 3 is above 2"),
        (("digits", "--set", "families.sum_digits.levels[0].digit=[3, 2]"), "did you mean digits?"),
        (("digits", "--set", "families.sum_digits.task=sum_digit"), "no such task: sum_digit; did you mean sum_digits"),
        (("digits", "--set", "families.sum_digits.bounds=[1, 9]"), "1 to 9 is not a part of the 5 levels"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        kolmo("train", *arguments, "--dry-run")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_file_may_ask_questions_and_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = yaml.safe_load(DIGITS.read_text())
    data["families"]["ramps"] = {"levels": [{}]}
    data |= {"reward": {"kind": "relative", "partial": 0.1}, "training": {"hindsight": 0.5}, "hints": {"most": 0.5}}
    both = tmp_path / "both.yaml"
    both.write_text(yaml.safe_dump(data, sort_keys=False))
    config = load_config(both)
    assert list(config.families) == ["sum_digits", "reverse_digits", "ramps"]
    assert (config.languages, config.runs_programs, config.alphabet) == ({"dsl", "text"}, True, "characters")
    plan = planned(capsys, str(both), "--sandbox", "embedded")
    assert (plan["families"], plan["sandbox"]) == (3, "embedded")
    both.write_text(dump_config(config))
    assert load_config(both) == config


def test_a_file_of_sequences_takes_the_place_of_the_questions_or_stands_beside_them() -> None:
    for beside, languages in ((False, {"dsl"}), (True, {"dsl", "text"})):
        config = load_config(DIGITS, {"data.train": "d.jsonl", "data.families": beside})
        assert config.languages == languages


def test_a_key_of_the_other_kind_is_named_with_its_line(tmp_path: Path) -> None:
    text = DIGITS.read_text().replace("- {digits: [2, 3]}", "- {integers: [2, 3]}")
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"wrong.yaml:\d+: families.reverse_digits.levels\[0\].integers: unknown key"):
        load_config(tmp_path / "wrong.yaml")


def test_show_has_questions_with_their_answers(capsys: pytest.CaptureFixture[str]) -> None:
    kolmo("curriculum", "show", "digits", "--json")
    shown = json.loads(capsys.readouterr().out)
    level = shown["families"]["reverse_digits"]["levels"][0]
    assert (shown["questions"], level["knobs"]) == (True, {"digits": [2, 3]})
    assert set(level["samples"][0]) == {"question", "answer"}
    assert shown["families"]["sum_digits"]["levels"][-1]["knobs"] == {}
    kolmo("curriculum", "show", "digits")
    assert "the whole task" in capsys.readouterr().out


def test_a_curriculum_of_a_file_needs_no_families(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kolmo("curriculum", "validate", str(OF_A_FILE))
    kolmo("curriculum", "show", str(OF_A_FILE))
    assert "tasks of train.jsonl" in capsys.readouterr().out
    for split, first in (("train", 0), ("eval", 50)):
        rows = [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(first, first + 40)]
        (tmp_path / f"{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    files = ("--data", str(tmp_path / "train.jsonl"), "--eval-data", str(tmp_path / "eval.jsonl"))
    few = ("--model", "tiny", "--steps", "1", "--batch-size", "16", "--eval-samples", "2", "-q")
    kolmo("train", str(OF_A_FILE), *files, *few, "--run-dir", str(tmp_path / "run"))
    assert load_config(tmp_path / "run" / "config.yaml").families == {}
    alone = tmp_path / "alone.yaml"
    alone.write_text("data: {train: a.jsonl, families: true}\n")
    with pytest.raises(ConfigError, match="families: has none; add one"):
        load_config(alone)


def test_show_says_of_each_family_of_a_mixed_file_what_it_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_things", "_owners"):
        monkeypatch.setattr(families, name, dict(getattr(families, name)))
    (tmp_path / "mine.py").write_text(
        "import kolmocli as kolmo\n"
        "@kolmo.family('guesses', levels=1)\n"
        "def guesses(level, rng, *, below=9):\n"
        "    return kolmo.Task(prompt=f'a number below {below}: {rng.random()}', check=bool)\n"
    )
    (tmp_path / "three.yaml").write_text(
        "families:\n  sums: {task: sum_digits, levels: [{}]}\n  ramps: {levels: [{}]}\n  guesses: {below: 7}\n"
    )
    asked = ("curriculum", "show", "three.yaml", "--plugin", "mine.py")
    kolmo(*asked, "--json")
    shown = json.loads(capsys.readouterr().out)
    assert (shown["questions"], shown["families"]["guesses"]["shared"]) == (False, {"below": 7})
    assert {name: family["task"] for name, family in shown["families"].items()} == {
        "sums": "sum_digits", "ramps": "programs", "guesses": "guesses",
    }  # fmt: skip
    assert shown["families"]["guesses"]["levels"][0]["samples"][0]["answer"] is None
    kolmo(*asked)
    text = capsys.readouterr().out
    sums, ramps, guesses = (text.index(f"\n{name}: target") for name in ("sums", "ramps", "guesses"))
    assert sums < text.index("the whole task") < ramps < text.index("the published generator") < guesses
    assert sums < text.index("question, and its answer") < ramps < text.index("program, and the sequence") < guesses
    assert guesses < text.index("a number below 7: ")


def test_programs_are_not_sampled_from_questions() -> None:
    with pytest.raises(UsageError, match="its tasks are questions, there are no programs to sample"):
        kolmo("data", "synth", "--curriculum", "digits")


def test_an_endpoint_is_asked_questions(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda number, body: says("[ANSWER] 0")) as served:
        kolmo(
            "eval", "--endpoint", served.url, "--model", "any", "--curriculum", "digits", "--tasks", "10", "--json"
        )  # fmt: skip
    report = json.loads(capsys.readouterr().out)
    assert (report["n"], report["accuracy"], report["format_rate"]) == (10, 0.0, 1.0)
    assert len(served.bodies) == 10


def test_calibration_asks_questions(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        kolmo(
            "curriculum", "calibrate", "tiny", "digits", "--tasks", "1", "--samples", "2", "--device", "cpu", "--json"
        )
    except typer.Exit as end:
        assert not end.exit_code
    families = json.loads(capsys.readouterr().out)["families"]
    assert {name: len(family["levels"]) for name, family in families.items()} == {"sum_digits": 5, "reverse_digits": 5}
