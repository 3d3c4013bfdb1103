"""`kolmo model get`: out of a package by the pip that is there, complete in the cache or not in it at all."""

from __future__ import annotations

import json
import resource
import shutil
import sys
from pathlib import Path

import pytest

from kolmocli.errors import CheckError, EnvironmentMissing, KolmoError, UsageError
from kolmocli.models import known as table
from kolmocli.models.bringing import get
from kolmocli.models.store import Kept
from kolmocli.policy.loading import load_policy
from tests.models.conftest import left
from tests.models.samples import HIDDEN, known, write_gguf, write_wheel


@pytest.fixture
def offers(tmp_path: Path, cache: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip finds packages in, and nowhere else; `pocket` is what is known."""
    folder = tmp_path / "offers"
    write_wheel(folder, small.read_bytes())
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)
    monkeypatch.setattr(table, "KNOWN", {"pocket": known(small.read_bytes())})
    return folder


def brought(said: list[str] | None = None) -> Kept:
    return get("pocket", "package", (said if said is not None else []).append)


def test_a_model_is_brought_once_and_needs_no_network_afterwards(offers: Path, cache: Path, small: Path) -> None:
    with pytest.raises(
        EnvironmentMissing, match="model pocket is not on this machine yet; bring it with: kolmo model get pocket"
    ):
        load_policy("pocket")
    model = brought()
    assert left(cache) == {"pocket"}
    assert {file.name for file in model.folder.iterdir()} == {
        "LICENSE", "README.md", "chat_template.jinja", "config.json", "generation_config.json", "kolmo.json",
        "model.safetensors", "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    card = (model.folder / "README.md").read_text()
    assert "license: mit\n" in card
    assert "The 4-bit release, dequantised." in card
    assert "kolmo_small_model/small.gguf of the Python package kolmo-small-model==1.0, made of nobody/pocket" in card
    assert json.loads((model.folder / "kolmo.json").read_text())["sha256"] == table.KNOWN["pocket"].wheel.sha256
    shutil.rmtree(offers)
    said: list[str] = []
    assert brought(said) == model
    assert said == ["pocket is here already; kolmo model show pocket describes it"]
    assert load_policy("pocket").model.config.hidden_size == HIDDEN


def test_another_file_under_the_same_name_is_refused(offers: Path, cache: Path, tmp_path: Path) -> None:
    changed = bytearray(write_gguf(tmp_path / "b.gguf").read_bytes())
    changed[-1] ^= 1
    write_wheel(offers, bytes(changed))
    with pytest.raises(
        CheckError, match=r"kolmo-small-model==1.0: kolmo_small_model/small.gguf has the SHA-256 .*changed or"
    ):
        brought()
    assert left(cache) == set()


def test_a_package_without_a_licence_is_refused(offers: Path, cache: Path, small: Path) -> None:
    write_wheel(offers, small.read_bytes(), licence=False)
    with pytest.raises(CheckError, match="no licence in it"):
        brought()
    assert "pocket" not in left(cache)


def test_without_a_network_it_is_one_line(offers: Path, cache: Path) -> None:
    shutil.rmtree(offers)
    offers.mkdir()
    with pytest.raises(EnvironmentMissing) as missing:
        brought()
    assert str(missing.value).startswith("kolmo-small-model==1.0: pip cannot bring it (No matching distribution found")
    assert left(cache) == set()


def test_what_was_downloaded_is_kept_for_another_try(offers: Path, cache: Path) -> None:
    """There is room for the package and not for the model: a library that writes tensors meets the limit itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, hard))
    try:
        with pytest.raises(KolmoError, match=r"cannot be written: .*make room"):
            brought()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert left(cache) == {".pocket.download"}
    shutil.rmtree(offers)
    brought()
    assert left(cache) == {"pocket"}


def test_a_package_that_was_damaged_since_is_brought_anew(offers: Path, cache: Path) -> None:
    kept = cache / ".pocket.download"
    kept.mkdir(parents=True)
    (kept / "kolmo_small_model-1.0-py3-none-any.whl").write_bytes(b"half a package")
    with pytest.raises(KolmoError, match="not the package that it should be"):
        brought()
    assert left(cache) == set()
    brought()
    assert left(cache) == {"pocket"}


def test_what_a_killed_process_left_is_cleared_up(offers: Path, cache: Path) -> None:
    (cache / ".pocket.new").mkdir(parents=True)
    (cache / ".pocket.new" / "model.safetensors").write_bytes(b"half a model")
    brought()
    assert left(cache) == {"pocket"}


def test_without_room_nothing_is_begun(offers: Path, cache: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "KNOWN", {"pocket": known(small.read_bytes(), needs=1 << 60)})
    with pytest.raises(
        KolmoError, match=r"MB are free and .* MB are needed; make room, or name another place with KOLMO_MODELS"
    ):
        brought()
    assert left(cache) == set()


def test_a_cache_that_cannot_be_written_is_one_line(
    offers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KOLMO_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(KolmoError, match="cannot be written: Not a directory; .*KOLMO_MODELS"):
        brought()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("poket", "poket: no model is known under that name; did you mean pocket?"),
        ("a.gguf", "a.gguf: a file is not brought but imported: kolmo model import a.gguf"),
        ("some/body", "some/body: a model on the hub needs no get: name it with --model some/body"),
    ],
)
def test_a_name_that_is_not_known(name: str, said: str, offers: Path, cache: Path) -> None:
    with pytest.raises(UsageError) as refused:
        get(name, "package", print)
    assert str(refused.value) == said
    assert not cache.exists()


def test_an_environment_without_pip_takes_uv(offers: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("uv") is None:
        pytest.skip("no uv command")
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(offers))
    brought()
    assert left(cache) == {"pocket"}


def test_an_environment_without_pip_and_uv(offers: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EnvironmentMissing, match="no pip and there is no uv to bring it with; run .* -m ensurepip"):
        brought()
    assert left(cache) == set()


def test_a_hub_that_is_not_asked_is_one_line(offers: Path, cache: Path) -> None:
    """Tests are offline (`HF_HUB_OFFLINE`), as many machines are."""
    with pytest.raises(EnvironmentMissing, match="nobody/pocket: the hub cannot be reached"):
        get("pocket", "hub", lambda _: None)
    assert left(cache) == set()
