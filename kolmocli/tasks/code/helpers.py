"""Methods of a test class that are no more than a way to expect an exception."""

from __future__ import annotations

import ast
import copy


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

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt | None:
        self.generic_visit(node)
        return None if node.name in self._made else node

    def visit_withitem(self, node: ast.withitem) -> ast.withitem:
        match node.context_expr:
            case ast.Call(ast.Attribute(ast.Name("self"), name), given, []) if name in self._made:
                parameters, call = self._made[name]
                if len(given) == len(parameters):
                    node.context_expr = _With(dict(zip(parameters, given, strict=True))).visit(copy.deepcopy(call))
        return node


class _With(ast.NodeTransformer):
    """Code with values in the places of names."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)
