"""Running hostile programs: batches in, verdicts out. See `base.py` for the contract."""

from kolmocli.sandbox.base import Health, Job, Limits, Sandbox, Status, Value, Verdict
from kolmocli.sandbox.opening import open_sandbox

__all__ = ["Health", "Job", "Limits", "Sandbox", "Status", "Value", "Verdict", "open_sandbox"]
