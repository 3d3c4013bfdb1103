"""A controller of one's own, in the simulator against the default one.

    python examples/own_controller.py

In a run: `kolmo train mine.yaml --plugin examples/own_controller.py`, with `controller: {kind: ratchet}` in the file, and
`ratchet: {gain: 2}` in that section to change its setting. `kolmo curriculum simulate --plugin …` compares all kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

from kolmocli.curriculum import Ladder, LevelBase, Result, register_controller
from kolmocli.curriculum.simulator.compare import compare


@register_controller("ratchet")
class Ratchet(LevelBase):
    """Climbs by what a step passed above the target, and never down: the level of a policy that forgets nothing."""

    saved = ("level",)

    def __init__(self, ladder: Ladder, *, gain: float = 0.5) -> None:
        super().__init__(ladder)
        self.gain = gain
        self.level = float(ladder.bottom)

    def observe(self, results: Sequence[Result]) -> list[str]:
        if results:
            rate = sum(r.passes for r in results) / sum(r.rollouts for r in results)
            self.level = self.ladder.clamp(self.level + self.gain * max(0.0, rate - self.ladder.target))
        return []


if __name__ == "__main__":
    tables = compare(["rasch", "ratchet"], ["base", "shock"], lag=0, seeds=8, steps=300)["scenarios"]
    for scenario, rows in tables.items():
        print(f"{scenario:10} {'settle':>8} {'rmse':>8} {'dead groups':>12}")
        for name, figures in rows.items():
            settle = "never" if figures["settle"] is None else figures["settle"]
            print(f"  {name:8} {settle:>8} {figures['rmse']:8.3f} {figures['dead_groups']:12.0%}")
