"""Tests that are code, made ready for the tester: every assert is noted, and none ends the tests.

    assert f(3) == 4, "wrong"    becomes    try: __bench__.holds(f(3) == 4)
                                            except BaseException: __bench__.broken()

So a share of the asserts can be counted, and the calls of all of them can be found (`tester.py`). Code in
a `try` or a `with` may be meant to raise, and does. What tests of a framework became is called in parts: `with __bench__.part(): test()`.
The tests are the file's own: they are parsed here, and run in the sandbox only.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

from kolmocli.tasks.code.awaiting import synchronous
from kolmocli.tasks.code.tester import BENCH

_YIELDS = ast.Yield | ast.YieldFrom | ast.Await


def parse_tests(code: str) -> ast.Module:
    """Raises ValueError when the tests do not compile, or assert nothing."""
    try:
        compile(code, "<tests>", "exec", dont_inherit=True)
        tree = ast.parse(code)
    except (SyntaxError, ValueError) as error:
        words = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"the tests do not compile: {words}") from None
    tree = ast.fix_missing_locations(_Asserting().visit(synchronous(tree)))
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise ValueError("the tests assert nothing")
    return tree


class _Asserting(ast.NodeTransformer):
    """`if x: raise AssertionError` is `assert not x`."""

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        match node.exc:
            case ast.Name("AssertionError") | ast.Call(ast.Name("AssertionError")):
                return ast.copy_location(ast.Assert(ast.Constant(False)), node)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        match node:
            case ast.If(test, [only], []) if _never_holds(only):
                return ast.copy_location(ast.Assert(ast.UnaryOp(ast.Not(), test)), node)
        return node


def is_silent(tree: ast.AST) -> bool:
    """Whether the tests may pass and reach no assert: they have an `assert False` that no `try` waits for."""
    return not isinstance(tree, ast.Try) and (_never_holds(tree) or any(map(is_silent, ast.iter_child_nodes(tree))))


def rewritten(tree: ast.Module) -> str:
    """The code for the tester."""
    tree = _Rewriting().visit(tree)
    tree.body = _in_parts(tree.body)
    return ast.unparse(ast.fix_missing_locations(tree))


def _in_parts(body: list[ast.stmt]) -> list[ast.stmt]:
    """Calls that are no part of anything, or of a loop over the parameters of a test alone."""
    parts: list[ast.stmt] = []
    for node in body:
        match node:
            case ast.Expr(ast.Call()):
                node = ast.With([ast.withitem(on_bench("part"))], [node])
            case ast.For(body=[*before, ast.For() | ast.Expr(ast.Call())]) if all(map(_is_begun, before)):
                node.body = _in_parts(node.body)
        parts.append(node)
    return parts


def _is_begun(node: ast.stmt) -> bool:
    """What stands before the call of a test that has parameters (`collected.py`)."""
    match node:
        case ast.Assign([ast.Name("_case")]) | ast.Expr(ast.Call()):
            return True
    return False


class _Rewriting(ast.NodeTransformer):
    def __init__(self, in_function: bool = False) -> None:
        self._in_function = in_function

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        match node.test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                noted = on_bench("fails", self.visit(operand))
            case ast.Compare(left=one, ops=[ast.Is()], comparators=[other]):
                noted = on_bench("identical", self.visit(one), self.visit(other))
            case _:
                noted = on_bench("holds", self.visit(node.test))
        handler = ast.ExceptHandler(ast.Name("BaseException"), None, [ast.Expr(on_bench("broken"))])
        return ast.Try([ast.Expr(noted)], [handler], [], [])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """A token is asked whether it is the same as something: `is` alone could not tell that it was."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        same = on_bench("same", node.left, node.comparators[0])
        return same if isinstance(node.ops[0], ast.Is) else ast.UnaryOp(ast.Not(), same)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name("type"), args=[value], keywords=[]):
                return on_bench("kind", value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Loops of a test have turns: what one needs, the others need not wait for."""
        outer, self._in_function = self._in_function, not any(isinstance(each, _YIELDS) for each in ast.walk(node))
        self.generic_visit(node)
        self._in_function = outer
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        has_calls = self._in_function and any(map(_is_call, ast.walk(node)))
        self.generic_visit(node)
        if node.orelse or not has_calls:
            return node
        node.body = [ast.With([ast.withitem(on_bench("turn"))], node.body)]
        return [node, ast.Expr(on_bench("turned"))]

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        self.generic_visit(node)
        node.subject = on_bench("certainly", node.subject)
        return node

    def _leave(self, node: ast.AST) -> ast.AST:
        return _Guarded(self._in_function).generic_visit(node)

    visit_TryStar = visit_With = visit_AsyncWith = _leave

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """Where a `try` has to be left by an exception, an assert holds as soon as one is caught."""
        if any(_never_holds(each) for part in (*node.body, *node.orelse) for each in ast.walk(part)):
            for handler in node.handlers:
                if not any(isinstance(each, ast.Assert) for each in ast.walk(handler)):
                    handler.type, handler.name = handler.type or ast.Name("BaseException"), handler.name or "_caught"
                    handler.body.insert(0, ast.Expr(on_bench("caught", ast.Name(handler.name))))
        return self._leave(node)


class _Guarded(_Rewriting):
    """Within a `try` or a `with`."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return ast.Assert(on_bench("held", self.visit(node.test)), node.msg)


def _is_call(node: ast.AST) -> bool:
    """Whether it may be one of the program."""
    return isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id))


def _never_holds(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant) and not node.test.value


def on_bench(method: str, *arguments: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(BENCH), method), [*arguments], [*keywords])
