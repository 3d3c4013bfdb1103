"""The pages say what the commands are: flags, command lines, links and scripts that exist; and no page is lost.

The title of a page of a command names it. In a block with prompts (`$ kolmo …`) the other lines are output.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from kolmocli.cli.app import app
from kolmocli.cli.main import hyphenated

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
INDEX = ROOT / "docs" / "index.md"
SITE = ROOT / "docs" / "site"
COMMAND_PAGES = sorted((ROOT / "docs" / "commands").glob("*.md"))
PAGES = [README, ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
_CODE = re.compile(r"`[^`\n]+`")
_FLAG = re.compile(r"(?<![\w-])--[a-z0-9][\w-]*")
_PROMPT = re.compile(r"^\$ ", re.M)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)", re.M)
_SCRIPT = re.compile(r"python ((?:benchmarks|examples)/\w+\.py)")
_MODULE = re.compile(r"`((?:\w+/)+\w+\.py)\b")


@cache
def _kolmo() -> Any:
    return get_command(app)


def _flags(command: Any) -> set[str]:
    """The long flags in the help of a command; of a group, those of all its commands too."""
    shown = {"--help"}
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            shown |= {*parameter.opts, *parameter.secondary_opts}
    return shown.union(*(_flags(below) for below in getattr(command, "commands", {}).values()))


def _find(words: list[str]) -> Any:
    """The command that a line names, or None; a group must go on with one of its commands."""
    command = _kolmo()
    while hasattr(command, "commands"):
        if words and words[0] in ("--help", "--version"):
            return command
        command = command.commands.get(words[0]) if words else None
        words = words[1:]
    return command


def _command_lines(text: str) -> list[str]:
    """What follows `kolmo` on every command line in the fenced blocks."""
    lines = []
    for block in _FENCED.findall(text.replace("\\\n", " ")):
        typed = re.findall(r"^\$ (.*)", block, re.M) if _PROMPT.search(block) else block.splitlines()
        for line in typed:
            lines += re.findall(r"(?:^|[|;&(]\s*|\w=\S*\s+)kolmo\s+([^|;&>)#]*)", line)
    return lines


def _named(path: Path) -> list[Any]:
    """The commands that the title of a page names, or all of them for a page that is of none."""
    names = re.findall(r"`kolmo (\w+)`", path.read_text().splitlines()[0])
    return [_kolmo().commands[name] for name in names] if path in COMMAND_PAGES else [_kolmo()]


def _anchors(path: Path) -> set[str]:
    """The headings of a page as they are linked to: lower case, no punctuation, a dash for every blank."""
    headings = _HEADING.findall(_FENCED.sub("", path.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_command_page_names_its_commands() -> None:
    assert COMMAND_PAGES
    for path in COMMAND_PAGES:
        assert _named(path), f"{_name(path)}: the title names no command"


def test_every_command_has_a_page() -> None:
    told = {command.name for path in COMMAND_PAGES for command in _named(path)}
    assert told == set(_kolmo().commands)


def test_the_index_links_to_every_page_and_shows_every_benchmark() -> None:
    text = INDEX.read_text()
    pages = {INDEX, *((INDEX.parent / target).resolve() for target in _LINK.findall(text))}
    assert set((ROOT / "docs").rglob("*.md")) <= pages
    benchmarks = {
        str(path.relative_to(ROOT)) for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text()
    }
    listed = {
        f"benchmarks/{name}"
        for name in re.findall(r"`(?:python benchmarks/)?(\w+\.py)`", text.partition("## Benchmarks")[2])
    }
    assert benchmarks == listed


def test_the_menu_of_the_site_has_every_page_once() -> None:
    menu = yaml.safe_load((SITE / "mkdocs.yml").read_text())["nav"]
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(_leaves(menu)) == sorted([*pages, "api.md"])  # which hooks.py writes


def _leaves(menu: Any) -> list[str]:
    if isinstance(menu, str):
        return [menu]
    return [leaf for below in (menu.values() if isinstance(menu, dict) else menu) for leaf in _leaves(below)]


def test_the_log_is_newest_first_with_a_verdict_and_short_entries() -> None:
    text, _, earlier = (ROOT / "docs" / "log.md").read_text("utf-8").partition("\n## Earlier, one line each\n")
    _, *entries = re.split(r"^## ", text, flags=re.M)
    headings = [re.match(r"(\d{4}-\d\d-\d\d) · (?:kept|negative|open) · .", entry) for entry in entries]
    assert all(headings), [e.splitlines()[0] for e, heading in zip(entries, headings, strict=True) if not heading]
    dates = [heading[1] for heading in headings if heading]
    assert dates == sorted(dates, reverse=True)
    for entry in entries:
        title, _, words = entry.partition("\n")
        assert len(words.split()) <= 150, title
    lines = earlier.strip().splitlines()
    assert lines
    for line in lines:
        assert re.match(r"- (?:kept|negative|open), \d\d-\d\d: .", line), line
        assert len(line.split()) <= 30, line


@pytest.mark.parametrize("path", [README, INDEX, *COMMAND_PAGES], ids=_name)
def test_flags_in_the_text_exist(path: Path) -> None:
    known = set().union(*(_flags(command) for command in _named(path)))
    for code in _CODE.findall(_FENCED.sub("", path.read_text())):
        if code.startswith("`python "):
            continue  # a benchmark has flags of its own
        unknown = {*hyphenated(_FLAG.findall(code))} - known
        assert not unknown, f"{_name(path)}: {code} names {unknown}"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_command_lines_name_commands_and_their_flags(path: Path) -> None:
    lines = _command_lines(path.read_text())
    assert lines or path not in COMMAND_PAGES, f"{_name(path)}: shows no command"
    for line in lines:
        command = _find(line.split())
        assert command is not None, f"{_name(path)}: kolmo {line}: no such command"
        unknown = {*hyphenated(_FLAG.findall(line))} - _flags(command)
        assert not unknown, f"{_name(path)}: kolmo {line}: no flag {unknown}"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_relative_links_point_to_files_and_headings(path: Path) -> None:
    text = _CODE.sub("", _FENCED.sub("", path.read_text()))
    for target in _LINK.findall(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        page = path.parent / name if name else path
        assert page.exists(), f"{_name(path)}: {target} does not exist"
        assert not anchor or anchor in _anchors(page), f"{_name(path)}: {target}: no such heading"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_scripts_exist(path: Path) -> None:
    for script in _SCRIPT.findall(path.read_text()):
        assert (ROOT / script).is_file(), f"{_name(path)}: {script} does not exist"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_modules_exist(path: Path) -> None:
    """`training/loop.py` is in the package, `tests/test_rooms.py` in the checkout."""
    for module in _MODULE.findall(path.read_text()):
        found = [(root / module).is_file() for root in (ROOT, ROOT / "kolmocli", ROOT / "tests")]
        assert any(found), f"{_name(path)}: {module} does not exist"
