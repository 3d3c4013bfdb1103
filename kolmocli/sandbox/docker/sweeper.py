"""Removes containers whose owner is gone. Found by label, never by name, and never those of a living owner."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from docker.errors import APIError, DockerException, NotFound

from kolmocli.sandbox.docker.containers import LABEL_BORN, LABEL_OWNER
from kolmocli.sandbox.docker.image import client
from kolmocli.sandbox.docker.owner import is_alive

FOREIGN_AGE_S = 24 * 3600
"""An owner on another machine or of another boot cannot be asked: its containers are left alone this long."""


@dataclass(frozen=True, slots=True)
class SweepCount:
    removed: int
    kept: int


def sweep() -> SweepCount:
    """Remove what belongs to dead owners. Raises DockerException when the engine does not answer."""
    removed = kept = 0
    with contextlib.closing(client()) as api:
        found = api.api.containers(all=True, filters={"label": LABEL_OWNER})
        for container in found:
            if _is_orphan(container["Labels"]) and _remove(api, container["Id"]):
                removed += 1
            else:
                kept += 1
    return SweepCount(removed, kept)


def _is_orphan(labels: dict[str, str]) -> bool:
    alive = is_alive(labels[LABEL_OWNER])
    if alive is not None:
        return not alive
    born = labels.get(LABEL_BORN, "")
    return not born.isdigit() or time.time() - int(born) > FOREIGN_AGE_S


def _remove(api: object, container: str) -> bool:
    try:
        api.api.remove_container(container, force=True, v=True)  # type: ignore[attr-defined]
    except NotFound:
        return False
    except (APIError, DockerException) as error:
        return "already in progress" in str(error)
    return True
