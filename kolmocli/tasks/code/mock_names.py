"""Mocks that are attributes of a test case, `self.send = Mock()`, as names of the module: there they can be functions."""

from __future__ import annotations

import ast
from collections.abc import Callable

OF_CLASS = "_of_class_"
_ENDS = ("", "_calls", "_returns", "_value", "_writes")
"""Of the names that a mock needs."""


class Named(ast.NodeTransformer):
    """`is_mock` says whether a value is one."""

    def __init__(self, is_mock: Callable[[ast.expr], bool]) -> None:
        self._is_mock = is_mock
        self._found = set[str]()

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                names = {name for inner in ast.walk(each) for name in self._made(inner)}
                self._found |= names
                if names:
                    lists = [f"{OF_CLASS}{name}{end}" for name in sorted(names) for end in _ENDS]
                    each.body.insert(0, ast.Global(lists))
        self.generic_visit(node)
        return node

    def _made(self, node: ast.AST) -> list[str]:
        match node:
            case ast.Assign([ast.Attribute(ast.Name("self"), name)], value) if self._is_mock(value):
                return [name]
        return []

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self._found:
            return ast.copy_location(ast.Name(f"{OF_CLASS}{node.attr}", node.ctx), node)
        self.generic_visit(node)
        return node
