"""Real text, a genome and speech, from Debian packages: sliced, trained on for a few steps, and evaluated.

The commands are those at the top of each curriculum.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from kolmocli.paths import curricula_dir
from kolmocli.tasks.files.taskfile import read_tasks
from tests.conftest import Run

pytestmark = pytest.mark.slow

SPEECH = Path("/usr/share/sounds/alsa/Front_Center.wav")
LICENSE = Path("/usr/share/common-licenses/GPL-3")


def genome() -> Path:
    """Where the package puts it depends on the release."""
    found = sorted(Path("/usr/share/doc").glob("bowtie2*/**/lambda_virus.fa.gz"))
    return found[0] if found else Path("/usr/share/doc/bowtie2/examples/reference/lambda_virus.fa.gz")


REAL: dict[str, tuple[Callable[[], Path], str, str]] = {
    "text": (lambda: LICENSE, "base-files", "text"),
    "dna": (genome, "bowtie2-examples", "dna"),
    "audio": (lambda: SPEECH, "alsa-utils", "audio8"),
}
A_FEW_STEPS = (
    *("warmup.max_steps=10", "warmup.batch_size=16", "training.steps=3", "training.batch_size=16"),
    *("training.group_size=4", "evaluation.tasks=24", "sandbox.workers=2"),
)


def slice_command(name: str, file: Path) -> list[str]:
    """The first `kolmo data slice` in the comment of a curriculum, on this file."""
    text = (curricula_dir() / f"{name}.yaml").read_text()
    found = re.search(r"kolmo (data slice .*)", text)
    assert found is not None
    words = shlex.split(found[1])
    return [*words[:2], str(file), *words[words.index("--modality") :]]


@pytest.mark.parametrize("name", REAL)
def test_slice_train_and_evaluate(kolmo: Run, tmp_path: Path, name: str) -> None:
    where, package, modality = REAL[name]
    if not where().exists():
        pytest.skip(f"{where()} is not there: apt-get install {package}")
    sliced = kolmo(*slice_command(name, where()))
    assert sliced.returncode == 0, sliced.stderr
    records = read_tasks(str(tmp_path / f"{name}.jsonl"), print, strict=True).records
    assert len(records) > 1000
    assert {records.labels(i) for i in range(len(records))} == {(None, modality)}

    settings = [part for setting in A_FEW_STEPS for part in ("--set", setting)]
    trained = kolmo("train", name, "--sandbox", "embedded", "--run-dir", "run", "--json", *settings)
    assert trained.returncode == 0, trained.stderr
    buckets = json.loads(trained.stdout)["eval"]["after"]["buckets"]
    assert {b for b in buckets if b.startswith(modality)} >= {f"{modality}/1", f"{modality}/2"}

    report = json.loads(kolmo("eval", "run", "--sandbox", "embedded", "--tasks", 24, "--json").stdout)
    assert set(report["buckets"]) == set(buckets)
    assert report["baselines"]["xz"]["solid"] > 0


@pytest.mark.parametrize(("modality", "silence"), [("audio8", {0, 255}), ("audio16", {0, 255}), ("mfcc", {96})])
def test_speech_in_its_three_forms(kolmo: Run, tmp_path: Path, modality: str, silence: set[int]) -> None:
    """A recording begins with silence: samples around 0, and the least log energy there is."""
    if not SPEECH.exists():
        pytest.skip(f"{SPEECH} is not there: apt-get install alsa-utils")
    done = kolmo("data", "slice", SPEECH, "--modality", modality, "-o", "o.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["files"][0]["rate"], report["files"][0]["bits"]) == (48_000, 16)
    records = read_tasks(str(tmp_path / "o.jsonl"), print, strict=True).records
    assert all(len(r.sequence) == 128 for r in records)
    assert silence & set(records[0].sequence)


def test_a_genome_is_four_symbols_and_costs_about_two_bits_each(kolmo: Run, tmp_path: Path) -> None:
    file = genome()
    if not file.exists():
        pytest.skip(f"{file} is not there: apt-get install bowtie2-examples")
    assert kolmo("data", "slice", file, "--modality", "dna", "-o", "o.jsonl").returncode == 0
    report = json.loads(kolmo("data", "show", "o.jsonl", "--json").stdout)
    assert report["items"] > 48_000  # bacteriophage lambda: 48,502 bases
    assert (report["value"]["min"], report["value"]["max"]) == (0, 3)
    assert 1.9 < report["value"]["bits_per_item"] <= 2
