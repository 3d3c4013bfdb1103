"""What is no address is told from one where nobody answers."""

from __future__ import annotations

import pytest

from kolmocli.addresses import is_web_address


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8080", "https://host/v1", "http://[::1]:1/", "http://münchen.example", "http://h/v1?version=2",
    ],
)  # fmt: skip
def test_an_address(text: str) -> None:
    assert is_web_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "host:1", "ftp://host", "http://", "http://:80", "http://host:0", "http://host:99999", "http://host:abc", "http://[::1",
        f"http://{'a' * 64}:1", "http://a..b", "http://a b", "http://a\x1b[31m", "http://a/b c", "http://a/é", "http://a\n",
    ],
)  # fmt: skip
def test_no_address(text: str) -> None:
    """Each was a traceback, or an answer about another place."""
    assert not is_web_address(text)
