"""Methods of a test class that are no more than a way to expect an exception."""

from __future__ import annotations

import ast
import copy
from collections import Counter


class Inlined(ast.NodeTransformer):
    """`with self.expects(E)` becomes `with self.assertRaises(E)` where that is all that `expects` returns."""

    def __init__(self, tree: ast.AST) -> None:
        self._made: dict[str, tuple[list[str], ast.Call]] = {}
        for node in ast.walk(tree):
            match node:
                case ast.FunctionDef(name, ast.arguments(args=[ast.arg("self"), *given]), [ast.Return(ast.Call() as call)]) if (
                    ast.unparse(call.func) in ("self.assertRaises", "self.assertRaisesRegex")
                ):  # fmt: skip
                    self._made[name] = [each.arg for each in given], call
        nodes = [*ast.walk(tree)]
        used = Counter(node.attr for node in nodes if isinstance(node, ast.Attribute))
        read = Counter(self._name(node) for node in nodes if isinstance(node, ast.withitem))
        self._made = {name: made for name, made in self._made.items() if used[name] == read[name]}

    def _name(self, node: ast.withitem) -> str | None:
        """The helper that is called here as it has to be."""
        match node.context_expr:
            case ast.Call(ast.Attribute(ast.Name("self"), name), given, []) if name in self._made:
                return name if len(given) == len(self._made[name][0]) else None
        return None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt | None:
        self.generic_visit(node)
        return None if node.name in self._made else node

    def visit_withitem(self, node: ast.withitem) -> ast.withitem:
        if (name := self._name(node)) is not None:
            assert isinstance(node.context_expr, ast.Call)
            parameters, call = self._made[name]
            given = dict(zip(parameters, node.context_expr.args, strict=True))
            node.context_expr = _With(given).visit(copy.deepcopy(call))
        return node


class _With(ast.NodeTransformer):
    """Code with values in the places of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)
