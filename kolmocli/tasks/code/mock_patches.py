"""What tests patch, and by which of their mocks: the names of `unittest.mock`, decorators, and paths."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from kolmocli.tasks.code.rewriting import on_bench

MOCKS = ("Mock", "MagicMock", "AsyncMock", "mock_open")


def named_mocks(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What the tests call `Mock`, `patch`, `call` or the module, and what it is."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom("unittest.mock", names):
                yield from ((alias.asname or alias.name, alias.name) for alias in names)
            case ast.ImportFrom("unittest", names):
                yield from ((alias.asname or alias.name, "") for alias in names if alias.name == "mock")
            case ast.Import(names):
                yield from ((alias.asname or alias.name, "") for alias in names if alias.name == "unittest.mock")


def modules_of(tree: ast.Module) -> dict[str, str]:
    """The names of modules, and what they are called here."""
    imports = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {alias.asname or alias.name: alias.name for alias in imports}


class Patching(ast.NodeTransformer):
    """
    Args:
        named: what the tests call the names of `unittest.mock`; the module is "".
        program: names of the module that is tested.
        modules: the names of modules, and what they are called here.
        taken: the same of what the tests import from the program.
    """

    def __init__(
        self, named: dict[str, str], program: Collection[str], modules: dict[str, str], taken: dict[str, str]
    ) -> None:
        self._named, self._program, self._modules, self._taken = named, program, modules, taken

    def _is(self, node: ast.AST, *names: str) -> bool:
        """Whether this is one of these names of `unittest.mock`."""
        owner, _, name = ast.unparse(node).rpartition(".")
        return (self._named.get(owner) == "" and name in names) if owner else self._named.get(name) in names

    def _is_mock(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._is(node.func, *MOCKS)

    def _is_patch(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and (
            self._is(node.func, "patch")
            or (isinstance(node.func, ast.Attribute) and self._is(node.func.value, "patch"))
        )

    def _patches(self, node: ast.FunctionDef) -> list[tuple[ast.Call, ast.arg | None]]:
        """The patches that a function is decorated with, in their order, and the parameters for their mocks."""
        given = [each for each in node.args.args if each.arg != "self"]
        found: list[tuple[ast.Call, ast.arg | None]] = []
        for decorator in reversed(node.decorator_list):
            if isinstance(decorator, ast.Call) and self._is_patch(decorator):
                at = 1 + ast.unparse(decorator.func).endswith(".object")
                gives = not (decorator.args[at:] or value_of(decorator, "new"))
                found.append((decorator, given.pop(0) if given and gives else None))
        return found

    def _attribute(self, owner: ast.expr, name: ast.expr) -> ast.expr:
        """The path of a name in a module, or in what the tests import from the program."""
        known, text = self._modules | self._taken, ast.unparse(owner)
        if text not in known or not isinstance(name, ast.Constant):
            return ast.Call(ast.Name("getattr"), [owner, name], [])
        return ast.Constant(f"{known[text]}.{ast.literal_eval(name)}")

    def _patched(self, path: ast.expr, value: ast.expr) -> list[ast.stmt]:
        match path:
            case ast.BinOp(ast.Name("__name__"), ast.Add(), ast.Constant(name)):
                return [ast.Expr(on_bench("patch", ast.Constant(str(name).removeprefix(".")), value))]
            case ast.Constant(text) if isinstance(text, str) and "." in text:
                first, _, rest = text.partition(".")
                return [ast.Expr(on_bench("patch", ast.Constant(rest if first in self._program else text), value))]
        raise ValueError(f"the tests patch `{ast.unparse(path)}`, which is not read")


def names_in(tree: ast.AST) -> Iterator[ast.expr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute))


def value_of(call: ast.Call, name: str) -> ast.expr | None:
    return next((key.value for key in call.keywords if key.arg == name), None)
