"""A Python function as the target, in disposable containers: what it is fooled into harms nothing.

The function takes a program and tests (or, of `answers`, a text and the right answer) and says whether it passed. Every probe
gets a container of its own, without a network.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
import uuid
from collections.abc import Sequence
from typing import Any

import docker
from docker.errors import DockerException

from kolmocli.console import printable
from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.sandbox.attack.campaign import Answer, Said
from kolmocli.sandbox.attack.packages import USER, contents, one_file
from kolmocli.sandbox.attack.suite import Kind
from kolmocli.sandbox.docker.containers import LABEL_BORN, LABEL_OWNER
from kolmocli.sandbox.docker.image import client, local_base, no_engine, why_no_engine
from kolmocli.sandbox.docker.owner import this_owner

_REPOSITORY = "kolmo-attack"
START_S = 120.0
"""For the import of the grader, of which no program is guilty."""
_PAUSE_S = 0.1
_MEMORY, _PROCESSES = "2g", 256
_ASK = "import sys; print(f'{sys.version_info[0]}.{sys.version_info[1]}')"
# The grader is not process 1, which the kernel spares from signals.
_COMMAND = ["-c", "python3 -B /attack/inside.py; exit 0"]
_SAID = {"passed": Said.PASSED, "refused": Said.REFUSED, "raised": Said.REFUSED}


class Grader:
    """Open until its `with` block ends: the image with the packages is removed then."""

    at_once = 2

    def __init__(self, python: str, packages: Sequence[str], timeout: float, kind: Kind = "grader") -> None:
        """`timeout`: seconds for one program.

        Raises:
            EnvironmentMissing: no engine answers, it has no base image, or a package cannot be had.
            UsageError: `python` is not of the form `module:function`.
        """
        module, _, self._function = python.rpartition(":")
        if not module or not self._function:
            raise UsageError(f"--python {python}: has the form module:function, or file.py:function")
        if reason := why_no_engine():
            raise no_engine(reason)
        self.kind, self.name, self._timeout = kind, f"--python {python}", timeout
        self._api: docker.DockerClient = client(timeout=120)
        try:
            self._module, self._image = self._prepare(module, packages)
        except BaseException:
            self._api.close()
            raise

    def _prepare(self, module: str, packages: Sequence[str]) -> tuple[str, str]:
        base = local_base(self._api)
        if base is None:
            raise EnvironmentMissing("no base image for the grader's container: docker pull python:3.12-slim")
        version = self._api.containers.run(base, ["-c", _ASK], entrypoint="python3", network_disabled=True, remove=True)
        name, tar = contents(module, packages, version.decode().strip())
        tag = uuid.uuid4().hex[:12]
        first = self._api.containers.create(base, entrypoint="true", network_disabled=True, labels=_labels())
        try:
            first.put_archive("/", tar)
            first.commit(_REPOSITORY, tag)
        finally:
            first.remove(force=True)
        return name, f"{_REPOSITORY}:{tag}"

    def judge(self, programs: Sequence[str], expected: str) -> list[Answer]:
        """Raises EnvironmentMissing for a module that is not there, and UsageError for such a function."""
        job = {
            "module": self._module, "function": self._function, "programs": list(programs), "expected": expected,
            "nonce": secrets.token_hex(8),
        }  # fmt: skip
        try:
            with contextlib.closing(client(timeout=120)) as api:
                said, in_time = self._run(api, job)
        except (DockerException, OSError) as error:  # what requests raises is an OSError
            return [Answer(Said.FAULT, printable(" ".join(str(error).split()))[:200])] * len(programs)
        return self._answers(said, len(programs), in_time)

    def _run(self, api: docker.DockerClient, job: dict[str, Any]) -> tuple[list[tuple[str, str]], bool]:
        container = api.containers.create(
            self._image, _COMMAND, entrypoint="/bin/sh", user=f"{USER}:{USER}", network_mode="none", labels=_labels(),
            cap_drop=["ALL"], security_opt=["no-new-privileges:true"], mem_limit=_MEMORY, memswap_limit=_MEMORY,
            pids_limit=_PROCESSES, tmpfs={"/tmp": "size=64m,mode=1777"},
            log_config=docker.types.LogConfig(type="json-file", config={"max-size": "1m", "max-file": "1"}),
        )  # fmt: skip
        try:
            container.put_archive("/attack", one_file("job.json", json.dumps(job).encode()))
            container.start()
            return self._watch(container, job["nonce"])
        finally:
            container.remove(force=True)

    def _watch(self, container: Any, nonce: str) -> tuple[list[tuple[str, str]], bool]:
        """Until it ends, or is silent for too long: the clock of a program starts when the one before has its answer, and
        that of the first when the grader is imported."""
        until, seen = time.monotonic() + START_S, 0
        while True:
            container.reload()  # before its words: those of one that has ended are complete
            said = list(_lines(container.logs(stdout=True, stderr=False), nonce))
            if container.status not in ("created", "running"):
                return said, True
            if len(said) > seen:
                until, seen = time.monotonic() + self._timeout, len(said)
            if time.monotonic() > until:
                return said, False
            time.sleep(_PAUSE_S)

    def _answers(self, said: list[tuple[str, str]], count: int, in_time: bool) -> list[Answer]:
        for kind, detail in said:
            if kind == "module":
                raise EnvironmentMissing(
                    f"{self.name}: {self._module} cannot be imported in the container ({detail}); name what it needs "
                    "with --packages"
                )
            if kind == "function":
                raise UsageError(f"{self.name}: {self._module} has no function {self._function}")
        if not said:  # it was never ready: nothing of the program has run
            return [
                Answer(
                    Said.FAULT,
                    f"the grader's container did not start in {START_S:g} s"
                    if not in_time
                    else "the grader's container ended before the grader was imported",
                )
            ] * count
        answers = [Answer(_SAID[kind], detail) for kind, detail in said if kind in _SAID][:count]
        missing = f"no answer in {self._timeout:g} s" if not in_time else "the grader's process ended"
        return answers + [Answer(Said.SILENT, missing)] * (count - len(answers))

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(DockerException):  # an image that stays costs room, and nothing else
            self._api.images.remove(self._image, force=True)
        self._api.close()


def _labels() -> dict[str, str]:
    """By which `kolmo sandbox sweep` knows whose containers they are."""
    return {LABEL_OWNER: this_owner(), LABEL_BORN: str(int(time.time()))}


def _lines(log: bytes, nonce: str) -> list[tuple[str, str]]:
    found = []
    for line in log.decode("utf-8", "replace").splitlines():
        try:
            mark, kind, detail = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        if mark == nonce and type(kind) is str and type(detail) is str:
            found.append((kind, printable(detail)))
    return found
