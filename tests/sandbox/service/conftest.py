from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.service.servers import Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests that leave it as it was."""
    with serving(tmp_path_factory.mktemp("server"), "--workers", "2") as found:
        yield found
