"""Programs of the small language as Python: what a policy that writes Python imitates before it finds shorter ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kolmocli.language.program import Argument, Call, Program, Ref
from kolmocli.tasks.base import text_bits

_CONDITIONS = {"is_even": "y%2<1", "is_odd": "y%2", "is_not_zero": "y"}
_FORMS: dict[str, Callable[..., str]] = {
    "range_func_up": lambda a, b: f"[*range({a},{_after(b)})]",
    "range_func_interval": lambda a, b, s: f"[*range({a},{b},{s})]",
    "repeat_num": lambda n, v: f"[{v}]*{n}",
    "set_list": lambda items: items,
    "repeat_list": lambda k, x: f"{x}*{k}",
    "reverse_list": lambda x: f"{x}[::-1]",
    "substitute": lambda x, old, new: f"[{new} if y=={old} else y for y in {x}]",
    "get_subsequence_with_jumps": lambda x, s: f"{x}[::{s}]",
    "get_subsequence_between_indices": lambda x, i, j: f"{x}[{i}:{j}]",
    "max_n": lambda x, n: f"sorted({x})[::-1][:{n}]",
    "min_n": lambda x, n: f"sorted({x})[:{n}]",
    "add_item_list": lambda x, c: f"[y+{c} for y in {x}]",
    "subtract_item_list": lambda x, c: f"[y-{c} for y in {x}]",
    "modulo_item_list": lambda x, c: f"[y%{c} for y in {x}]",
    "scan_add": lambda x: f"[sum({x}[:i+1])for i in range(len({x}))]",
    "filter": lambda p, x: f"[y for y in {x} if {_CONDITIONS[p]}]",
    "concatenate": lambda x, y: f"{x}+{y}",
    "interleave": lambda x, y: f"[v for p in zip({x},{y})for v in p]+{x}[len({y}):]+{y}[len({x}):]",
    "add_two_lists": lambda x, y: f"[v+w for v,w in zip({x},{y})]",
    "subtract_two_lists": lambda x, y: f"[v-w for v,w in zip({x},{y})]",
    "modulo_two_lists": lambda x, y: f"[v%w for v,w in zip({x},{y})if w]",
}
_NAMES = "abcdefghjklmnoqrstuz"
"""Without those that the forms bind."""


def python_text(program: Program) -> str:
    """The same program in Python: a statement a line, whose last value is the result."""
    lines = []
    for i, statement in enumerate(program.statements):
        value = _call(statement) if isinstance(statement, Call) else _name(statement.ref.index)
        last = i == len(program.statements) - 1
        lines.append(value if last else f"{_name(i)}={value}")
    return "\n".join(lines)


def _call(call: Call) -> str:
    return _FORMS[call.function](*map(_argument, call.arguments))


def _argument(argument: Argument) -> str:
    if isinstance(argument, Ref):
        return _name(argument.index)
    if isinstance(argument, tuple):
        return _items(argument)
    return f"({argument})" if isinstance(argument, int) and argument < 0 else str(argument)


def _items(items: Sequence[int]) -> str:
    return f"[{','.join(map(str, items))}]"


def _after(integer: str) -> int:
    return int(integer.strip("()")) + 1


def _name(index: int) -> str:
    return _NAMES[index] if index < len(_NAMES) else f"a{index}"


def python_literal_bits(target: Sequence[int]) -> int:
    """The length of the shortest way to spell a sequence out: a tuple without brackets, or its bytes or characters."""
    forms = [",".join(map(str, target))]
    if all(0 <= item < 256 for item in target):
        forms.append(repr(bytes(target)))
    if all(0 <= item < 0x110000 and not 0xD800 <= item < 0xE000 for item in target):
        forms.append(repr("".join(map(chr, target))))
    return min(map(text_bits, forms))
