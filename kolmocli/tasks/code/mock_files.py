"""`mock_open` of unittest as a function that opens a file in memory, and what monkeypatch and `patch.dict` do to where a program runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from kolmocli.tasks.code.apart import MOCKED
from kolmocli.tasks.code.rewriting import on_bench

_FUNCTION = """
{writes} = []
def {name}(*{given}, **_named):
    {calls}.append(({given}, _named))
    read = {read}
    file = __import__("io").BytesIO(read) if isinstance(read, bytes) else __import__("io").StringIO(read)
    file.write = lambda *given: {writes}.append((given, {{}}))
    return file
"""
"""What is written to the file is noted, and changes nothing that is read."""
_ENVIRONMENT = "os.environ"


def function(name: str, calls: str, made: ast.Call) -> list[ast.stmt]:
    """The list of what is written, and the function. Raises ValueError for what else `mock_open` may have."""
    given = dict(zip(("mock", "read_data"), made.args, strict=False)) | {key.arg: key.value for key in made.keywords}
    read = given.pop("read_data", ast.Constant(""))
    if given:
        raise ValueError(f"the tests use more of a mock than is read: `{ast.unparse(made)}`")
    fixed = isinstance(read, ast.Constant)
    text = f"{name}_read = {ast.unparse(read)}" * (not fixed) + _FUNCTION.format(
        name=name, given=MOCKED, calls=calls, read=ast.unparse(read) if fixed else f"{name}_read", writes=written(name)
    )
    return ast.parse(text).body


def written(name: str) -> str:
    """The list of what is written to files that this opens."""
    return f"{name}_writes"


def opened(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """The name of the `mock_open` whose file this is: `m()`, `m.return_value`, or a name of that."""
    match node:
        case ast.Name(name):
            return names.get(name) if names.get(name) != name else None
        case ast.Call(ast.Name(name), [], []) | ast.Attribute(ast.Name(name), "return_value") if (
            names.get(name) == name
        ):
            return name
        case ast.Call(ast.Attribute(owner, "__enter__"), [], []) | ast.Attribute(
            ast.Attribute(owner, "__enter__"), "return_value"
        ):
            return opened(owner, names)
    return None


def moved(node: ast.expr) -> ast.Call | None:
    """`monkeypatch.chdir`, `setenv` and `delenv` as a patch that ends with the test."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("monkeypatch"), "chdir"), [folder]):
            return on_bench("patch", ast.Constant("chdir"), folder)
        case ast.Call(ast.Attribute(ast.Name("monkeypatch"), "setenv"), [name, value]):
            return _environment(ast.Dict([name], [value]))
        case ast.Call(ast.Attribute(ast.Name("monkeypatch"), "delenv"), [name, *_]):
            return _environment(ast.Dict([name], [ast.Constant(None)]))
    return None


def of_environment(made: ast.Call) -> ast.Call | None:
    """`patch.dict(os.environ, {"A": "1"}, clear=True)` as the same."""
    match made:
        case ast.Call(ast.Attribute(attr="dict"), [path, values], [] | [ast.keyword("clear")] as clear):
            if ast.unparse(path) in (_ENVIRONMENT, repr(_ENVIRONMENT)):
                return _environment(values, *(key.value for key in clear))
    return None


def _environment(values: ast.expr, clear: ast.expr | None = None) -> ast.Call:
    pair = ast.Tuple([values, clear or ast.Constant(False)], ast.Load())
    return on_bench("patch", ast.Constant(_ENVIRONMENT), pair)
