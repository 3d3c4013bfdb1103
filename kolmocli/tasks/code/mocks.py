"""Mocks of unittest as functions that note their calls in a list, which a program may be given, and patches by them.

                                          seen_calls = []
                                          def seen(*_given, **_named):
seen = Mock(return_value=3)    becomes        seen_calls.append((_given, _named))
f(seen)                                       return 3
seen.assert_called_once_with(1)           f(seen)
                                          assert seen_calls == [((1,), {})]

What has more than that of a mock, such as attributes that are mocks, is not read.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator

from kolmocli.tasks.code import imports, mock_calls, mock_files
from kolmocli.tasks.code.mock_names import OF_CLASS, Named
from kolmocli.tasks.code.rewriting import on_bench
from kolmocli.tasks.code.tester import BENCH

_MOCKS = ("Mock", "MagicMock", "AsyncMock", "mock_open")
_SET = ("return_value", "side_effect")
_STDOUT = "'sys.stdout'"


def without_mocks(tree: ast.Module, program: frozenset[str]) -> ast.Module:
    """The tests without mocks; `program` are names of the module that is tested. Raises ValueError for a use that is not read."""
    named = dict(_named(tree))
    if not named and not any(_is_monkeypatch(node) for node in ast.walk(tree)):
        return tree
    plain = _Plain(named, program, _modules(tree), imports.taken(tree, program))
    plain.prepare(tree)
    tree = plain.visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in {*named, "monkeypatch"}:
            raise ValueError(f"the tests use more of mocks than is read: `{ast.unparse(node)}`")
    tree.body[:0] = ast.parse(mock_calls.CALL * plain.reads_calls).body
    return ast.fix_missing_locations(tree)


def _named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """What the tests call `Mock`, `patch`, `call` or the module, and what it is."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom("unittest.mock", names):
                yield from ((alias.asname or alias.name, alias.name) for alias in names)
            case ast.ImportFrom("unittest", names):
                yield from ((alias.asname or alias.name, "") for alias in names if alias.name == "mock")
            case ast.Import(names):
                yield from ((alias.asname or alias.name, "") for alias in names if alias.name == "unittest.mock")


def _modules(tree: ast.Module) -> dict[str, str]:
    """The names of modules, and what they are called here."""
    imports = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return {alias.asname or alias.name: alias.name for alias in imports}


def _is_monkeypatch(node: ast.AST) -> bool:
    return isinstance(node, ast.arg) and node.arg == "monkeypatch"


