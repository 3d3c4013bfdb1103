"""What stands for a result that is not known yet: a part of the tester."""

from typing import Any, NoReturn

_SPECIAL = (
    "abs add aenter aexit aiter and anext await bytes call ceil complex contains copy deepcopy delattr delitem divmod "
    "enter eq exit float floor floordiv format fspath ge getattribute getitem getstate gt hash iadd iand ifloordiv ilshift imatmul "
    "imod imul index instancecheck int invert ior ipow irshift isub iter itruediv ixor le len length_hint lshift lt matmul "
    "mod mul ne neg next or pos pow radd rand rdivmod reduce reduce_ex repr reversed rfloordiv rlshift rmatmul rmod rmul "
    "ror round rpow rrshift rshift rsub rtruediv rxor setattr setitem sizeof str sub subclasscheck truediv trunc xor"
)
"""What Python may ask of an object, but for `__eq__`."""


class NeedValues(BaseException):
    """The tests depend on a result that is not known yet. No Exception: tests may catch those."""


class Unknown:
    """Whatever is asked of it needs the value."""

    __slots__ = ("bench",)

    def __init__(self, bench: Any) -> None:
        object.__setattr__(self, "bench", bench)

    def __bool__(self) -> bool:
        return bool(object.__getattribute__(self, "bench").guess())


def _need(self: Any, *_: object, **__: object) -> NoReturn:
    object.__getattribute__(self, "bench").blocked = True
    raise NeedValues


def _known(value: Any) -> Any:
    """The value, where it is there."""
    return _need(value) if isinstance(value, Unknown) else value


for _name in _SPECIAL.split():
    setattr(Unknown, f"__{_name}__", _need)


class Token(Unknown):
    """The result of a call that the program has not made yet."""

    __slots__ = ("call",)

    def __init__(self, bench: Any, call: int) -> None:
        super().__init__(bench)
        object.__setattr__(self, "call", call)

    def __eq__(self, other: object) -> Any:
        return Relation(object.__getattribute__(self, "bench"), object.__getattribute__(self, "call"), other)

    __hash__ = _need


class Relation(Unknown):
    """Whether a result equals something."""

    __slots__ = ("call", "expected")

    def __init__(self, bench: Any, call: int, expected: object) -> None:
        super().__init__(bench)
        object.__setattr__(self, "call", call)
        object.__setattr__(self, "expected", expected)
