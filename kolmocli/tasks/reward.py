"""The reward of a program, from its coded bits and those of the literal that it competes with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import Field, PlainSerializer, ValidatorFunctionWrapHandler, WrapValidator

from kolmocli.registry import Registry
from kolmocli.section import Section

Maker = TypeVar("Maker", bound="Callable[[Reward], RewardRule]")


class RewardRule(Protocol):
    """`failure` is paid for every program that missed, and `partial` for all of a target that it explained short of
    making it (`progress.explained`), else in proportion; of a program with tests, for the share that it passes. `success`
    is paid for one that hit.

    A process reward such as `partial` changes what is optimal: pieces that are never put together earn something.
    """

    @property
    def failure(self) -> float: ...

    @property
    def partial(self) -> float: ...

    def success(self, bits: float, literal_bits: float | None = None) -> float:
        """The reward of a right answer of `bits` bits, against `literal_bits` of a plain copy, where one can be made."""
        ...


@dataclass(frozen=True, slots=True)
class Relative:
    """0 for failure, 1 + w·clip((L_literal − L)/L_literal, −1, 1) for a pass: copying earns no bonus."""

    length_weight: float
    failure: float = 0.0
    partial: float = 0.0

    def success(self, bits: float, literal_bits: float | None = None) -> float:
        if literal_bits is None:
            return 1.0
        saved = (literal_bits - bits) / literal_bits
        return 1.0 + self.length_weight * max(-1.0, min(1.0, saved))


@dataclass(frozen=True, slots=True)
class ConstantMinusLength:
    """C − λ·length for a pass, else 0: the founding rule, with the length in coded bits."""

    constant: float
    length_penalty: float
    failure: float = 0.0
    partial: float = 0.0

    def success(self, bits: float, literal_bits: float | None = None) -> float:
        return self.constant - self.length_penalty * bits


@dataclass(frozen=True, slots=True)
class Binary:
    """+1 or −1, whatever the length."""

    failure: float = -1.0
    partial: float = 0.0

    def success(self, bits: float, literal_bits: float | None = None) -> float:
        return 1.0


_USUAL = Literal["relative", "constant_minus_length", "binary"]
Form = Literal["asked", "any"]


def _registered(kind: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    return kind if isinstance(kind, str) and kind in rewards else handler(kind)


class Reward(Section):
    kind: Annotated[_USUAL, WrapValidator(_registered), PlainSerializer(str)] = Field(
        "relative", description="the reward of a pass"
    )
    constant: float = Field(100.0, description="C of constant_minus_length")
    length_penalty: float = Field(0.1, description="lambda of constant_minus_length, per coded bit")
    length_weight: float = Field(0.25, ge=0.0, description="w of relative: what brevity can add to a pass")
    form: Form = Field(
        "asked",
        description="where an answer in words must stand to pass: asked, where the prompt asks for it; any, where a lenient reader "
        "finds it",
    )
    partial: float = Field(
        0.0,
        ge=0.0,
        description="process reward: paid to a program that missed, times the share of the target that it explained, "
        "or of the tests that it passed; changes what is optimal, so keep it far below a pass",
    )


rewards: Registry[Callable[[Reward], RewardRule]] = Registry("reward", "kolmocli.rewards")


def register_reward(name: str) -> Callable[[Maker], Maker]:
    """Register a function from the section `reward` of a curriculum file to a rule, under the name for its `kind`.

        @kolmo.register_reward("halves")
        class Halves:
            failure, partial = -0.5, 0.0

            def __init__(self, settings): ...

            def success(self, bits, literal_bits=None):
                return 0.5

    Raises:
        UsageError: the name is taken.
    """

    def register(maker: Maker) -> Maker:
        rewards.add(name, maker, module=maker.__module__)
        return maker

    return register


rewards.add("relative", lambda s: Relative(s.length_weight, partial=s.partial), builtin=True, module=__name__)
rewards.add(
    "constant_minus_length",
    lambda s: ConstantMinusLength(s.constant, s.length_penalty, partial=s.partial),
    builtin=True,
    module=__name__,
)
rewards.add("binary", lambda s: Binary(partial=s.partial), builtin=True, module=__name__)


def reward_rule(settings: Reward) -> RewardRule:
    """The rule that a curriculum file asks for. Raises UsageError when it is not registered."""
    return rewards.get(settings.kind)(settings)
