"""Before a run or an evaluation: do the code tasks of its files hold what they promise?"""

from __future__ import annotations

from collections.abc import Callable

from kolmocli.config.machine import SandboxSection
from kolmocli.engine.judging import most_limits, open_run_sandbox
from kolmocli.sandbox.opening import Backend
from kolmocli.tasks.code.task import CodeTask
from kolmocli.tasks.files.references import named_failing
from kolmocli.tasks.files.settings import Data
from kolmocli.tasks.sources import read_file, silent


def check_references(
    data: Data, names: list[str], sandbox: SandboxSection, backend: Backend, warn: Callable[[str], None]
) -> None:
    """Name the code tasks of these files whose reference fails their tests. A sandbox is opened where there are any.

    Raises:
        UsageError: with `data.strict`, there is one.
        EnvironmentMissing: the sandbox that was asked for is not there.
    """
    tasks = {name: [each.task for each in read_file(name, data, silent).listed] for name in names}
    if not any(isinstance(task, CodeTask) for listed in tasks.values() for task in listed):
        return
    most = most_limits(sandbox, (task for listed in tasks.values() for task in listed))
    with open_run_sandbox(sandbox, backend, warn, most) as opened:
        for name, listed in tasks.items():
            named_failing(name, listed, opened, warn, strict=data.strict)
