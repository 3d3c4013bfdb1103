"""The pages' Python runs, every ```python block of a page in order as one script; their curriculum files are right.

Two comments in a page's source, each right above a fenced block, say what else to do with it:
`<!-- file: mine.yaml -->` writes the block to that file first, and `<!-- not run: why -->` leaves it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from kolmocli.config.file import read_curriculum
from tests import warm

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("library", "extending", "sandbox", "sampler"))]
_SHORT = ["--set", "warmup.max_steps=2", "--set", "evaluation.tasks=4", "--set", "report=false"]
OF_OTHERS = {
    "trl": ["train", "digits", "--num-steps", "0", "--run-dir", "runs/warm", *_SHORT],
    "verifiers": [],
    "prime_rl": [],
}
"""By mark, the pages that need a package of others; with what has to be run before; where the page has a policy learn,
it does so for a few steps."""

_BLOCK = re.compile(
    r"(?:^<!-- (?P<what>file|not run): (?P<which>[^\n]+) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
CURRICULA = [ROOT / "docs" / f"{name}.md" for name in ("curriculum", "digits")]
_NO_ENGINE = "unix:///var/run/no-engine.sock"
"""Nobody listens there, so `auto` takes the embedded sandbox."""


def script_and_files(page: str) -> tuple[str, dict[str, str]]:
    """The Python of a page, each line where the page has it; and the files that it shows, by name."""
    lines = [""] * (page.count("\n") + 1)
    files = {}
    for block in _BLOCK.finditer(page):
        if block["what"] == "file":
            files[block["which"]] = block["text"]
        elif block["kind"] == "python" and block["what"] is None:
            first = page.count("\n", 0, block.start("text"))
            text = block["text"].splitlines()
            lines[first : first + len(text)] = text
    return "\n".join(lines), files


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_snippets_run(path: Path, tmp_path: Path) -> None:
    script, files = script_and_files(path.read_text("utf-8"))
    assert script.strip(), f"{path.name}: shows no Python"
    for name, text in {**files, "page.py": script}.items():
        (tmp_path / name).write_text(text, "utf-8")
    run(tmp_path, f"{path.name}, by its line numbers", [], tmp_path / "page.py", warm.warnings_are_errors)


@pytest.mark.parametrize("name", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in OF_OTHERS])
def test_snippets_run_with_packages_of_others(name: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / f"{name.replace('_', '-')}.md"
    (tmp_path / "page.py").write_text(script_and_files(page.read_text("utf-8"))[0], "utf-8")
    if OF_OTHERS[name]:
        run(tmp_path, "before", OF_OTHERS[name])
    run(tmp_path, f"{page.name}, by its line numbers", [], tmp_path / "page.py")


def run(
    folder: Path,
    what: str,
    arguments: list[str],
    script: Path | None = None,
    before: Callable[[], object] | None = None,
) -> None:
    ran = warm.run(arguments, folder, {**os.environ, "DOCKER_HOST": _NO_ENGINE}, 600, script=script, before=before)
    assert ran.returncode == 0, f"{what}:\n{ran.stderr}"


def test_a_wrong_snippet_is_noticed_by_its_line() -> None:
    page = "# A page\n\n<!-- file: a.yaml -->\n```yaml\nname: a\n```\n<!-- not run: why -->\n```python\n1 / 0\n```\n\n```python\nx = 1\nx / 0\n```\n"
    script, files = script_and_files(page)
    assert files == {"a.yaml": "name: a\n"}
    assert script.splitlines()[12:14] == ["x = 1", "x / 0"]
    assert "1 / 0" not in script
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile(script, "page", "exec"), {})
    assert caught.traceback[-1].lineno == 13  # counted from 0: line 14 of the page


@pytest.mark.parametrize(
    "path",
    [*CURRICULA, pytest.param(ROOT / "docs" / "reasoning-gym.md", marks=pytest.mark.reasoning_gym)],
    ids=lambda path: path.name,
)
def test_curriculum_files_of_the_pages_are_right(path: Path) -> None:
    files = [yaml.safe_load(b["text"]) for b in _BLOCK.finditer(path.read_text("utf-8")) if b["kind"] == "yaml"]
    assert files
    for file in files:
        assert set(read_curriculum(file).families) == set(file["families"])
