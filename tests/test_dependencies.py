"""Whatever the package imports is declared: a library that only another one brings may be gone with its next version."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from kolmocli.extras import EXTRAS, PACKAGES

CHECKOUT = Path(__file__).resolve().parent.parent


FROM_SOURCE = {"prime-rl"}
"""Peers that no index has: whoever imports their adapter works in a checkout of theirs."""


def canonical(name: str) -> str:
    """The spelling that all spellings of a distribution's name share (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    return table


def requirements(extra: str | None = None) -> set[str]:
    """What the base declares, or an extra together with those that it includes."""
    lines = project()["dependencies"] if extra is None else project()["optional-dependencies"][extra]
    found: set[str] = set()
    for need in map(Requirement, lines):
        found |= set().union(*map(requirements, need.extras)) if need.name == "kolmocli" else {canonical(need.name)}
    return found


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


def test_every_import_is_declared_where_the_missing_part_is_named() -> None:
    found, providers = third_party(), importlib.metadata.packages_distributions()

    def named(module: str) -> set[str]:
        # By its own name too: a module of an extra that is not installed, or of a distribution that only brings others.
        return {canonical(name) for name in (module, PACKAGES.get(module, module), *providers.get(module, []))}

    base = requirements() | FROM_SOURCE
    assert {name: found[name] for name in found if not named(name) & base and name not in EXTRAS} == {}
    assert [name for name in EXTRAS if not named(name) & requirements(EXTRAS[name]) - base] == []
    assert {"torch", "docker", "peft", "monarch", "yaml"} <= set(found)


def test_extras_include_each_other() -> None:
    declared = {extra: requirements(extra) for extra in project()["optional-dependencies"]}
    assert declared["train"] | declared["report"] <= declared["dev"]
    assert declared["gguf"] == declared["lora"] == declared["train"]
    users = set().union(*(declared[extra] for extra in set(declared) - {"bench", "dev", "docs", "vllm"}))
    assert declared["all"] == users
    assert not requirements() & users


def test_imports_are_found_wherever_they_are() -> None:
    source = "import a.b as c, d\ndef f():\n    from e.g import h\nfrom . import i\nfrom .j import k"
    assert imports(source) == {"a", "d", "e"}


def test_every_dependency_is_pinned() -> None:
    pins = {canonical(line.partition("==")[0]) for line in (CHECKOUT / "constraints.txt").read_text().splitlines()}
    assert requirements() | requirements("dev") | requirements("all") | requirements("docs") <= pins
