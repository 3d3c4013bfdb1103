"""Programs of strangers: batches in, verdicts out.

    with open_sandbox("auto", workers=2) as sandbox:
        for verdict in sandbox.run(["output = [1, 2] * 3", Job("output = sum(range(10**9))", cpu_ms=200)]):
            print(verdict.status, verdict.value)

The value of a program is that of its last statement. `base.py` is the contract.
"""

from kolmocli.sandbox.base import Call, Health, Job, Limits, Opaque, Raised, Sandbox, Status, Value, Verdict
from kolmocli.sandbox.opening import open_sandbox
from kolmocli.sandbox.pool.retries import Retries

__all__ = [
    "Call", "Health", "Job", "Limits", "Opaque", "Raised", "Retries", "Sandbox", "Status", "Value", "Verdict",
    "open_sandbox",
]  # fmt: skip
