"""What pytest or unittest would collect and call, as calls: tests with their parameters and fixtures, classes with what they set up."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kolmocli.tasks.code.files import names_of, reach_files
from kolmocli.tasks.code.tester import BENCH

Fixtures = Mapping[str, ast.FunctionDef]
_BEFORE_ALL, _BEFORE_EACH = ("setUpClass", "setup_class"), ("setUp", "setup_method")
_AFTER_EACH = "tearDown", "teardown_method"
CLEANUP = ".addCleanup("
_NOT_CALLED = frozenset({"skip", "xfail", "expectedFailure"})
"""Marks of tests that are not run, or of which a failure is none."""
_FOLDERS = {
    "tmp_path": f"{BENCH}.files.folder()",
    "tmp_path_factory": f"{BENCH}.files",
    "tmpdir": f"{BENCH}.files.local()",
}
_OF_PYTEST = dict.fromkeys(("capsys", "capfd"), f"{BENCH}.printed.begin()") | _FOLDERS
"""Fixtures that the bench has."""


def calls(tree: ast.Module, cases: Sequence[ast.ClassDef], functions: Sequence[ast.FunctionDef]) -> list[ast.stmt]:
    """The calls of these tests. Raises ValueError for tests that need what only a framework can give them."""
    fixtures = _fixtures(tree.body)
    tidied = reach_files(tree, names_of(tree))
    made = [
        call
        for case in cases
        if not _is_skipped(case)
        for call in _called_case(case, _methods(case, tree), fixtures, tidied)
    ]
    return made + [call for function in functions for call in _called(function, fixtures, _begun(function, fixtures))]


def cases(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes that hold tests, and not for other classes alone."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    inherited = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
    for node in classes:
        is_case = node.name.startswith("Test") or any("TestCase" in ast.unparse(base) for base in node.bases)
        if (is_case or node.name not in inherited) and any(map(_is_test, _methods(node, tree).values())):
            yield node


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The tests that nothing calls but the block of a script, which is not run."""
    body = [node for node in tree.body if not is_main(node)]
    used = {node.id for each in body for node in ast.walk(each) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _is_test(node) and node.name not in used:
            yield node


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test")


def is_main(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`"""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _is_skipped(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any(map(is_skipping, node.decorator_list))


def is_skipping(mark: ast.AST) -> bool:
    return isinstance(mark, ast.expr) and _mark(mark) in _NOT_CALLED


def _methods(case: ast.ClassDef, tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Those of a class and of its bases. Raises ValueError for a class with tests inside a class."""
    found: dict[str, ast.FunctionDef] = {}
    bases = {base.id for base in case.bases if isinstance(base, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in bases and node.lineno < case.lineno:
            found |= _methods(node, tree)
    for inner in case.body:
        if isinstance(inner, ast.ClassDef) and any(map(_is_test, inner.body)):
            raise ValueError(f"the tests are in a class inside a class, which is not read: {inner.name}")
        if isinstance(inner, ast.FunctionDef):
            found[inner.name] = inner
    return found


def _is_fixture(decorator: ast.expr) -> bool:
    return _mark(decorator) == "fixture"


def _mark(decorator: ast.expr) -> str:
    """The last name of a decorator: `skip` of `@pytest.mark.skip(reason="")`."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def _called_case(
    case: ast.ClassDef, methods: Mapping[str, ast.FunctionDef], fixtures: Fixtures, tidied: bool
) -> list[ast.stmt]:
    """What takes things away at the end of a test is called where these are files."""
    fixtures = {**fixtures, **_fixtures(methods.values())}
    made = [each for name in _BEFORE_ALL if name in methods for each in ast.parse(f"{case.name}.{name}()").body]
    cleaned = any(CLEANUP in ast.unparse(method) for method in methods.values())
    for method in methods.values():
        if _is_test(method):
            before = [f"_case = {case.name}()", *_begun(method, fixtures), *_around(_BEFORE_EACH, methods)]
            after = [*_around(_AFTER_EACH, methods), *["_case.doCleanups()"] * cleaned] if tidied else []
            made += _called(method, fixtures, before, "_case.", after, bound=True)
    return made


def _around(names: Sequence[str], methods: Mapping[str, ast.FunctionDef]) -> Iterator[str]:
    """The calls of those of these methods that the case has."""
    for name in names:
        if name in methods:
            yield f"_case.{name}({'None' * (len(methods[name].args.args) > 1)})"


def _fixtures(body: Iterable[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {
        node.name: node
        for node in body
        if isinstance(node, ast.FunctionDef) and any(map(_is_fixture, node.decorator_list))
    }


def _begun(function: ast.FunctionDef, fixtures: Fixtures) -> list[str]:
    """The calls of fixtures that every test has, where this one does not ask for them by their names."""
    asked = {argument.arg for argument in function.args.args}
    return [
        _value(name, fixtures)
        for name, fixture in fixtures.items()
        if name not in asked
        and any(key.arg == "autouse" and ast.unparse(key.value) == "True" for key in _settings(fixture))
    ]


def _called(
    function: ast.FunctionDef, fixtures: Fixtures, before: Sequence[str], owner: str = "", after: Sequence[str] = (),
    *, bound: bool = False,
) -> list[ast.stmt]:  # fmt: skip
    """The call of a test, for each of its parameters where it has a list of them."""
    if _is_skipped(function):
        return []
    given = dict[str, str]()
    loops: list[tuple[ast.expr, ast.expr]] = []
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(ast.Attribute(attr="parametrize"), [names, values, *_], settings):
                if any(key.arg == "indirect" for key in settings):
                    raise ValueError(f"the tests need what only pytest gives them: `indirect` of {function.name}")
                parameters = _names(names)
                given |= {name: name for name in parameters}
                target: ast.expr = ast.Tuple([ast.Name(name, ast.Store()) for name in parameters], ast.Store())
                one = len(parameters) == 1
                loops.append((ast.Name(parameters[0], ast.Store()) if one else target, _rows(values, one)))
    _keep_objects(function, fixtures)
    given = _fixed(function, fixtures, bound) | given
    wanted = [argument.arg for argument in function.args.args][bound:]
    without = len(wanted) - len(function.args.defaults)
    if missing := [name for name in wanted[:without] if name not in given]:
        raise ValueError(f"the tests need what only pytest gives them: `{missing[0]}` of {function.name}")
    listed = ", ".join(f"{name}={given[name]}" for name in wanted if name in given)
    code = "\n".join([*before, f"{owner}{function.name}({listed})", *after])
    made = ast.parse(f"{BENCH}.files.begin()\n" * (f"{BENCH}.files." in code) + code).body
    for target, values in loops:
        made = [ast.For(target, values, made, [])]
    return made


def _keep_objects(function: ast.FunctionDef, fixtures: Fixtures) -> None:
    """Parameters that are no more than an object of a class become names in the test: `objects.py` makes functions of its methods."""
    for argument in list(function.args.args):
        match fixtures.get(argument.arg):
            case ast.FunctionDef(
                body=[
                    ast.Return(ast.Call(ast.Name(), [], []) as made)
                    | ast.Expr(ast.Yield(ast.Call(ast.Name(), [], []) as made))
                ]
            ):
                function.args.args.remove(argument)
                function.body.insert(0, ast.Assign([ast.Name(argument.arg, ast.Store())], made))


def _fixed(function: ast.FunctionDef, fixtures: Fixtures, bound: bool = False, depth: int = 0) -> dict[str, str]:
    """Values of the function's parameters that are fixtures, as code."""
    names = [argument.arg for argument in function.args.args][bound:]
    own = {name: _value(name, fixtures, depth) for name in names if name in fixtures and depth < len(fixtures)}
    return {name: _OF_PYTEST[name] for name in names if name in _OF_PYTEST} | own


def _value(name: str, fixtures: Fixtures, depth: int = 0) -> str:
    fixture = fixtures[name]
    of_class = [argument.arg for argument in fixture.args.args][:1] == ["self"]
    settings = [key.arg for key in _settings(fixture) if key.arg not in ("scope", "autouse")]
    if settings:
        raise ValueError(f"the tests need what only pytest gives them: `{settings[0]}` of the fixture {name}")
    given = _fixed(fixture, fixtures, of_class, depth + 1)
    call = f"{'_case.' * of_class}{name}({', '.join(f'{key}={value}' for key, value in given.items())})"
    return f"next({call})" if any(isinstance(each, ast.Yield) for each in ast.walk(fixture)) else call


def _settings(fixture: ast.FunctionDef) -> list[ast.keyword]:
    return [key for each in fixture.decorator_list if isinstance(each, ast.Call) for key in each.keywords]


def _rows(values: ast.expr, one: bool) -> ast.expr:
    """A list of parameters without `pytest.param`."""
    if not isinstance(values, ast.List | ast.Tuple):
        return values
    rows: list[ast.expr] = []
    for value in values.elts:
        match value:
            case ast.Call(ast.Attribute(attr="param") | ast.Name("param"), arguments, given):
                if any(each.arg == "marks" for each in given):
                    raise ValueError("the tests mark some of their parameters, which is not read")
                rows.append(arguments[0] if one else ast.Tuple(arguments, ast.Load()))
            case _:
                rows.append(value)
    return ast.List(rows, ast.Load())


def _names(node: ast.expr) -> list[str]:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        raise ValueError("the tests have parameters whose names are no text") from None
    return [name.strip() for name in (found.split(",") if isinstance(found, str) else found)]
