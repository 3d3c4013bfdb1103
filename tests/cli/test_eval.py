"""`kolmo eval`: the report of a run, and refusals."""

from __future__ import annotations

import json

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


def test_sequences_of_a_file_as_a_table(kolmo: Run, trained: Trained) -> None:
    data = trained.folder.with_name("sequences.jsonl")
    data.write_text('{"sequence": [7, 7, 7, 7]}\n{"sequence": [1, 2, 3]}\n')
    done = kolmo("eval", trained.folder, "--data", data, "--samples", 2, "--sandbox", "embedded")
    assert done.returncode == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "gzip" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tiny", "--curriculum", "a", "--data", "b"], "--curriculum and --data exclude each other"),
        (["tiny", "--device", "abacus"], "--device abacus: no such choice; there are auto, cpu, cuda, mps"),
        (["tiny", "--sandbox", "dokcer"], "--sandbox dokcer: no such choice; did you mean docker?"),
        (["tiny", "--samples", 0], "Invalid value for '--samples'"),
        (["tiny", "--curriculum", "quickstrat"], "quickstrat: neither a curriculum file nor a packaged curriculum"),
        (["no/such-model", "--curriculum", "quickstart"], "model 'no/such-model': "),
    ],
)
def test_wrong_arguments(kolmo: Run, arguments: list[object], said: str) -> None:
    assert refused(kolmo("eval", *arguments), 2).startswith(said)


def test_docker_without_an_engine(kolmo: Run) -> None:
    line = refused(kolmo("eval", "tiny", "--curriculum", "quickstart", "--sandbox", "docker", env=NO_ENGINE), 4)
    assert "--sandbox embedded" in line
