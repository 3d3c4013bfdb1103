"""What a test sees of the machine: no Docker engine, unless it says that it wants one."""

from __future__ import annotations

import os

import pytest

from kolmocli.sandbox.docker.image import why_no_engine
from tests.conftest import NO_ENGINE


def test_without_a_mark_there_is_no_engine() -> None:
    assert os.environ["DOCKER_HOST"] == NO_ENGINE["DOCKER_HOST"]
    assert why_no_engine() is not None


@pytest.mark.docker
def test_with_its_mark_there_is_one() -> None:
    assert why_no_engine() is None


@pytest.mark.either
def test_either_way_it_is_that_of_the_machine_and_none(request: pytest.FixtureRequest) -> None:
    hidden = os.environ.get("DOCKER_HOST") == NO_ENGINE["DOCKER_HOST"]
    assert hidden == (request.node.callspec.params["sees"] == "no engine")
