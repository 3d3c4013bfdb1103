"""Tests of pytest and unittest as plain asserts: what a framework would collect is called, and its ways to assert are asserts.

class TestCases(unittest.TestCase):                 class TestCases:
    def test_a(self):                                   def test_a(self):
        self.assertEqual(f(1), 2)      becomes              assert f(1) == 2
                                                    _case = TestCases()
                                                    _case.test_a()
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from kolmocli.tasks.code import awaiting, collected, helpers, imports, mocks

_OPERATORS: dict[str, ast.cmpop] = {
    "assertEqual": ast.Eq(), "assertEquals": ast.Eq(), "assertNotEqual": ast.NotEq(), "assertIs": ast.Is(),
    "assertIsNot": ast.IsNot(), "assertIn": ast.In(), "assertNotIn": ast.NotIn(), "assertGreater": ast.Gt(),
    "assertGreaterEqual": ast.GtE(), "assertLess": ast.Lt(), "assertLessEqual": ast.LtE(),
    **{f"assert{kind}Equal": ast.Eq() for kind in ("List", "Dict", "Set", "Tuple", "MultiLine", "Sequence")},
}  # fmt: skip
_NAMED = (
    "first", "second", "expr", "obj", "cls", "member", "container", "list1", "list2", "tuple1", "tuple2", "d1", "d2", "text",
)  # fmt: skip
"""Parameters of unittest's asserts that may be given by their names, in their order."""
_APPROX = """
class _Approx:
    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected, self.abs = expected, 1e-12 if abs is None else abs
        self.rel = (0.0 if abs is not None else 1e-6) if rel is None else rel
    def __eq__(self, other):
        return self._near(other, self.expected)
    def _near(self, one, wanted):
        if isinstance(wanted, (list, tuple)):
            return isinstance(one, (list, tuple)) and len(one) == len(wanted) and all(map(self._near, one, wanted))
        if isinstance(wanted, dict):
            return isinstance(one, dict) and one.keys() == wanted.keys() and all(self._near(one[k], wanted[k]) for k in wanted)
        if isinstance(wanted, (bool, str, bytes, type(None))) or isinstance(one, (bool, str, bytes, type(None))):
            return one == wanted
        return one == wanted or abs(one - wanted) <= max(self.rel * abs(wanted), self.abs)
"""
_CAUGHT = """
import re as _re
class _Caught:
    value = exception = None
    @property
    def type(self):
        return type(self.value)
    def __bool__(self):
        return self.value is not None
    def match(self, pattern):
        assert _re.search(pattern, str(self.value))
        return True
"""
"""What `with pytest.raises(...) as` names, and unittest's. It holds nothing while a result is not known yet."""
_CASE = """
class _Case:
    def setUp(self, *_):
        pass
    tearDown = setUpClass = tearDownClass = setUp
    def addCleanup(self, called, *given, **named):
        vars(self).setdefault("_cleanups", []).append((called, given, named))
    def doCleanups(self):
        for called, given, named in reversed(vars(self).pop("_cleanups", [])):
            called(*given, **named)
"""
"""unittest's, for `super().setUp()` and `self.addCleanup(os.remove, path)`."""


def plain_tests(code: str, defined: Collection[str] = ()) -> str:
    """The tests without a framework; as they are where they use none. A module is the program too if all that they take from it
    is `defined` by the reference. Raises ValueError for what only a framework can do."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return code  # who parses it says what is wrong with it
    if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body):
        tree = imports.WithoutFuture().visit(tree)
        code = ast.unparse(tree)
    tree = awaiting.synchronous(tree)
    program = imports.program_modules(tree, defined)
    tree = helpers.Inlined(mocks.without_mocks(tree, program)).visit(tree)
    imports.require_mocked(tree)
    cases, functions = list(collected.cases(tree)), list(collected.functions(tree))
    if (
        not cases
        and not functions
        and not any(imports.is_import(node, imports.FRAMEWORKS | program) for node in tree.body)
    ):
        return code
    framework = imports.modules(tree, imports.FRAMEWORKS) | imports.parts(tree)
    plain = _Plain(set(_looked_into(tree)), framework, program, tree)
    made = collected.calls(tree, cases, functions)
    body = [node for node in map(plain.visit, tree.body) if node is not None]
    calls = [plain.visit(node) for node in made]
    for node in (inner for each in [*body, *calls] for inner in ast.walk(each)):
        if isinstance(node, ast.Name) and node.id in framework:
            raise ValueError(f"the tests use more of {framework[node.id]} than is read; write asserts")
        match node:
            case ast.Attribute(ast.Name("self" | "cls"), name) if (
                name[:6] == "assert" and name[6:7].isupper() and name not in plain.own
            ):
                raise ValueError(f"the tests use {name} of unittest in a way that is not read; write asserts")
    opening = ast.parse(_APPROX * plain.approximates + _CAUGHT * plain.catches + _CASE * plain.inherits).body
    return ast.unparse(ast.fix_missing_locations(ast.Module([*opening, *body, *calls], [])))


def _looked_into(tree: ast.Module) -> Iterator[str]:
    """The names of caught exceptions of which the tests ask what only a framework has, such as `traceback`."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(name), attr) if attr not in ("value", "exception", "type", "match"):
                yield name


