"""How well the pass rate was held: the share of steps whose running mean lies in the target band."""

from __future__ import annotations

from collections.abc import Sequence

SETTLING_STEPS = 20
"""Steps that are not judged: the controller is still finding the level."""
WINDOW = 10
HALF_WIDTH = 0.1
_ROUNDING = 1e-9
"""A mean of .6 in floating point is still within .5 ± .1."""


def in_band(pass_rates: Sequence[float | None], target: float) -> float | None:
    """Of the steps after the first 20: the share whose 10-step mean pass rate is within target ± 0.1.

    `pass_rates` holds one value per REINFORCE step; None (every rollout masked) is left out of its means. A
    step whose whole window is None is not judged. None while no step can be judged.
    """
    judged = held = 0
    for i in range(SETTLING_STEPS, len(pass_rates)):
        window = [p for p in pass_rates[i - WINDOW + 1 : i + 1] if p is not None]
        if window:
            judged += 1
            held += abs(sum(window) / len(window) - target) <= HALF_WIDTH + _ROUNDING
    return held / judged if judged else None
