"""A wheel holds all that kolmo needs: installed into an empty environment, it works far from the checkout.

So does each of its extras, and a command says which of them it lacks.
"""

from __future__ import annotations

import array
import json
import math
import os
import re
import subprocess
import sys
import wave
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pyarrow
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pyarrow import parquet

from kolmocli.errors import EXIT_ENVIRONMENT
from tests.monitor.monitor_samples import write_run

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # Without isolation: the build backend is here already, and nothing has to be fetched.
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, CHECKOUT], folder)
    (built,) = folder.glob("*.whl")
    return built


Installed = Callable[..., Path]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """`installed("train")`: the Python of an environment with the wheel and one extra in it, made once.

    Nothing is downloaded. What pip would install is linked from the environment of the tests, and nothing else is seen.
    """

    @cache
    def make(extra: str = "") -> Path:
        home = tmp_path_factory.mktemp(f"venv_{extra}")
        _run([sys.executable, "-m", "venv", "--without-pip", home], home)
        python = home / "bin" / "python"
        if extra:  # the base below it: a list of folders, and no other copy
            base = _site(make())
            (_site(python) / "base.pth").write_text(f"{base}\n")
            missing = set(_closure(base, extra)) - set(_closure(base))
        else:
            _run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel], home)
            missing = set(_closure(_site(python)))
        for name in missing:
            _link(distribution(name), _site(python))
        return python

    return make


def _site(python: Path) -> Path:
    (site,) = python.parent.parent.glob("lib/python3*/site-packages")
    return site


def _closure(site: Path, extra: str = "") -> list[str]:
    """The distributions that the wheel in `site` brings with this extra, without itself."""
    (own,) = [found for found in distributions(path=[str(site)]) if found.name == "kolmocli"]
    seen: dict[str, set[str]] = {}
    waiting = [("kolmocli", {extra})]
    while waiting:
        name, extras = waiting.pop()
        if name in seen and extras <= seen[name]:
            continue
        seen[name] = extras | seen.get(name, {""})
        for need in map(Requirement, (own if name == "kolmocli" else distribution(name)).requires or []):
            if need.marker is None or any(need.marker.evaluate({"extra": each}) for each in seen[name]):
                waiting.append((canonicalize_name(need.name), need.extras))
    return sorted(seen.keys() - {"kolmocli"})


def _link(brought: Distribution, site: Path) -> None:
    files = [line.split(",")[0] for line in (brought.read_text("RECORD") or "").splitlines()]
    if not files:  # built and installed by setup.py, as pip does where the package `wheel` is missing
        lines = (brought.read_text("installed-files.txt") or "").splitlines()
        files = [os.path.normpath(f"egg-info/{line}") for line in lines if line.startswith("..")]
    # Scripts are beside the packages; of all others, the topmost folder holds the rest.
    for top in {file if file.startswith("..") else file.partition("/")[0] for file in files} - {"__pycache__"}:
        place = Path(os.path.normpath(site / top))
        place.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(place):
            place.symlink_to(os.path.abspath(brought.locate_file(top)))


