"""Which imports of tests are of a framework, and which of the program that they test."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Mapping, Sequence

from kolmocli.tasks.code.calls import free, top_level

FRAMEWORKS = frozenset({"pytest", "pytest_asyncio", "unittest"})
_PROGRAM = frozenset(
    ("solution", "solutions", "main", "your_module", "my_module", "module", "code", "program", "script", "submission", "answer",
     "implementation")
)  # fmt: skip
"""Names under which tests import the program. Its functions are in their scope."""


def program_modules(tree: ast.Module, defined: Collection[str]) -> frozenset[str]:
    """Names of the modules that are the program."""
    used = dict[str, set[str]]()
    known_as = dict[str, str]()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                used.setdefault(module.partition(".")[0], set()).update(alias.name for alias in names)
            case ast.Import(names=names):
                known_as |= {alias.asname or alias.name: alias.name.partition(".")[0] for alias in names}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(name), attribute) if name in known_as:
                used.setdefault(known_as[name], set()).add(attribute)
    return _PROGRAM | {module for module, names in used.items() if names <= {*defined} and not _is_known(module)}


def _is_known(module: str) -> bool:
    return module in sys.stdlib_module_names or module in FRAMEWORKS


def imported(code: str, defined: Collection[str] = ()) -> list[str]:
    """The names that tests import of the program: `from solution import f`."""
    tree = ast.Module(top_level(code), [])
    return list(dict.fromkeys(taken(tree, program_modules(tree, defined)).values()))


def taken(tree: ast.Module, program: frozenset[str]) -> dict[str, str]:
    """By the name that the tests give it, what they import from the program."""
    return {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and is_import(node, program)
        for alias in node.names
        if alias.name != "*"
    }


def library_names(tree: ast.AST, code: Sequence[str] = ()) -> dict[str, str]:
    """What names of the tests are in Python's library: `{"join": "os.path.join"}`. They may use what this code imports."""
    found = dict[str, str]()
    for node in [*(each for text in code for part in top_level(text) for each in ast.walk(part)), *ast.walk(tree)]:
        match node:
            case ast.Import(names):
                for alias in names:
                    top = alias.name.partition(".")[0]
                    found |= {alias.asname: alias.name} if alias.asname else {top: top}
            case ast.ImportFrom(str(module), names, 0):
                found |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
    return found


def lacking(program: str, tests: str) -> str:
    """The imports of the tests that a program does without, as if it ran in their module."""
    used = free(ast.Module(top_level(program), []))
    found = ""
    for node in top_level(tests):
        if isinstance(node, ast.Import | ast.ImportFrom) and not is_import(node, FRAMEWORKS | _PROGRAM):
            names = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in used]
            if names:
                node.names = names
                found += f"\n{ast.unparse(node)}"
    return found


def path_of(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """`os.path.exists`, for what is that."""
    match node:
        case ast.Name(name, ast.Load()):
            return names.get(name)
        case ast.Attribute(owner, name, ast.Load()) if (path := path_of(owner, names)) is not None:
            return f"{path}.{name}"
    return None


_OF_REQUESTS = ("Error", "Exception", "Timeout", "Redirects", "exceptions")


def require_mocked(tree: ast.Module) -> None:
    """Raises ValueError where tests use more of `requests`, which is not there, than its exceptions: they would need a network."""
    names = library_names(tree)
    for node in ast.walk(tree):
        path = path_of(node, names) or ""
        if path.startswith("requests.") and not path.endswith(_OF_REQUESTS):
            raise ValueError(f"the tests use `{path}`, which is not there; patch it")


def modules(tree: ast.Module, modules: frozenset[str]) -> dict[str, str]:
    """The names by which the tests know these modules, and what they are."""
    return {
        alias.asname or alias.name.partition(".")[0]: alias.name
        for each in ast.walk(tree)
        if isinstance(each, ast.Import)
        for alias in each.names
        if is_of(alias, modules)
    }


def parts(tree: ast.Module) -> dict[str, str]:
    """The names by which the tests know parts of a framework, and what they are."""
    return {
        alias.asname or alias.name: f"{each.module}.{alias.name}"
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom) and is_import(each, FRAMEWORKS)
        for alias in each.names
    }


def is_import(node: ast.stmt, modules: frozenset[str]) -> bool:
    match node:
        case ast.ImportFrom(module=str(module)):
            return module.partition(".")[0] in modules
        case ast.Import(names=names):
            return any(is_of(alias, modules) for alias in names)
    return False


def is_of(alias: ast.alias, modules: frozenset[str]) -> bool:
    return alias.name.partition(".")[0] in modules


class WithoutFuture(ast.NodeTransformer):
    """Without `from __future__ import annotations`, which the tester has not, and without what nothing evaluates then."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        return None if node.module == "__future__" else node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node