class _Plain(ast.NodeTransformer):
    """Ways to assert as asserts."""

    def __init__(
        self, looked: Collection[str], framework: Collection[str], modules: frozenset[str], tree: ast.Module
    ) -> None:
        """`looked` are the names of objects that the tests look into: `error.code`; `framework`, those that it is known by;
        `modules`, those of the program."""
        self._modules = imports.FRAMEWORKS | modules
        self._taken = imports.taken(tree, modules)
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.approximates, self.catches, self.inherits = False, False, False
        self._looked, self._framework, self._program = looked, framework, imports.modules(tree, modules)

    def visit_Import(self, node: ast.Import) -> ast.stmt | None:
        node.names = [alias for alias in node.names if not imports.is_of(alias, self._modules)]
        return node if node.names else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | None:
        return None if imports.is_import(node, self._modules) else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        match node:
            case ast.Assign([ast.Name("pytestmark")], value) if not any(map(collected.is_skipping, ast.walk(value))):
                return ast.Pass()
        return self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> ast.stmt:
        return self._visited(node)

    def visit_If(self, node: ast.If) -> ast.stmt | None:
        return None if collected.is_main(node) else self._visited(node)

    def _visited(self, node: ast.stmt) -> ast.stmt:
        self.generic_visit(node)
        if getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        own = [base for base in node.bases if "TestCase" not in ast.unparse(base)]
        if len(own) < len(node.bases) and ("super()" in (text := ast.unparse(node)) or collected.CLEANUP in text):
            own, self.inherits = [*own, ast.Name("_Case")], True
        node.bases = own
        return self._undecorated(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return self._undecorated(node)

    def _undecorated(self, node: ast.ClassDef | ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [each for each in node.decorator_list if not self._is_of_framework(each)]
        return self._visited(node)

    def _is_of_framework(self, node: ast.expr) -> bool:
        return any(isinstance(each, ast.Name) and each.id in self._framework for each in ast.walk(node))

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name("self"), attr=method), args=arguments) if (
                method.startswith(("assert", "fail", "skip")) and method not in self.own
            ):
                by_name = {each.arg: each for each in node.value.keywords}
                named = [by_name[name] for name in _NAMED if name in by_name]
                given = [each for each in node.value.keywords if each not in named and each.arg != "msg"]
                return self._asserted(
                    method, [self.visit(each) for each in [*arguments, *(n.value for n in named)]], given
                )
            case ast.Call(ast.Attribute(ast.Name(name), "fail")) if name in self._framework:
                return ast.Assert(ast.Constant(False))
            case ast.Call(ast.Attribute(ast.Name(name), "main")) if name in self._framework:
                return ast.Pass()
            case ast.Call(ast.Attribute(ast.Name(name), "raises"), [error, function, *rest], given) if (
                name in self._framework
            ):
                called = ast.Call(self.visit(function), [self.visit(each) for each in rest], given)
                return self._raising(self.visit(error), [ast.Expr(called)])
        return self.generic_visit(node)

    def _asserted(
        self, method: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> ast.stmt | list[ast.stmt]:
        match method, arguments:
            case "assertTrue" | "assertFalse" | "assertIsNone" | "assertIsNotNone", [value, *_]:
                none = ast.Constant(None)
                test = {
                    "assertTrue": value, "assertFalse": ast.UnaryOp(ast.Not(), value),
                    "assertIsNone": ast.Compare(value, [ast.Is()], [none]),
                    "assertIsNotNone": ast.Compare(value, [ast.IsNot()], [none]),
                }[method]  # fmt: skip
                return ast.Assert(test)
            case "assertNotAlmostEqual", [_, _, *_]:
                made = self._asserted("assertAlmostEqual", arguments, keywords)
                assert isinstance(made, ast.Assert)
                return ast.Assert(ast.UnaryOp(ast.Not(), made.test))
            case "assertAlmostEqual" | "assertAlmostEquals", [one, other, *places]:
                given = {each.arg: each.value for each in keywords}
                digits = places[0] if places else given.get("places", ast.Constant(7))
                text = f"round(abs(({ast.unparse(one)}) - ({ast.unparse(other)})), {ast.unparse(digits)}) == 0"
                if "delta" in given:
                    text = f"abs(({ast.unparse(one)}) - ({ast.unparse(other)})) <= {ast.unparse(given['delta'])}"
                return ast.parse(f"assert {text}").body[0]
            case "assertCountEqual", [one, other, *_]:
                return ast.parse(f"assert sorted({ast.unparse(one)}) == sorted({ast.unparse(other)})").body[0]
            case "assertIsInstance" | "assertNotIsInstance", [one, kind, *_]:
                no = "not " * (method == "assertNotIsInstance")
                return ast.parse(f"assert {no}isinstance({ast.unparse(one)}, {ast.unparse(kind)})").body[0]
            case "assertRegex" | "assertNotRegex", [text, pattern, *_]:
                no = "not " * (method == "assertNotRegex")
                self.catches = True
                return ast.parse(f"assert {no}_re.search({ast.unparse(pattern)}, {ast.unparse(text)})").body[0]
            case "assertRaises", [error, function, *rest]:
                return self._raising(error, [ast.Expr(ast.Call(function, rest, list(keywords)))])
            case "assertRaisesRegex", [error, pattern, function, *rest]:
                return self._raising(error, [ast.Expr(ast.Call(function, rest, list(keywords)))], None, [pattern])
            case "fail", _:
                return ast.Assert(ast.Constant(False))
            case _, [one, other, *_] if method in _OPERATORS:
                return ast.Assert(ast.Compare(one, [_OPERATORS[method]], [other]))
        raise ValueError(f"the tests use {method} of unittest, which is not read; write asserts")

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        if len(node.items) > 1:
            node.items, node.body = node.items[:1], [ast.With(node.items[1:], node.body)]
        self.generic_visit(node)
        match node.items:
            case [ast.withitem(ast.Call(ast.Attribute(attr=name) | ast.Name(id=name), [error, *more], given), kept)] if name in (
                "raises", "assertRaises", "assertRaisesRegex"
            ):  # fmt: skip
                if isinstance(kept, ast.Name) and kept.id in self._looked:
                    raise ValueError(
                        f"the tests ask what only pytest knows of an exception, `{kept.id}`; ask `{kept.id}.value`"
                    )
                patterns = [*more, *(each.value for each in given if each.arg == "match")]
                return self._raising(error, node.body, kept, patterns)
            case [ast.withitem(ast.Call(func=ast.Attribute(value=ast.Name("self"), attr="subTest")))]:
                return node.body
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        node.id = self._taken.get(node.id, node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in self._program:
            return ast.Name(node.attr, node.ctx)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name("pytest"), attr="approx") | ast.Name("approx"):
                self.approximates = True
                node.func = ast.Name("_Approx")
        return node

    def _raising(
        self, error: ast.expr, body: Sequence[ast.stmt], kept: ast.expr | None = None, patterns: Sequence[ast.expr] = ()
    ) -> list[ast.stmt]:
        """The body has to raise, and what that says has to match."""
        self.catches = True
        targets = [ast.Name("_raised"), *([kept] if kept else [])]
        handler = ast.ExceptHandler(error, "_error", ast.parse("_raised.value = _raised.exception = _error").body)
        made: list[ast.stmt] = [ast.Assign(targets, ast.parse("_Caught()", mode="eval").body)]
        made += [ast.Try(list(body), [handler], [], []), *ast.parse("assert _raised").body]
        said = ast.parse("str(_raised.value)", mode="eval").body
        searches = [ast.Call(ast.Attribute(ast.Name("_re"), "search"), [each, said], []) for each in patterns]
        return [*made, *map(ast.Assert, searches)]
