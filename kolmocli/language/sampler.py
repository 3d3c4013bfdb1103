"""Pairs of a program and the sequence it makes, drawn with the published probabilities.

The generator follows the published description of the KoLMogorov Test's synthetic data (Yoran et al.,
arXiv 2503.13992): a few base sequences, five stages that derive further ones, and a fold of all of them
into one result. Every probability is a named field of `SamplerConfig`; its default is the published value.

Two ways to derive sequences:

- published (`modifiers=None`): five stages, each with a coin for the whole program, and in each a coin per
  sequence and operator (`operators`). Stages 1 and 3 also visit the sequences that they make themselves,
  so that chains arise.
- direct (`modifiers=(lo, hi)`): that many operators, drawn with `operators` as weights among those that fit.
  A curriculum's level such as "one operator on one ramp" is built at once instead of waited for.

Every statement is used by the result, which is the last statement's value.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from kolmocli.language.program import Program, Ref
from kolmocli.language.sampler_settings import PUBLISHED, SamplerConfig
from kolmocli.language.workbench import Draft, applicable, apply, base


class SamplingError(ValueError):
    """No pair met the knobs within the attempts."""


@dataclass(frozen=True, slots=True)
class Pair:
    program: Program
    sequence: tuple[int, ...]


def sample(
    rng: random.Random,
    config: SamplerConfig = PUBLISHED,
    *,
    accept: Callable[[Pair], bool] | None = None,
    attempts: int = 10_000,
) -> Pair:
    """One pair that meets `calls`, `length`, `require` and `accept`, by rejection.

    Raises:
        SamplingError: naming the knobs, when none of `attempts` drafts meets them.
    """
    for _ in range(attempts):
        draft = _draft(rng, config)
        if draft is None:
            continue
        pair = Pair(Program(tuple(draft.calls)), tuple(draft.values[-1]))
        if accept is None or accept(pair):
            return pair
    knobs = [f"{k}={getattr(config, k)}" for k in ("modifiers", "calls", "length", "require") if getattr(config, k)]
    if accept is not None:
        knobs.append("accept")
    raise SamplingError(f"none of {attempts} drafts met {', '.join(knobs) or 'the ranges'}")


def _draft(rng: random.Random, config: SamplerConfig) -> Draft | None:
    """One draft, or None as soon as a knob cannot be met any more."""
    draft = Draft(config.values)
    names, weights = list(config.initiators), list(config.initiators.values())
    for _ in range(rng.randint(*config.bases)):
        base(draft, rng, rng.choices(names, weights)[0], config)
    if config.modifiers is None:
        _stages(draft, rng, config)
    elif not _direct(draft, rng, config, rng.randint(*config.modifiers)):
        return None
    included = [i for i in range(len(draft.calls)) if i not in draft.excluded]
    if config.calls is not None and len(draft.calls) + len(included) - 1 > config.calls[1]:
        return None
    _assemble(draft, rng, config, included)
    if config.calls is not None and not config.calls[0] <= len(draft.calls) <= config.calls[1]:
        return None
    if config.length is not None and not config.length[0] <= len(draft.values[-1]) <= config.length[1]:
        return None
    if config.require and not any(call.function in config.require for call in draft.calls):
        return None
    return draft


def _stages(draft: Draft, rng: random.Random, config: SamplerConfig) -> None:
    """The five published stages."""
    coin = config.operators.get
    if rng.random() < config.list_update:
        index = 0
        while index < len(draft.calls):  # grows while it is visited: chains
            for name in ("reverse_list", "repeat_list", "get_subsequence_with_jumps",
                         "get_subsequence_between_indices", "substitute"):  # fmt: skip
                if rng.random() < coin(name, 0.0):
                    done = apply(draft, rng, name, index, config)
                    if done and name == "substitute" and rng.random() < config.drop_original:
                        draft.excluded.add(index)
            index += 1
    if rng.random() < config.math_update:
        for index in range(len(draft.calls)):
            if not (draft.calls[index].function == "set_list" and _either(draft, rng, "max_n", "min_n", index, config)):
                _either(draft, rng, "add_item_list", "subtract_item_list", index, config)
            if rng.random() < coin("modulo_item_list", 0.0):
                apply(draft, rng, "modulo_item_list", index, config)
    index = 0
    while index < len(draft.calls):
        if rng.random() < coin("scan_add", 0.0):
            apply(draft, rng, "scan_add", index, config)
        index += 1
    if coin("filter", 0.0) > 0 and all(rng.random() < p for p in config.filter_stage):
        apply(draft, rng, "filter", len(draft.calls) - 1, config)
    if rng.random() < config.two_list:
        count = len(draft.calls)
        for first in range(count):
            for second in range(first + 1, count):
                if len(draft.values[first]) == len(draft.values[second]):
                    _either(draft, rng, "add_two_lists", "subtract_two_lists", first, config, second)
                    if rng.random() < coin("modulo_two_lists", 0.0):
                        apply(draft, rng, "modulo_two_lists", first, config, second)


def _either(
    draft: Draft,
    rng: random.Random,
    a: str,
    b: str,
    index: int,
    config: SamplerConfig,
    second: int | None = None,
) -> bool:
    """One coin for two operators; the one that falls is drawn by its share."""
    share_a, share_b = config.operators.get(a, 0.0), config.operators.get(b, 0.0)
    drawn = rng.random()
    if drawn >= share_a + share_b:
        return False
    return apply(draft, rng, a if drawn < share_a else b, index, config, second)


def _direct(draft: Draft, rng: random.Random, config: SamplerConfig, count: int) -> bool:
    """`count` operators at once, each on a random sequence that it fits."""
    for _ in range(count):
        names = [n for n, w in config.operators.items() if w > 0]
        weights = [config.operators[n] for n in names]
        while names:
            name = rng.choices(names, weights)[0]
            places = applicable(draft, name)
            rng.shuffle(places)
            done = next((p for p in places if apply(draft, rng, name, p[0], config, p[1])), None)
            if done is not None:
                draft.excluded.update(i for i in done if i is not None and rng.random() < config.drop_origin)
                break
            at = names.index(name)
            del names[at], weights[at]
        else:
            return False
    return True


def _assemble(draft: Draft, rng: random.Random, config: SamplerConfig, included: list[int]) -> None:
    """Fold the included sequences from left to right, then re-use some (an excluded one may come back)."""
    candidates = range(len(draft.calls))
    result = included[0]
    uses = [sum(i in call.refs() for call in draft.calls) for i in candidates] if config.reuse > 0 else []

    def merge(index: int) -> None:
        nonlocal result
        name = "interleave" if rng.random() < config.interleave else "concatenate"
        result = draft.add(name, Ref(result), Ref(index))

    for index in included:
        if uses:
            uses[index] += 1
        if index != result:
            merge(index)
    for _ in range(len(uses)):
        if rng.random() < config.reuse:
            free = [i for i in candidates if uses[i] < config.max_uses]
            if not free:
                return
            index = rng.choice(free)
            uses[index] += 1
            merge(index)
