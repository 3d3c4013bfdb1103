"""The house: rooms stand on floors, an import may only point down, and there is no circle, inside a room neither."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import kolmocli
from kolmocli.contributed import ENTRY_POINTS

PACKAGE = Path(kolmocli.__file__).parent
FLOORS = (
    "ground",  # modules that stand in no room: errors, files, seeds, ...
    "language",
    "sandbox",
    "archive",
    "curriculum",
    "tasks",
    "models",
    "policy",
    "config",
    "learning",
    "engine",
    "evaluation",
    "monitor",
    "training",
    "contrib",
    "integrations",
    "cli",
)
"""From the ground up."""
WINGS = {
    "language": "compress",
    "archive": "compress",
    "sandbox": "sandbox",
    "curriculum": "control",
    "ground": "ground",
}
"""Each can be used without the others; every other room belongs to `rl`, which uses all of them."""
BETWEEN_WINGS = {("compress", "sandbox")}
LIGHT = ("language", "sandbox", "archive", "curriculum", "tasks", "models", "config", "monitor", "cli")
"""What works without torch, and is imported without it."""
FRONT_DOOR = "kolmocli"
"""Names everything lazily, so nothing below imports it."""
AS_A_COMMAND = "kolmocli.__main__"
"""The command under another name: Python asks that it lies on the ground, and it belongs at the top."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> dict[str, frozenset[str]]:
    """Which modules of the package each of them imports, wherever in the file; for type checks alone too."""
    return {name: frozenset(_imported(name, path)) - {name} for name, path in modules().items()}


def _imported(name: str, path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in modules() else str(node.module))
    return {target for target in found if target in modules()}


def room(name: str) -> str:
    if name == AS_A_COMMAND:
        return "cli"
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else "ground"


def test_every_room_stands_on_a_floor() -> None:
    assert {room(name) for name in modules() if name != FRONT_DOOR} <= set(FLOORS)


def upward() -> list[str]:
    """Every import that points from a room to one above it."""
    above = {floor: set(FLOORS[number + 1 :]) for number, floor in enumerate(FLOORS)}
    return [
        f"{name} -> {target}"
        for name, targets in sorted(imports().items())
        if name != FRONT_DOOR
        for target in sorted(targets)
        if room(target) in above[room(name)]
    ]


def test_a_wing_imports_no_other() -> None:
    crossing = {
        (WINGS[room(name)], WINGS.get(room(target), "rl"))
        for name, targets in imports().items()
        if name != FRONT_DOOR and room(name) in WINGS
        for target in targets
    }
    assert {(wing, other) for wing, other in crossing if other not in (wing, "ground")} == BETWEEN_WINGS


def test_what_is_contributed_is_only_known_by_name() -> None:
    users = {name for name, targets in imports().items() if any(room(target) == "contrib" for target in targets)}
    assert {room(name) for name in users} <= {"contrib"}


def test_every_contributed_module_registers_what_it_is_named_for() -> None:
    named = {module for modules_ in ENTRY_POINTS.values() for module in modules_.values()}
    assert named <= set(modules())
    shared = {target for name in named for target in imports()[name]}
    assert {name for name, path in modules().items() if room(name) == "contrib" and path.stem != "__init__"} <= (
        named | shared
    )


def circle() -> list[str]:
    """Every module in a circle of imports, or above one."""
    waiting = {name: set(targets) for name, targets in imports().items()}
    used = defaultdict(set)
    for name, targets in waiting.items():
        for target in targets:
            used[target].add(name)
    free = [name for name, targets in waiting.items() if not targets]
    while free:
        done = free.pop()
        for user in used[done]:
            waiting[user].discard(done)
            if not waiting[user]:
                free.append(user)
        del waiting[done]
    return sorted(waiting)


def test_imports_point_down() -> None:
    assert upward() == []


def test_there_is_no_circle() -> None:
    assert circle() == []


@pytest.mark.parametrize("part", [FRONT_DOOR, *(f"{FRONT_DOOR}.{name}" for name in LIGHT)])
def test_what_is_light_imports_no_torch(part: str) -> None:
    names = [name for name in modules() if name == part or (part != FRONT_DOOR and name.startswith(f"{part}."))]
    script = (
        f"import sys\nfor name in {names!r}: __import__(name)\nassert 'torch' not in sys.modules, sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=120)
