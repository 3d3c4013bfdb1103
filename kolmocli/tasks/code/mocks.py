"""Mocks of unittest as functions that note their calls in a list, which a program may be given, and patches by them.

                                          seen_calls = []
                                          def seen(*_given, **_named):
seen = Mock(return_value=3)    becomes        seen_calls.append((_given, _named))
f(seen)                                       return 3
seen.assert_called_once_with(1)           f(seen)
                                          assert seen_calls == [((1,), {})]

One with parts, such as attributes that are mocks, is an object that the program has (`mock_parts.py`).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

from kolmocli.tasks.code import imports, mock_calls, mock_files, mock_parts
from kolmocli.tasks.code.mock_names import OF_CLASS, Named
from kolmocli.tasks.code.mock_patches import MOCKS, Patching, modules_of, named_mocks, names_in, value_of
from kolmocli.tasks.code.rewriting import on_bench
from kolmocli.tasks.code.tester import BENCH

_SET = ("return_value", "side_effect")
_STDOUT = "'sys.stdout'"


def without_mocks(tree: ast.Module, program: frozenset[str]) -> ast.Module:
    """The tests without mocks; `program` are names of the module that is tested. Raises ValueError for a use that is not read."""
    named = dict(named_mocks(tree))
    if not named and not any(_is_monkeypatch(node) for node in ast.walk(tree)):
        return tree
    plain = _Plain(named, program, modules_of(tree), imports.taken(tree, program))
    plain.prepare(tree)
    tree = plain.visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in {*named, "monkeypatch"}:
            raise ValueError(f"the tests use more of mocks than is read: `{ast.unparse(node)}`")
    tree.body[:0] = ast.parse(mock_calls.CALL * plain.reads_calls).body
    return ast.fix_missing_locations(tree)


def _is_monkeypatch(node: ast.AST) -> bool:
    return isinstance(node, ast.arg) and node.arg == "monkeypatch"


class _Plain(Patching):
    def __init__(
        self, named: dict[str, str], program: Collection[str], modules: dict[str, str], taken: dict[str, str]
    ) -> None:
        super().__init__(named, program, modules, taken)
        self._mocks = dict[str, str]()
        """Names of mocks, and those of the lists of their calls."""
        self._paths = dict[str, ast.expr]()
        """Names of mocks, and what is patched by them."""
        self._used, self._awaited = set[str](), set[str]()
        self._fixtures = dict[str, ast.Call]()
        self._files = dict[str, str]()
        """Names of `mock_open` and of its files, and its own."""
        self._told = set[str]()
        self._own, self._returned = set[str](), set[str]()
        """Names of mocks with parts of their own, and of those with parts of what they return."""
        self._made = 0
        self.reads_calls = False

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
        self._own, self._returned = mock_parts.with_parts(tree, self._names(tree))

    def _names(self, tree: ast.Module) -> set[str]:
        """Names of mocks, but of those that open files or are awaited."""
        made = list[tuple[str, ast.expr]]()
        for node in ast.walk(tree):
            match node:
                case ast.Assign([ast.Name(name)], ast.Call() as call) if self._is_mock(call):
                    made.append((name, call))
                case ast.withitem(ast.Call() as call, ast.Name(name)) if self._is_patch(call):
                    made.append((name, call))
                case ast.FunctionDef():
                    made += [(given.arg, call) for call, given in self._patches(node) if given is not None]
        others = {
            name for name, call in made if any(self._is(each, "AsyncMock", "mock_open") for each in names_in(call))
        }
        return {*self._fixtures, *(name for name, _ in made)} - others

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
        patches = self._patches(node)
        mocked = [given for _, given in patches if given is not None]
        given = [each for each in node.args.args if each not in mocked]
        node.decorator_list = [each for each in node.decorator_list if not self._is_patch(each)]
        for decorator, by in patches:
            begun += self._patch(decorator, None if by is None else by.arg)
        for each in given:
            if each.arg in self._fixtures:
                begun += self._mock(each.arg, copy.deepcopy(self._fixtures[each.arg]))
        had = {"monkeypatch", *self._fixtures}
        node.args.args = [each for each in given if each.arg not in had]
        self.generic_visit(node)
        node.body[:0] = begun
        self._mocks = outer | {name: calls for name, calls in self._mocks.items() if name.startswith(OF_CLASS)}
        return node

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
            case ast.Assign([ast.Name(name)], value) if (
                mock_parts.is_alias(value) and (part := self._part(value)) is not None
            ):
                self._mocks[name] = name
                return mock_parts.alias(name, *part)
            case ast.Assign([ast.Attribute() as target]) if (part := self._part(target)) is not None and part[1]:
                return mock_parts.told(*part, node.value, self.visit)
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
            case ast.Call(ast.Attribute(owner, method), given, named) if (part := self._part(owner)) is not None:
                given, named = [self.visit(each) for each in given], [self.visit(each) for each in named]
                if made := mock_parts.stated(*part, method, given, named):
                    return made
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
            case ast.Attribute(owner, part) if part in mock_parts.READ and (of := self._part(owner)) is not None:
                return self._read(mock_parts.calls(*of), part)
            case ast.Attribute() if (of := self._part(node)) is not None:
                return mock_parts.part(*of)
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
        if self._is_mock(node) and self._is(node.func, "Mock", "MagicMock"):
            return mock_parts.mocked(node, self.visit)
        self.generic_visit(node)
        return mock_calls.noted(node.args, node.keywords) if self._is(node.func, "call") else node

    def _part(self, node: ast.expr) -> tuple[ast.expr, mock_parts.Steps] | None:
        """The object that a part of a mock is of, and the steps from there; nothing for a mock that is a function."""
        found = mock_parts.chain(node, self._mocks)
        match found:
            case (name, steps) if name in self._own:
                return ast.Name(name, ast.Load()), steps
            case (name, ("()", *steps)) if name in self._returned:
                return ast.Name(f"{name}_value", ast.Load()), (*steps,)
        return None

    def _mock(self, name: str, made: ast.Call) -> list[ast.stmt]:
        self._mocks[name] = f"{name}_calls" if name.startswith(OF_CLASS) else f"{name.lstrip('_')}_calls"
        self._used.discard(name)
        if self._is(made.func, "mock_open"):
            self._files[name] = name
            begun = ast.parse(f"{self._mocks[name]} = []").body
            return [*begun, *mock_files.function(name, self._mocks[name], made)]
        if name in self._own or any(key.arg not in _SET for key in mock_parts.keywords(made)):
            if self._is(made.func, "AsyncMock"):
                raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(made)}`")
            self._own.add(name)
            return [ast.Assign([ast.Name(name, ast.Store())], mock_parts.mocked(made, self.visit))]
        parts = {name: self.visit(value) for name in _SET if (value := value_of(made, name)) is not None}
        if made.args:
            raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(made)}`")
        lists = ast.parse(f"{self._mocks[name]} = []").body
        if name in self._returned:
            value = parts.get("return_value", on_bench("mocked", ast.List([], ast.Load())))
            lists.append(ast.Assign([ast.Name(f"{name}_value", ast.Store())], value))
            parts["return_value"] = ast.Name(f"{name}_value", ast.Load())
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
        if part == "return_value" and name in self._returned:
            now = ast.Assign([ast.Name(f"{name}_value", ast.Store())], self.visit(node.value))
            return [now, *ast.parse(f"{name}_returns.append({name}_value)").body]
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
        given = new[0] if new else value_of(made, "new")
        self._made += 1
        called_too = name is not None
        name, made.args = name or f"_patched_{self._made}", []
        if ast.unparse(path) == _STDOUT:
            called = value_of(made, "new_callable")
            stream = ast.unparse(given) if called is None and given else f"{ast.unparse(called or path)}()"
            return ast.parse(f"import sys\nsys.stdout = {name} = {stream}").body
        if given is not None and not self._is_mock(given):
            if called_too and isinstance(given, ast.Name) and given.id in self._mocks:
                self._mocks[name] = self._mocks[given.id]
            return self._patched(path, self.visit(given))
        self._paths[name] = path
        if isinstance(given, ast.Call):
            return [*self._mock(name, given), *self._patched(path, ast.Name(name))]
        called = value_of(made, "new_callable")
        if called is not None and self._is(called, *MOCKS):
            made = ast.Call(called, [], [key for key in made.keywords if key.arg != "new_callable"])
        return [*self._mock(name, made), *self._patched(path, ast.Name(name))]
