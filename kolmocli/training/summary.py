"""What summary.json says of a run."""

from __future__ import annotations

from typing import Any

from kolmocli.curriculum.information import per_gflop
from kolmocli.training.assess import AFTER, BEFORE
from kolmocli.training.session import Session
from kolmocli.training.state import in_band


def summarise(session: Session) -> dict[str, Any]:
    """summary.json, see docs/metrics.md."""
    state, health = session.state, session.engine.health()
    rates = state.pass_rates
    seconds = {
        k: round(state.seconds.get(k, 0.0), 3) for k in ("warmup", "rollout", "execute", "learn", "eval", "total")
    }
    return {
        "schema_version": 1,
        "run": str(session.run_dir),
        "steps": state.step,
        "warmup_steps": state.warm_steps,
        "rollouts": state.rollouts,
        "seconds": seconds,
        "pass_rate": {
            "target": session.config.controller.target,
            "mean": sum(rates) / len(rates) if rates else None,
            "in_band": in_band(rates, session.config.controller.target),
        },
        "bits": {
            "per_rollout": state.bits / state.rollouts if state.rollouts else None,
            "total": state.bits,
            "per_gflop": per_gflop(state.bits, state.flops),
            "per_rl_gflop": per_gflop(state.bits, state.flops - state.warm_flops),
            "supervised_per_answer": state.answer_bits / state.answers if state.answers else None,
            "supervised_total": state.answer_bits,
            "supervised_per_gflop": per_gflop(state.answer_bits, state.warm_flops),
            "hindsight_per_answer": (
                state.hindsight_bits / state.hindsight_answers if state.hindsight_answers else None
            ),
            "hindsight_total": state.hindsight_bits,
        },
        "eval": {"before": state.evaluations.get(BEFORE), "after": state.evaluations.get(AFTER)},
        "sandbox": {
            "backend": health.backend,
            "executed": state.executed,
            "infra": state.infra,
            "programs_per_second": health.programs_per_second,
        },
        "checkpoint": str(session.checkpoint) if session.checkpoint else None,
    }