class _Plain(ast.NodeTransformer):
    def __init__(
        self, named: dict[str, str], program: Collection[str], modules: dict[str, str], taken: dict[str, str]
    ) -> None:
        self._named, self._program, self._modules, self._taken = named, program, modules, taken
        self._mocks = dict[str, str]()
        """Names of mocks, and those of the lists of their calls."""
        self._paths = dict[str, ast.expr]()
        """Names of mocks, and what is patched by them."""
        self._used, self._awaited = set[str](), set[str]()
        self._fixtures = dict[str, ast.Call]()
        self._files = dict[str, str]()
        """Names of `mock_open` and of its files, and its own."""
        self._told = set[str]()
        self._made = 0
        self.reads_calls = False

    def _is(self, node: ast.AST, *names: str) -> bool:
        """Whether this is one of these names of `unittest.mock`."""
        owner, _, name = ast.unparse(node).rpartition(".")
        return (self._named.get(owner) == "" and name in names) if owner else self._named.get(name) in names

    def _is_mock(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._is(node.func, *_MOCKS)

    def prepare(self, tree: ast.Module) -> None:
        """Find fixtures that return a mock, of which each test makes its own, and mocks that are told later what they return. Those of a
        class get a name in the module."""
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef():
                    Named(self._is_mock).visit(node)
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef(name, body=[ast.Return(ast.Call() as made)], decorator_list=[decorator]) if (
                    "fixture" in ast.unparse(decorator) and self._is_mock(made)
                ):
                    self._fixtures[name] = made
                case ast.Assign([ast.Attribute(ast.Name(name), "return_value")]):
                    self._told.add(name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        node.names = [alias for alias in node.names if (alias.asname or alias.name) not in self._named]
        return node if node.names else None

    def visit_Import(self, node: ast.Import) -> ast.stmt | None:
        node.names = [alias for alias in node.names if alias.name != "unittest.mock"]
        return node if node.names else None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if node.name in self._fixtures:
            return None
        outer, self._mocks = self._mocks, dict(self._mocks)
        begun: list[ast.stmt] = []
        kept = [each for each in node.decorator_list if not self._is_patch(each)]
        bound = node.args.args[:1] if [each.arg for each in node.args.args[:1]] == ["self"] else []
        given = [each for each in node.args.args if each not in bound]
        for decorator in reversed([each for each in node.decorator_list if each not in kept]):
            assert isinstance(decorator, ast.Call)
            at = 1 + ast.unparse(decorator.func).endswith(".object")
            gives = not (decorator.args[at:] or _value(decorator, "new"))
            name = given.pop(0).arg if given and gives else None
            begun += self._patch(decorator, name)
        for each in given:
            if each.arg in self._fixtures:
                begun += self._mock(each.arg, copy.deepcopy(self._fixtures[each.arg]))
        had = {"monkeypatch", *self._fixtures}
        node.args.args = [*bound, *(each for each in given if each.arg not in had)]
        node.decorator_list = kept
        self.generic_visit(node)
        node.body[:0] = begun
        self._mocks = outer | {name: calls for name, calls in self._mocks.items() if name.startswith(OF_CLASS)}
        return node

    def _is_patch(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and (
            self._is(node.func, "patch")
            or (isinstance(node.func, ast.Attribute) and self._is(node.func.value, "patch"))
        )

    def visit_With(self, node: ast.With) -> ast.stmt | list[ast.stmt]:
        if len(node.items) > 1:
            node.items, node.body = node.items[:1], [ast.With(node.items[1:], node.body)]
        match node.items:
            case [ast.withitem(ast.Call() as made, named)] if self._is_patch(made):
                of_output = bool(made.args) and ast.unparse(made.args[0]) == _STDOUT
                begun = self._patch(made, named.id if isinstance(named, ast.Name) else None)
                node.items = []
                self.generic_visit(node)
                self._made += 1
                before = ast.parse(f"_patches_{self._made} = {BENCH}.patches").body
                after = "sys.stdout = sys.__stdout__" if of_output else f"{BENCH}.unpatch(_patches_{self._made})"
                return [*before, *begun, *node.body, *ast.parse(after).body]
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as made) if self._is_mock(made):
                return self._mock(name, made)
            case ast.Assign([ast.Name(name)], value) if (opened := mock_files.opened(value, self._files)) is not None:
                self._files[name] = opened
                return ast.Pass()
            case ast.Assign([ast.Attribute(ast.Name(name), part)]) if name in self._mocks and part in _SET:
                return self._changed(name, part, node)
            case ast.Assign([ast.Attribute(attr=part)]) if part in _SET:
                raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(node.targets[0])}`")
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if any(map(self._is_mock, values)):
                each = [ast.Assign([name], value) for name, value in zip(names, values, strict=True)]
                return [self.visit(ast.copy_location(one, node)) for one in each]
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(name), method), given, named) if name in self._mocks:
                given, named = [self.visit(each) for each in given], [self.visit(each) for each in named]
                if made := mock_calls.stated(self._mocks[name], method, given, named):
                    return made
            case ast.Call(ast.Attribute(ast.Name("monkeypatch"), "setattr"), [ast.Constant() as path, value]):
                return self._patched(path, self.visit(value))
            case ast.Call(ast.Attribute(ast.Name("monkeypatch"), "setattr"), [owner, name, value]):
                return self._patched(self._attribute(owner, name), self.visit(value))
            case ast.Call(ast.Attribute(ast.Attribute(file, "write"), method), given, named) if (
                opened := mock_files.opened(file, self._files)
            ):
                given, named = [self.visit(each) for each in given], [self.visit(each) for each in named]
                return mock_calls.stated(mock_files.written(opened), method, given, named)
            case call if (moved := mock_files.moved(call)) is not None:
                return ast.Expr(self.visit(moved))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        match node:
            case ast.Attribute(ast.Name(name), part) if name in self._mocks:
                if part not in mock_calls.READ:
                    raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(node)}`")
                return self._read(self._mocks[name], part)
            case ast.Attribute(ast.Attribute(file, "write"), part) if (
                part in mock_calls.READ and (opened := mock_files.opened(file, self._files)) is not None
            ):
                return self._read(mock_files.written(opened), part)
        return self.generic_visit(node)  # type: ignore[return-value]

    def _read(self, calls: str, part: str) -> ast.expr:
        self.reads_calls |= part not in ("called", "call_count")
        return mock_calls.read(calls, part)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return mock_calls.noted(node.args, node.keywords) if self._is(node.func, "call") else node

    def _mock(self, name: str, made: ast.Call) -> list[ast.stmt]:
        self._mocks[name] = f"{name}_calls" if name.startswith(OF_CLASS) else f"{name.lstrip('_')}_calls"
        self._used.discard(name)
        if self._is(made.func, "mock_open"):
            self._files[name] = name
            begun = ast.parse(f"{self._mocks[name]} = []").body
            return [*begun, *mock_files.function(name, self._mocks[name], made)]
        parts = {name: self.visit(value) for name in _SET if (value := _value(made, name)) is not None}
        if len(parts) < len(made.keywords) or made.args:
            raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(made)}`")
        lists = ast.parse(f"{self._mocks[name]} = []").body
        if name in self._told:
            value = parts.get("return_value", ast.Constant(None))
            lists.append(ast.Assign([ast.Name(f"{name}_returns", ast.Store())], ast.List([value], ast.Load())))
            parts["return_value"] = ast.parse(f"{name}_returns[-1]", mode="eval").body
        if self._is(made.func, "AsyncMock"):
            self._awaited.add(name)
        if isinstance(parts.get("return_value"), ast.Call):  # it is made once
            lists.append(ast.Assign([ast.Name(f"{name}_value", ast.Store())], parts["return_value"]))
            parts["return_value"] = ast.Name(f"{name}_value", ast.Load())
        return [*lists, mock_calls.function(name, self._mocks[name], parts, name in self._awaited)]

    def _changed(self, name: str, part: str, node: ast.Assign) -> list[ast.stmt]:
        """A new function for a mock that does something else from now on, or another value for it to return."""
        if part == "return_value":
            told = ast.Call(ast.Attribute(ast.Name(f"{name}_returns"), "append"), [self.visit(node.value)], [])
            return [ast.Expr(told)]
        if name in self._used:
            raise ValueError(f"the tests change a mock that a program may have: `{ast.unparse(node)}`")
        made = mock_calls.function(name, self._mocks[name], {part: self.visit(node.value)}, name in self._awaited)
        return [made, *(self._patched(self._paths[name], ast.Name(name)) if name in self._paths else ())]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        self._used |= {node.id} & self._mocks.keys()
        return node

    def _patch(self, made: ast.Call, name: str | None) -> list[ast.stmt]:
        if (moved := mock_files.of_environment(made)) is not None:
            return [ast.Expr(self.visit(moved))]
        if not made.args:
            raise ValueError(f"the tests use more of mocks than is read: `{ast.unparse(made)}`")
        path, *new = made.args
        if isinstance(made.func, ast.Attribute) and made.func.attr == "object" and new:
            path, new = self._attribute(path, new[0]), new[1:]
        given = new[0] if new else _value(made, "new")
        self._made += 1
        called_too = name is not None
        name, made.args = name or f"_patched_{self._made}", []
        if ast.unparse(path) == _STDOUT:
            called = _value(made, "new_callable")
            stream = ast.unparse(given) if called is None and given else f"{ast.unparse(called or path)}()"
            return ast.parse(f"import sys\nsys.stdout = {name} = {stream}").body
        if given is not None and not self._is_mock(given):
            if called_too and isinstance(given, ast.Name) and given.id in self._mocks:
                self._mocks[name] = self._mocks[given.id]
            return self._patched(path, self.visit(given))
        self._paths[name] = path
        if isinstance(given, ast.Call):
            return [*self._mock(name, given), *self._patched(path, ast.Name(name))]
        called = _value(made, "new_callable")
        if called is not None and self._is(called, *_MOCKS):
            made = ast.Call(called, [], [key for key in made.keywords if key.arg != "new_callable"])
        return [*self._mock(name, made), *self._patched(path, ast.Name(name))]

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


def _value(call: ast.Call, name: str) -> ast.expr | None:
    return next((key.value for key in call.keywords if key.arg == name), None)
