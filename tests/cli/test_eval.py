"""`kolmo eval`: the report of a run, and refusals."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Trained, refused
from tests.conftest import NO_ENGINE, Run

KEYS = {
    *("n", "accuracy", "accuracy_ci", "executable", "precision", "precision_xz", "compression_rate"),
    *("average_reward", "format_rate", "copy_rate", "buckets", "baselines"),
}


def test_a_run_is_evaluated_on_its_own_curriculum(kolmo: Run, trained: Trained) -> None:
    done = kolmo("eval", trained.folder, "--tasks", 4, "--sandbox", "embedded", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["schema_version"] == 1
    assert not KEYS - set(report)
    assert report["n"] == 4
    assert {bucket: found["n"] for bucket, found in report["buckets"].items()} == {"runs/1": 2, "runs/2": 2}
    assert {family: found["n"] for family, found in report["families"].items()} == {"runs": 4}


def test_sequences_of_a_file_as_a_table(kolmo: Run, trained: Trained) -> None:
    data = trained.folder.with_name("sequences.jsonl")
    data.write_text('{"sequence": [7, 7, 7, 7]}\n{"sequence": [1, 2, 3]}\n')
    done = kolmo("eval", trained.folder, "--data", data, "--samples", 2, "--sandbox", "embedded")
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "gzip" in done.stdout


def test_answers_may_be_as_long_as_is_said(kolmo: Run, trained: Trained) -> None:
    data = trained.folder.with_name("one.jsonl")
    data.write_text('{"sequence": [7, 7, 7, 7]}\n')
    done = kolmo("eval", trained.folder, "--data", data, "--max-tokens", 1, "--sandbox", "embedded")
    assert done.returncode == 0, done.stderr
    assert "1 answers ran out of tokens" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tiny", "--device", "abacus"], "--device abacus: no such choice; there are auto, cpu, cuda, mps"),
        (["tiny", "--sandbox", "dokcer"], "--sandbox dokcer: no such choice; did you mean docker?"),
        (["tiny", "--max-tokens", 10**11], "Invalid value for '--max-tokens'"),
        (["tiny", "--samples", 0], "Invalid value for '--samples'"),
        (["tiny", "--temperature", 0.5], "--temperature means nothing with --samples 1, which is greedy; ask for more"),
        (["tiny", "--samples", 2, "--temperature", "nan"], "--temperature nan: must be above 0 and finite"),
        (["--predictions", "p", "--temperature", 1], "--temperature means nothing with --predictions; it goes with a"),
        ([], "evaluate one of a model, --predictions, --endpoint"),
        (["tiny", "--predictions", "p"], "evaluate one of a model, --predictions, --endpoint, not a model and --pred"),
        (["--predictions", "p", "--samples", 2], "--samples means nothing with --predictions; it goes with a model or"),
        (["--predictions", "p", "--hold_out", 2], "--hold-out means nothing with --predictions; it goes with a model"),
        (["tiny", "--time-limit", 1, "--data", "d"], "--time-limit means nothing with a model; it goes with --pred"),
        (["--predictions", "p", "--language", "perl"], "--language perl: no such choice; there are python, dsl"),
        (["tiny", "--curriculum", "digits", "--strict"], "--strict means nothing without --data or --predictions: it"),
        (["--predictions", "p"], "p: cannot be read: No such file or directory"),
        (["--endpoint", "http://localhost:1"], "--endpoint needs --model: what the endpoint calls the model"),
        (["--endpoint", "localhost:1", "--model", "m"], "--endpoint localhost:1: not an address; it looks like"),
        (["tiny", "--curriculum", "quickstrat"], "quickstrat: neither a curriculum file nor a packaged curriculum"),
        (["no/such-model", "--curriculum", "quickstart"], "model 'no/such-model': "),
    ],
)
def test_wrong_arguments(kolmo: Run, arguments: list[object], said: str) -> None:
    assert refused(kolmo("eval", *arguments), 2).startswith(said)


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("*.safetensors", "a model without weights: no *.safetensors in it"),
        ("tokenizer*", "a model without a tokenizer: none of tokenizer.json, "),
    ],
)
def test_a_model_folder_that_lacks_something(
    kolmo: Run, trained: Trained, tmp_path: Path, missing: str, said: str
) -> None:
    whole = next((trained.folder / "checkpoints").glob("step_*"))
    shutil.copytree(whole, tmp_path / "broken", ignore=shutil.ignore_patterns(missing))
    done = kolmo("eval", "broken", "--curriculum", "quickstart", "--tasks", 1)
    assert refused(done, 2).startswith(f"broken: {said}")


def test_a_damaged_checkpoint_is_one_line(kolmo: Run, trained: Trained, tmp_path: Path) -> None:
    run = Path(shutil.copytree(trained.folder, tmp_path / "run"))
    newest = max((run / "checkpoints").iterdir())
    with (newest / "model.safetensors").open("r+b") as stream:
        stream.seek(1_000_000)
        stream.write(bytes(1 << 16))
    assert "model.safetensors is not what was written there" in refused(kolmo("eval", newest), 1)
    done = kolmo("eval", run, "--tasks", 2, "--sandbox", "embedded")
    assert done.returncode == 0
    assert f"{newest} is damaged and passed over: model.safetensors" in done.stderr


def test_predictions_as_a_table_and_as_json(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"sequence": [7, 7, 7], "generation": "output = [7] * 3\\n###"}\n')
    done = kolmo("eval", "--predictions", "p.jsonl", "--sandbox", "embedded", "--kt-compatible", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert not KEYS - set(report)
    assert (report["accuracy"], report["language"], report["published"]["natural"]["accuracy"]) == (1.0, "python", 1.0)
    done = kolmo("eval", "--predictions", "p.jsonl", "--sandbox", "embedded")
    assert "accuracy  100.0 %" in done.stdout


def test_what_is_held_out_is_asked_for(kolmo: Run, trained: Trained) -> None:
    data = trained.folder.with_name("long.jsonl")
    data.write_text('{"sequence": [7, 7, 7, 7, 7, 7, 7, 7]}\n{"sequence": [1, 2, 3]}\n')
    done = kolmo("eval", trained.folder, "--data", data, "--hold-out", 2, "--sandbox", "embedded", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["n"], report["continuation_n"]) == (2, 1)
    assert report["raw_bits"] == 8 * (6 + 3)


def test_what_could_not_be_judged_is_said_first_and_is_an_exit_code(kolmo: Run, tmp_path: Path) -> None:
    """A loop over tests has to be run, which the embedded sandbox refuses: nobody is judged by it."""
    loop = "def check(f):\n    for x in (1, 2):\n        assert f(x) == x + 1\n        print(__import__('os'))\n"
    tasks = [
        {"task_id": 1, "prompt": "def f(x):\n", "entry_point": "f", "test": loop},
        {"task_id": 2, "question": "1+1?", "answer": "2"},
    ]
    answers = [{"task_id": 1, "completion": "    return x + 1"}, {"task_id": 2, "completion": "[ANSWER] 2"}]
    for name, rows in (("d", tasks), ("p", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("eval", "--data", "d.jsonl", "--predictions", "p.jsonl", "--sandbox", "embedded")
    done = kolmo(*asked)
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines()[0].strip() == "1 of 2 tasks could not be judged"
    assert "--allow-masked takes them" in done.stderr
    assert kolmo(*asked, "--allow-masked", "--json").returncode == 0


def test_columns_of_a_file(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("nummer,frage,antwort\n1,1+1?,2\n")
    (tmp_path / "p.jsonl").write_text('{"task_id": 1, "completion": "[ANSWER] 2"}\n')
    asked = ("eval", "--data", "d.csv", "--predictions", "p.jsonl", "--json")
    assert "--columns prompt=nummer" in refused(kolmo(*asked), 2)
    done = kolmo(*asked, "--columns", "prompt=frage,answer=antwort,id=nummer")
    assert (done.returncode, json.loads(done.stdout)["accuracy"]) == (0, 1.0)
    assert "read by the names of its columns: `frage`, `antwort`, task_id from `nummer`" in done.stderr
    assert "--columns means nothing without --data" in refused(
        kolmo("eval", "tiny", "--columns", "prompt=a,answer=b"), 2
    )


def test_docker_without_an_engine(kolmo: Run) -> None:
    line = refused(kolmo("eval", "tiny", "--curriculum", "quickstart", "--sandbox", "docker", env=NO_ENGINE), 4)
    assert "--sandbox embedded" in line


def test_predictions_for_a_file(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"task_id": 1, "question": "Twice three?", "answer": "6"}\n')
    (tmp_path / "p.jsonl").write_text(
        '{"task_id": "1", "completion": "[ANSWER] 6"}\n{"task_id": 2, "completion": ""}\n'
    )
    done = kolmo("eval", "--data", "d.jsonl", "--predictions", "p.jsonl", "--json", env=NO_ENGINE)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["accuracy"], report["n"], report["unknown"], report["language"]) == (1.0, 1, 1, "text")
    assert "p.jsonl:2: skipped: no task 2 in the data" in done.stderr
    strict = kolmo("eval", "--data", "d.jsonl", "--predictions", "p.jsonl", "--strict", env=NO_ENGINE)
    assert refused(strict, 2) == "p.jsonl:2: no task 2 in the data"
