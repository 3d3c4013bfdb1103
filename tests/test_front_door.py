"""The front door: what `import kolmocli` offers, and that it costs nothing until it is used."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kolmocli as kolmo

HEAVY = ("torch", "transformers", "numpy", "docker", "pydantic", "yaml", "rich", "typer", "matplotlib")


def modules_after(script: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{script}\nprint(*sys.modules)"], check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_the_front_door_imports_nothing() -> None:
    assert not set(HEAVY) & modules_after("import kolmocli")


@pytest.mark.parametrize(
    "name",
    [
        "compress",
        "decompress",
        "explain",
        "open",
        "controller",
        "Result",
        "open_sandbox",
        "Job",
        "family",
        "Task",
        "solve",
        "open_course",
    ],
)
def test_what_is_light_comes_without_torch(name: str) -> None:
    assert "torch" not in modules_after(f"import kolmocli\nkolmocli.{name}")


def test_controllers_are_pure_python() -> None:
    script = "import kolmocli\nkolmocli.controller('rasch', {'easy': 6})"
    assert not {"torch", "numpy", "pydantic", "yaml"} & modules_after(script)


def test_every_name_is_there_and_listed() -> None:
    for name in kolmo.__all__:
        assert getattr(kolmo, name) is not None
        assert name in dir(kolmo)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = kolmo.nonsense


def test_callers_are_type_checked(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(
        "import random\nimport kolmocli as kolmo\n"
        "controller = kolmo.controller('rasch', {'easy': 6})\n"
        "reveal_type(controller.propose(4, random.Random(0)))\n"
        "data: str = kolmo.compress(b'')\n"
    )
    # Of a stranger's configuration; what is in libraries and rooms that these lines do not name decides nothing here.
    rooms = (
        "training", "policy", "evaluation", "learning", "engine", "monitor", "models", "integrations", "tasks", "sandbox", "config",
    )  # fmt: skip
    libraries = ("torch", "transformers", "numpy", "pydantic", "rich")
    skipped = ",".join([f"{name}.*" for name in (*libraries, *(f"kolmocli.{room}" for room in rooms))])
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\n[mypy-{skipped}]\nfollow_imports = skip\nfollow_imports_for_stubs = true\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "caller.py"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert "list[kolmocli.curriculum.base.Bucket]" in told
    assert 'has type "bytes", variable has type "str"' in told


# --- the snippets of the design, as they stand there


def test_the_controller_in_a_trainer_of_ones_own() -> None:
    controller = kolmo.controller("rasch", {"easy": 6, "hard": 9}, target=0.5)
    buckets = controller.propose(16, random.Random(0))
    assert {bucket.family for bucket in buckets} == {"easy", "hard"}
    before = controller.metrics()["easy"].level
    controller.observe([kolmo.Result(bucket, passes=8, rollouts=8) for bucket in buckets])
    assert controller.metrics()["easy"].level > before


def test_programs_of_strangers() -> None:
    with kolmo.open_sandbox("embedded", workers=2) as sandbox:
        verdicts = sandbox.run(["output = [1, 2] * 3", kolmo.Job("output = sum(range(10**9))", cpu_ms=200)])
    assert [(verdict.status.value, verdict.value) for verdict in verdicts] == [
        ("OK", (1, 2, 1, 2, 1, 2)),
        ("TLE_CPU", None),
    ]


def test_archives() -> None:
    data = bytes(range(200)) * 40
    archive = kolmo.compress(data)
    assert kolmo.decompress(archive) == data
    assert len(archive) < 100
    assert "range" in str(kolmo.explain(archive))


def test_a_task_family_of_ones_own(tmp_path: Path) -> None:
    @kolmo.family("sevens", levels=2, held_out=False)
    def sevens(level: int, rng: random.Random) -> kolmo.Task:
        right = [7] * rng.randint(1, 3 * level)
        return kolmo.Task(
            prompt=f"{len(right)} sevens, as a list.",
            check=lambda value: list(value) == right,
            reference=f"output = {right}",
        )

    curriculum: dict[str, Any] = {
        "families": {"sevens": {}},
        "warmup": {"max_steps": 4},
        "training": {"batch_size": 16, "max_new_tokens": 24},
        "evaluation": {"tasks": 4},
        "report": False,
    }
    run = tmp_path / "run"
    summary = kolmo.train(curriculum, families=[sevens], steps=2, sandbox="embedded", run_dir=run)
    assert (summary["steps"], summary["rollouts"]) == (2, 32)
    report = kolmo.evaluate(run, families=[sevens], sandbox="embedded")
    assert report["n"] == 4
    assert set(report["buckets"]) == {"sevens/1", "sevens/2"}
    assert report["accuracy"] == summary["eval"]["after"]["accuracy"]
    with pytest.raises(kolmo.KolmoError, match=r"training\.steps: must be >= 0, got -1"):
        kolmo.train(curriculum, families=[sevens], steps=-1)


def test_a_method_of_ones_own_takes_part_where_a_file_names_it(tmp_path: Path) -> None:
    seen: list[int] = []

    @kolmo.register_method("counting")
    class Counting(kolmo.Method):
        def __init__(self, context: Any, *, by: int = 1) -> None:
            self.by, self.count = by, 0

        def observe(self, groups: Any) -> None:
            self.count += self.by
            seen.append(self.count)

        def state_dict(self) -> dict[str, Any]:
            return {"count": self.count}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            self.count = state["count"]

    settings = {
        "methods": {"counting": {"by": 2}},
        "warmup.max_steps": 2,
        "training.batch_size": 16,
        "evaluation.tasks": 4,
        "report": False,
    }
    run = tmp_path / "run"
    kolmo.train(settings=settings, steps=3, stop_at=2, sandbox="embedded", run_dir=run)
    kolmo.train(settings=settings, steps=3, resume=True, sandbox="embedded", run_dir=run)
    assert seen == [2, 4, 6]
    with pytest.raises(kolmo.KolmoError, match=r"methods\.counting: got an unexpected keyword argument 'twice'"):
        kolmo.train(settings={**settings, "methods": {"counting": {"twice": 1}}}, run_dir=tmp_path / "other")
    with pytest.raises(kolmo.KolmoError, match="no method kounting; did you mean counting"):
        kolmo.train(settings={**settings, "methods": {"kounting": {}}}, run_dir=tmp_path / "third")


@pytest.mark.parametrize(
    ("verb", "arguments", "line"),
    [
        ("evaluate", {"tasks": 0}, "tasks is a number from 1 on, got 0"),
        ("evaluate", {"samples": 0}, "samples is a number from 1 on, got 0"),
        (
            "evaluate",
            {"samples": 2, "temperature": float("nan")},
            "temperature must be above 0 and finite, got nan",
        ),
        ("train", {"stop_at": -1}, "stop_at must be >= 0, got -1"),
        ("train", {"resume": True}, "resume continues a run: name it with run_dir"),
    ],
)
def test_what_the_commands_refuse_calls_refuse_too(verb: str, arguments: dict[str, Any], line: str) -> None:
    """None of the tasks was the usual number of them, and no sample a traceback."""
    with pytest.raises(kolmo.KolmoError, match=line):
        getattr(kolmo, verb)("digits", **arguments)
