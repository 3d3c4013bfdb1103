"""RestrictedPython with its safe builtins and guards, as its documentation sets them up."""

from RestrictedPython import compile_restricted, limited_builtins, safe_globals, utility_builtins
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import (
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safer_getattr,
)

MODULES = {name: utility_builtins[name] for name in ("math", "random", "string")}


def importer(name, *_):
    if name in MODULES:
        return MODULES[name]
    raise ImportError(name)


def in_place(operator, x, y):
    return {"+=": lambda: x + y, "-=": lambda: x - y, "*=": lambda: x * y}[operator]()


def grade(program, tests):
    names = {
        **safe_globals,
        "__name__": "solution",
        "__metaclass__": type,
        "_getattr_": safer_getattr,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": full_write_guard,
        "_inplacevar_": in_place,
    }
    names["__builtins__"] = {
        **safe_globals["__builtins__"], **limited_builtins, "sum": sum, "set": set, "dict": dict, "__import__": importer,
    }  # fmt: skip
    try:
        exec(compile_restricted(f"{program}\n{tests}", "<program>", "exec"), names)
    except Exception:
        return False
    return True