def test_the_wheel_holds_curricula_and_sandbox_image(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("curricula", "sandbox_image"):
        for file in (CHECKOUT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert f"kolmocli/_data/{file.relative_to(CHECKOUT)}" in names


def test_it_runs_from_another_folder(installed: Installed, tmp_path: Path) -> None:
    python = installed()
    where = _run([python, "-c", "import kolmocli; print(kolmocli.__file__)"], tmp_path)
    assert Path(where.strip()).is_relative_to(python.parent.parent)
    assert "Usage: kolmo sandbox build" in _run([python.with_name("kolmo"), "sandbox", "build", "--help"], tmp_path)


WITHOUT_AN_EXTRA = """
import importlib.util, random
import kolmocli as kolmo
from kolmocli.cli.main import main
from kolmocli.extras import EXTRAS

assert [name for name in EXTRAS if importlib.util.find_spec(name)] == []

controller = kolmo.controller("rasch", {"easy": 6}, target=0.5)
controller.observe([kolmo.Result(bucket, passes=3, rollouts=8) for bucket in controller.propose(4, random.Random(0))])
with kolmo.open_sandbox("embedded", workers=1) as sandbox:
    assert [verdict.value for verdict in sandbox.run(["output = [1, 2] * 3"])] == [(1, 2, 1, 2, 1, 2)]
with kolmo.open_course("digits") as course:
    assert len(course.draw(2)) == 2
assert kolmo.decompress(kolmo.compress(b"ab" * 99)) == b"ab" * 99
assert str(kolmo.solve([1, 2, 3, 4], steps=50))
for name in ("train", "evaluate"):
    try:
        getattr(kolmo, name)
        raise AssertionError(name)
    except kolmo.KolmoError as error:
        assert f"kolmocli.{name} needs torch: pip install 'kolmocli[train]'" == str(error), error
for line in (
    "compress data -o data.klm", "decompress data.klm -o back", "solve 1 2 3 4 --seconds 0.1", "doctor --json",
    "curriculum show quickstart --json", "curriculum simulate --controller rasch --seeds 1 --steps 100", "model list",
    "sandbox run program.py --sandbox embedded --workers 1", "data slice data --modality bytes --length 9 -q",
    "eval --predictions predictions.jsonl --sandbox embedded -q", "train --help",
):
    assert main(line.split()) == 0, line
"""
"""What the base is for, and nothing of it may take a package that an extra brings."""


def test_the_base_does_its_work_without_any_extra(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(range(100)) * 9)
    (tmp_path / "program.py").write_text("output = range_func_up(1, 3)\n")
    line = {"sequence": [7, 7, 7], "generation": "output = [7] * 3"}
    (tmp_path / "predictions.jsonl").write_text(json.dumps(line) + "\n")
    _run([installed(), "-c", WITHOUT_AN_EXTRA], tmp_path)
    assert (tmp_path / "back").read_bytes() == (tmp_path / "data").read_bytes()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that commands of the extras read."""
    folder = tmp_path_factory.mktemp("inputs")
    write_run(folder / "run", steps=12)
    samples = array.array("h", [round(9_000 * math.sin(i / 9)) for i in range(16_000)])
    with wave.open(str(folder / "speech.wav"), "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", ""))
        sound.writeframes(samples.tobytes())
    parquet.write_table(
        pyarrow.table({"task_id": ["1"], "question": ["1 + 1?"], "answer": ["2"]}), folder / "questions.parquet"
    )
    formula = {"task_id": "1", "question": "1 + 1?", "answer": "x + 1", "judge": "math"}
    (folder / "questions.jsonl").write_text(json.dumps(formula) + "\n")
    (folder / "answers.jsonl").write_text(json.dumps({"task_id": "1", "completion": "2"}) + "\n")
    return folder


COMMANDS = {
    "report": ["report run"],
    "audio": ["data slice speech.wav --modality mfcc --length 13 -q"],
    "parquet": ["eval --data questions.parquet --predictions answers.jsonl -q"],
    "math": ["eval --data questions.jsonl --predictions answers.jsonl -q"],
    "reasoning-gym": ["curriculum show reasoning --samples 0"],
    "train": [
        "train", "train --dry-run", "eval shipped", "model get smollm2", "model get smollm2 --from hub",
        "model import run --name mine", "solve 1 2 3 --model shipped", "compress speech.wav --model shipped",
        "curriculum calibrate shipped quickstart",
    ],
    "tensorboard": ["report run --tensorboard"],
    "datasets": ["eval --data ./run --predictions answers.jsonl -q"],
    "monarch": ["worker --listen tcp://localhost:1"],
}  # fmt: skip
"""What takes an extra."""


FORKED = """
import os, sys
import kolmocli.config, kolmocli.tasks.kinds
from kolmocli.cli.main import main
for number, line in enumerate(sys.argv[2:]):
    if not os.fork():
        for stream in (1, 2):
            os.dup2(os.open(f"{sys.argv[1]}/{number}.{stream}", os.O_WRONLY | os.O_CREAT), stream)
        sys.exit(main(line.split()))
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""
"""Each line is a command in a process of its own, which has imported what most of them need; with two files for its streams."""


def test_a_command_whose_extra_is_missing_says_what_to_type(installed: Installed, inputs: Path, tmp_path: Path) -> None:
    before = _contents(inputs)
    asked = [(extra, line) for extra, lines in COMMANDS.items() for line in lines]
    codes = _run([installed(), "-c", FORKED, tmp_path, *(line for _, line in asked)], inputs).split()
    for number, ((extra, line), code) in enumerate(zip(asked, codes, strict=True)):
        out, error = ((tmp_path / f"{number}.{stream}").read_text() for stream in (1, 2))
        assert (int(code), out) == (EXIT_ENVIRONMENT, ""), line
        assert re.fullmatch(rf"kolmo: error: .+ needs .+: pip install 'kolmocli\[{extra}\]'(, or .+)?\n", error), line
    assert _contents(inputs) == before


@pytest.mark.parametrize(
    "extra",
    ["report", "audio", "parquet", "math", pytest.param("reasoning-gym", marks=pytest.mark.reasoning_gym)],
)
def test_the_extra_is_all_that_was_missing(installed: Installed, inputs: Path, extra: str) -> None:
    _run([installed(extra), "-m", "kolmocli", *COMMANDS[extra][0].split()], inputs)


@pytest.mark.either
def test_the_shipped_policy_is_in_it(installed: Installed, tmp_path: Path) -> None:
    script = (
        "from kolmocli.cli.main import main\n"
        "for line in ('eval shipped --tasks 5', 'solve 0 1 2 3 4 5 6 7 8 --model shipped'):\n"
        "    assert main([*line.split(), '--device', 'cpu', '--json']) == 0, line\n"
    )
    told = _run([installed("train"), "-c", script], tmp_path)
    report, end = json.JSONDecoder().raw_decode(told)
    assert (report["model"], report["n"]) == ("shipped", 5)
    assert json.loads(told[end:])["checked"]


def _contents(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


def _run(command: Sequence[object], folder: Path) -> str:
    done = _command(command, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _command(command: Sequence[object], folder: Path) -> subprocess.CompletedProcess[str]:
    # PYTHONPATH may name a checkout. A cache of its own: models of this user's would need no bringing.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"NO_COLOR": "1", "OMP_NUM_THREADS": "1", "KOLMO_MODELS": str(folder.parent / "models")}
    return subprocess.run(
        [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
