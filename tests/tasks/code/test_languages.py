"""Scripts in other languages than Python: what a task says, what is read in an answer, and how it is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kolmocli.config.machine import SandboxSection
from kolmocli.engine.judging import fitted
from kolmocli.errors import UsageError
from kolmocli.evaluation.foreign import Programs
from kolmocli.integrations.course import open_course
from kolmocli.tasks.base import Task
from kolmocli.tasks.chat import judged_text
from kolmocli.tasks.code.scripts import Scripts
from kolmocli.tasks.code.shapes import script
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.outcome import Terms
from kolmocli.tasks.reward import Relative
from tests.conftest import Run

WORDS = {"question": "Add one.", "inputs": ["1\n", "2\n"], "outputs": ["2\n", "3\n"]}
CPP = '#include <cstdio>\nint main() {\n    int n;\n    scanf("%d", &n);\n    printf("%d\\n", n + 1);\n}'
JAVASCRIPT = "const n = Number(require('fs').readFileSync(0));\nconsole.log(n + 1);"


def task_in(language: str | None) -> CodeTask:
    return script(WORDS | {"language": language})


@pytest.mark.parametrize(
    ("named", "language", "asked"),
    [
        (None, "python", "Write a Python program"),
        ("en", "python", "Write a Python program"),
        ("Python3", "python", "Write a Python program"),
        ("C++", "cpp", "Write a C++17 program"),
        ("cpp", "cpp", "Write a C++17 program"),
        ("js", "javascript", "Write a JavaScript (Node.js) program"),
        ("javascript", "javascript", "Write a JavaScript (Node.js) program"),
    ],
)
def test_the_prompt_says_which_language(named: str | None, language: str, asked: str) -> None:
    task = task_in(named)
    assert isinstance(task.tests, Scripts)
    assert (task.language, task.tests.language) == (language, language)
    assert task.asked.system.startswith(asked) and "in one code block" in task.asked.system


def test_another_language_is_no_task() -> None:
    with pytest.raises(ValueError, match="`language` 'rust': there are python, cpp, javascript"):
        task_in("rust")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (CPP, CPP),
        (f"Here it is:\n```cpp\n{CPP}\n```\nIt adds one.", CPP),
        (f"<think>\n```cpp\nint main() {{}}\n```\n</think>\n```c++\n{CPP}\n```", CPP),
        (f"```cpp\n{CPP}\n```\nCompile it:\n```bash\ng++ it.cpp\n```", CPP),
        (f"```cpp\n{CPP}\n```\nThe loop is\n```cpp\nfor (;;) {{}}\n```", CPP),
        (f"```\n{CPP}\n```", CPP),
        (f"```python\ndef main(): pass\n```\nin C++\n```cpp\n{CPP}", CPP),
    ],
    ids=["bare", "fence", "thought", "command", "piece", "unnamed", "cut off"],
)
def test_the_program_in_an_answer(answer: str, found: str) -> None:
    assert judged_text(task_in("cpp"), answer) == found


def test_javascript_in_an_answer() -> None:
    assert judged_text(task_in("js"), f"```js\n{JAVASCRIPT}\n```\nor\n```js\nn + 1\n```") == JAVASCRIPT


def test_a_job_in_its_language_with_the_inputs_and_no_output() -> None:
    job = task_in("cpp").attempt(CPP, Terms(Relative(0.0))).job
    assert job is not None
    assert (job.language, job.inputs, job.program) == ("cpp", ("1\n", "2\n"), CPP)


def test_a_value_of_such_a_program_cannot_be_checked() -> None:
    task = Task(prompt="one", check=lambda value: True, language="cpp")
    with pytest.raises(UsageError, match="a program in cpp has no value to check; give it inputs and outputs"):
        _ = task.attempt(CPP, Terms(Relative(0.0))).job


def test_a_sandbox_without_the_language_is_refused() -> None:
    programs = Programs(sandbox="embedded")
    with pytest.raises(UsageError, match="the embedded sandbox has no cpp, node"):
        programs.open(print, [task_in("cpp"), task_in("js")])


def test_the_sandbox_of_a_configuration_gets_what_its_tasks_are_written_in() -> None:
    tasks = [task_in(name) for name in ("js", None, "cpp")]
    fit, most = fitted(SandboxSection(packages=["numpy"]), tasks)
    assert fit is not None and most is not None and fit.packages == ["cpp", "node", "numpy"]
    assert fitted(None, tasks) == (None, None)


@pytest.mark.native
def test_a_course_judges_tasks_of_a_file_in_cpp(tmp_path: Path) -> None:
    lines = [WORDS | {"language": "cpp", "question": f"Add one, {n}."} for n in range(60)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    families = {"sums": {"task": "sum_digits", "levels": [{}]}}
    data = {"train": str(tmp_path / "tasks.jsonl"), "families": True}
    curriculum = {"families": families, "data": data, "sandbox": {"workers": 1}}
    with open_course(curriculum, sandbox="docker") as course:
        task = course.task(next(bucket for bucket in course.buckets() if bucket.family != "sums"), 0)
        outcomes = course.judge([task, task], [f"```cpp\n{CPP}\n```", CPP.replace("+ 1", "+ 2")])
    assert [outcome.passed for outcome in outcomes] == [True, False]


@pytest.mark.native
def test_predictions_in_three_languages(tmp_path: Path, kolmo: Run) -> None:
    names = ("python", "cpp", "javascript")
    tasks = [WORDS | {"task_id": name, "language": name} for name in names]
    right = dict(zip(names, ("print(int(input()) + 1)", CPP, JAVASCRIPT), strict=True))
    wrong = {name: program.replace("+ 1", "+ 2") for name, program in right.items()}
    lines = [
        {"task_id": name, "completion": f"```{name}\n{programs[name]}\n```"}
        for programs in (right, wrong)
        for name in names
    ]
    for name, rows in (("tasks", tasks), ("predictions", lines)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = kolmo(
        "eval", "--data", "tasks.jsonl", "--predictions", "predictions.jsonl", "--sandbox", "docker", "--time-limit", 2,
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["n"], report["samples"], report["accuracy"]) == (3, 2, 0.5)
    assert report["language"] is None
