"""Whatever the package imports is declared: a library that only another one brings may be gone with its next version."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent


FROM_SOURCE = {"prime-rl"}
"""Peers that no index has: whoever imports their adapter works in a checkout of theirs."""


def canonical(name: str) -> str:
    """The spelling that all spellings of a distribution's name share (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def name_of(requirement: str) -> str:
    return canonical(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    return table


def declared() -> set[str]:
    """What is installed with the package, or with an extra of it that is for users."""
    extras = (lines for extra, lines in project()["optional-dependencies"].items() if extra != "dev")
    return FROM_SOURCE | {name_of(line) for lines in (project()["dependencies"], *extras) for line in lines}


def imports(source: str) -> set[str]:
    """The top-level modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return found


def third_party() -> dict[str, str]:
    """Each module from elsewhere that the package imports, with a file that does."""
    own = {*sys.stdlib_module_names, "kolmocli"}
    files = (CHECKOUT / "kolmocli").rglob("*.py")
    return {name: str(file.relative_to(CHECKOUT)) for file in files for name in imports(file.read_text()) - own}


def test_every_import_is_declared() -> None:
    found, providers = third_party(), importlib.metadata.packages_distributions()
    # By its own name too: a module of an extra that is not installed, or of a distribution that only brings others.
    known = {name: {canonical(each) for each in (name, *providers.get(name, []))} for name in found}
    assert {name: found[name] for name in found if not known[name] & declared()} == {}
    assert {"torch", "docker", "peft", "monarch", "yaml"} <= set(found)


def test_imports_are_found_wherever_they_are() -> None:
    source = "import a.b as c, d\ndef f():\n    from e.g import h\nfrom . import i\nfrom .j import k"
    assert imports(source) == {"a", "d", "e"}


def test_every_dependency_is_pinned() -> None:
    pins = {canonical(line.partition("==")[0]) for line in (CHECKOUT / "constraints.txt").read_text().splitlines()}
    assert {name_of(line) for line in project()["dependencies"]} <= pins
