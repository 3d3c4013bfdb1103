"""Whether the hub has an address: where it has none, models that were fetched before are loaded without asking for it."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from huggingface_hub import constants

from kolmocli.errors import UsageError
from kolmocli.models.hub import has_address
from kolmocli.policy.loading import load_policy

PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was looked up, in vain, without a proxy."""
    names: list[tuple[Any, ...]] = []

    def look(*name: Any, **_: Any) -> None:
        names.append(name)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "https://hub.invalid")
    monkeypatch.setattr(socket, "getaddrinfo", look)
    return names


def test_a_name_that_leads_nowhere_is_no_address(asked: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_address()
    monkeypatch.setattr(constants, "ENDPOINT", "http://hub.invalid:8080")
    assert not has_address()
    assert asked == [("hub.invalid", "https"), ("hub.invalid", 8080)]


@pytest.mark.parametrize("endpoint", ["https://hub:port", "https://hub:99999", "https://[hub", "https://" + "h" * 64])
def test_what_cannot_be_looked_up_is_no_address(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    assert not has_address()


def test_a_machine_is_one(asked: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [("an address",)])
    assert has_address()


@pytest.mark.parametrize("name", ["https_proxy", "all_proxy"])
def test_a_proxy_is_not_second_guessed(
    asked: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://proxy.invalid:3128")
    assert has_address()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert not has_address()
    assert asked == []


def test_a_model_that_is_not_here_is_no_wait_and_no_noise(
    asked: list[tuple[Any, ...]], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="not a preset"):
        load_policy("some/model", device="cpu")
    assert 1 <= len(asked) <= 2  # ours, and one of the library's own
    assert "thrown while requesting" not in capfd.readouterr().err
