"""`kolmo data slice`, `synth` and `show`: what goes where, and what is refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import refused
from tests.conftest import KOLMO, Run, command_environment


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_sequences_go_to_standard_output_and_the_summary_to_stderr(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("abcdefghij")
    done = kolmo("data", "slice", "in.txt", "--modality", "text", "--length", 4)
    assert done.returncode == 0
    assert [json.loads(line)["sequence"] for line in done.stdout.splitlines()] == [
        [97, 98, 99, 100],
        [101, 102, 103, 104],
    ]
    assert done.stderr == "2 sequences of 8 values, 2 left over: standard output\n"


def test_a_summary_as_json(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n1,-200\n2,x\n3,70000\n4,5\n")
    done = kolmo(
        "data", "slice", "in.csv", "--modality", "numbers", "--column", "b", "--length", "1", "-o", "o", "--json"
    )
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert report["schema_version"] == 1
    assert (report["sequences"], report["values"], report["bad"], report["lengths"]) == (3, 3, 1, [1])
    assert report["files"] == [{"file": "in.csv", "sequences": 3, "bad": 1}]
    assert [line["sequence"] for line in lines(tmp_path / "o")] == [[-200], [70000], [5]]
    assert done.stderr.splitlines()[0] == "in.csv:3: skipped: 'x' is not an integer"


def test_standard_input_into_a_file_and_quiet(tmp_path: Path) -> None:
    done = subprocess.run(
        [KOLMO, "data", "slice", "-", "--modality", "dna", "--length", "2,3", "-o", "o", "-q"],
        cwd=tmp_path, env=command_environment(), input=b">x\nACGTacgtAC\n", capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [line["sequence"] for line in lines(tmp_path / "o")] == [[0, 1], [2, 3, 4], [5, 6], [7, 0, 1]]


def test_an_output_that_exists_is_refused_until_forced(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("abcd")
    (tmp_path / "o").write_text("precious")
    arguments = ("data", "slice", "in", "--modality", "bytes", "--length", 2, "-o", "o")
    assert refused(kolmo(*arguments), 1) == "o: exists already; use -f to overwrite it"
    assert (tmp_path / "o").read_text() == "precious"
    assert kolmo(*arguments, "-f").returncode == 0
    assert len(lines(tmp_path / "o")) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["slice", "in", "--modality", "dan"], 2, "--modality dan: no such choice; did you mean dna?"),
        (["slice", "in", "--modality", "text", "--length", "8,0"], 2, "--length 8,0: a number from 1 to 1,048,576"),
        (["slice", "in", "--modality", "text", "--length", "many"], 2, "--length many: a number from 1"),
        (["slice", "in", "--modality", "text", "--column", "a"], 2, "--column goes with --modality numbers"),
        (["slice", "in", "--modality", "text", "--json"], 2, "--json prints on standard output"),
        (["slice", "in", "--modality", "text"], 2, "in: 4 values are in it, too few in a row for --length 128"),
        (["slice", "in", "--modality", "audio8"], 2, "in: not a WAV file"),
        (["slice", "none", "--modality", "text"], 2, "none: cannot be read: No such file or directory"),
        (["slice", ".", "--modality", "text"], 2, ".: cannot be read: Is a directory"),
        (["slice", "in", "--modality", "text", "-o", "no/such/o"], 1, "no/such/o: cannot be written: No such file"),
        (["slice", "in"], 2, "Missing option '--modality'"),
        (["synth", "--pairs", "0"], 2, "Invalid value for '--pairs'"),
        (["synth", "--split", "test"], 2, "--split test: no such choice; there are all, train, eval"),
        (["synth", "--curriculum", "quickstrat"], 2, "quickstrat: neither a curriculum file nor"),
        (["synth", "--exclude", "none"], 2, "none: cannot be read"),
        (["show", "none"], 2, "none: cannot be read"),
    ],
)
def test_wrong_arguments(kolmo: Run, tmp_path: Path, arguments: list[object], code: int, said: str) -> None:
    (tmp_path / "in").write_text("abcd")
    assert refused(kolmo("data", *arguments), code).startswith(said)
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


def test_strict_stops_at_the_first_bad_place(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("1\nx\n2\n")
    (tmp_path / "d.jsonl").write_text('{"sequence": [1]}\n{"sequence": [NaN]}\n')
    said = refused(kolmo("data", "slice", "in", "--modality", "numbers", "--length", 1, "--strict", "-o", "o"), 2)
    assert said == "in:2: 'x' is not an integer"
    assert refused(kolmo("data", "show", "d.jsonl", "--strict"), 2).startswith("d.jsonl:2: `sequence` must be a list")
    said = refused(kolmo("data", "synth", "--exclude", "d.jsonl", "--strict", "-o", "o"), 2)
    assert said.startswith("d.jsonl:2: ")
    assert not (tmp_path / "o").exists()


def test_pairs_of_a_curriculum(kolmo: Run, tmp_path: Path) -> None:
    done = kolmo("data", "synth", "--pairs", 40, "--curriculum", "quickstart", "--seed", 3, "-o", "a.jsonl")
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.startswith("40 pairs, ")
    arguments = ("--pairs", 40, "--curriculum", "quickstart", "--exclude", "a.jsonl", "-o", "b.jsonl", "--json")
    report = json.loads(kolmo("data", "synth", *arguments).stdout)
    assert (report["pairs"], report["curriculum"], report["split"]) == (40, "quickstart", "all")
    both = [{json.dumps(line["sequence"]) for line in lines(tmp_path / f"{name}.jsonl")} for name in "ab"]
    assert not both[0] & both[1]


def test_show_as_a_table_and_as_json(kolmo: Run, tmp_path: Path) -> None:
    kolmo("data", "synth", "--pairs", 50, "--curriculum", "quickstart", "-o", "a.jsonl")
    shown = kolmo("data", "show", "a.jsonl", "--examples", 1)
    assert shown.returncode == 0
    assert shown.stderr == ""
    report = json.loads(kolmo("data", "show", "a.jsonl", "--examples", 1, "--json").stdout)
    assert report["records"] == 50
    assert "50, " in shown.stdout
    assert " ".join(map(str, report["examples"][0]["sequence"])) in shown.stdout.replace("\n", " ")
    assert report["examples"][0]["program"].splitlines()[0] in shown.stdout
    assert sum(report["buckets"].values()) == 50
    assert "ramps/1" in shown.stdout


def test_show_names_bad_lines_and_escapes_what_a_file_says(kolmo: Run, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"sequence": [1], "bucket": "\\u001b[2Jx"}\nbad\n')
    shown = kolmo("data", "show", "d.jsonl")
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout
    assert shown.stderr.startswith("d.jsonl:2: skipped: ")


def test_whoever_reads_the_output_may_leave(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(1 << 20))
    command = f"{KOLMO} data slice in --modality bytes | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=command_environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
    assert done.returncode == 1


def test_a_training_run_on_sliced_sequences(kolmo: Run, small: Path, tmp_path: Path) -> None:
    """The sequences of the file are a family beside those of the curriculum, and are evaluated too."""
    assert kolmo("data", "slice", __file__, "--modality", "text", "--length", "2,3", "-o", "t.jsonl").returncode == 0
    settings = ["--set", "data.families=true", "--set", "data.levels=2", "--set", "evaluation.tasks=8", "--json"]
    done = kolmo("train", small, "--data", "t.jsonl", "--run-dir", "run", *settings)
    assert done.returncode == 0, done.stderr
    assert {"runs/1", "runs/2", "text/1", "text/2"} == set(json.loads(done.stdout)["eval"]["after"]["buckets"])
