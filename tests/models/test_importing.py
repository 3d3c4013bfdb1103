"""`kolmo model import`: files and folders of one's own, under a name that means nothing else."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import AutoTokenizer, RwkvConfig, RwkvForCausalLM

from kolmocli.errors import KolmoError, UsageError
from kolmocli.models.importing import import_model
from kolmocli.models.store import find_kept, kept_models, remove_kept
from kolmocli.paths import model_folder
from kolmocli.policy.description import describe
from kolmocli.policy.loading import load_policy
from kolmocli.policy.presets import PRESETS
from tests.models.conftest import left

RESERVED = {*PRESETS, "shipped"}


def quietly(line: str) -> None: ...


@pytest.fixture(scope="session")
def folder(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small model in Hugging Face format."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KOLMO_MODELS", str(tmp_path_factory.mktemp("imported")))
        return import_model(small, "folder", RESERVED, quietly).folder


def test_a_folder_is_copied_with_what_belongs_to_a_model(folder: Path, cache: Path, tmp_path: Path) -> None:
    source = Path(shutil.copytree(folder, tmp_path / "theirs"))
    (source / "pytorch_model.bin").write_bytes(b"never loaded")
    (source / "modeling.py").write_text("never run")
    (source / "README.md").write_text("their card")
    model = import_model(source, None, RESERVED, quietly)
    assert (model.name, model.folder) == ("theirs", cache / "theirs")
    assert {file.name for file in source.iterdir()} - {file.name for file in model.folder.iterdir()} == {
        "pytorch_model.bin", "modeling.py",
    }  # fmt: skip
    assert (model.folder / "README.md").read_text() == "their card"
    assert model.origin is not None
    assert model.origin.source == "the folder theirs"


def changed(name: str, **values: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        known = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps({**known, **values}))

    return change


def with_more_tokens(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["<one>", "<two>"])
    tokenizer.save_pretrained(folder)


def of_another_kind(folder: Path) -> None:
    config = RwkvConfig(vocab_size=262, hidden_size=32, num_hidden_layers=2, context_length=64)
    RwkvForCausalLM(config).save_pretrained(folder)


HARMS: list[tuple[Callable[[Path], None], str]] = [
    (lambda folder: (folder / "model.safetensors").unlink(), "a model without weights"),
    (lambda folder: (folder / "model.safetensors").write_bytes(b"\0" * 9), "cut or damaged"),
    (lambda folder: [file.unlink() for file in folder.glob("tokenizer*")] and None, "a model without a tokenizer"),
    (changed("config.json", model_type="starfish"), "the model cannot be loaded"),
    (changed("tokenizer_config.json", eos_token=None), "its tokenizer has no end token"),
    (with_more_tokens, "its tokenizer has tokens up to number 263 and the model embeddings for 262"),
    (of_another_kind, "rwkv models have no cache that samples can share"),
]


@pytest.mark.parametrize(("harm", "said"), HARMS, ids=[said for _, said in HARMS])
def test_a_folder_that_cannot_be_used_is_one_line_to_import_and_to_load(
    harm: Callable[[Path], None], said: str, folder: Path, cache: Path, tmp_path: Path
) -> None:
    source = Path(shutil.copytree(folder, tmp_path / "theirs"))
    harm(source)
    for refuse in (lambda: import_model(source, None, RESERVED, quietly), lambda: load_policy(str(source))):
        with pytest.raises(UsageError, match=said) as refused:
            refuse()
        assert str(refused.value).startswith(str(source))
        assert "\n" not in str(refused.value)
    assert left(cache) == set()


@pytest.mark.parametrize(
    "name", ["tiny", "medium-llama", "shipped", "../up", "a/b", ".hidden", "", "-x", "a b", "é", "a" * 101]
)
def test_a_name_is_no_path_and_means_nothing_else(name: str, small: Path, cache: Path) -> None:
    with pytest.raises(UsageError, match="with --name"):
        import_model(small, name, RESERVED, quietly)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("nowhere.gguf", "there is no such file or folder"),
        ("a.bin", "neither a GGUF file"),
        ("model.safetensors", "neither"),
    ],
)
def test_what_is_no_model_is_refused(source: str, said: str, cache: Path, tmp_path: Path) -> None:
    if source != "nowhere.gguf":
        (tmp_path / source).write_bytes(b"")
    with pytest.raises(UsageError, match=said):
        import_model(tmp_path / source, None, RESERVED, quietly)
    assert not cache.exists()


def test_a_model_is_not_replaced_unasked_and_can_be_removed(folder: Path, cache: Path) -> None:
    import_model(folder, "mine", RESERVED, quietly)
    with pytest.raises(
        UsageError, match="in the cache already; choose another with --name, or first: kolmo model remove mine"
    ):
        import_model(folder, "mine", RESERVED, quietly)
    assert [model.name for model in kept_models()] == ["mine"]
    remove_kept("mine")
    assert left(cache) == set()
    with pytest.raises(UsageError, match=r"mine: no model of that name in .*there is none yet"):
        remove_kept("mine")


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (("theirs", None, "{cache}/.mine.new/a"), "{cache}/.mine.new/a: cannot be written: "),
        (("theirs",), "theirs: cannot be read: "),
    ],
)
def test_a_copy_that_fails_names_the_place_at_fault(
    places: tuple[str | None, ...], said: str, folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "no luck", *(p and p.format(cache=cache) for p in places))

    monkeypatch.setattr(shutil, "copyfile", fail)
    with pytest.raises(KolmoError, match=f"^{re.escape(said.format(cache=cache))}no luck"):
        import_model(folder, "mine", RESERVED, quietly)
    assert left(cache) == set()


def test_of_a_link_the_link_alone_is_removed(folder: Path, cache: Path, tmp_path: Path) -> None:
    theirs = Path(shutil.copytree(folder, tmp_path / "theirs"))
    cache.mkdir()
    for _ in range(2):
        (cache / "linked").symlink_to(theirs)
        remove_kept("linked")
        assert left(cache) == set()
    assert (theirs / "config.json").is_file()


def test_what_holds_no_model_is_in_the_way_at_once(folder: Path, cache: Path) -> None:
    (cache / "mine").mkdir(parents=True)
    with pytest.raises(UsageError, match="mine: is there already and holds no model; move it away"):
        import_model(folder, "mine", RESERVED, quietly)


@pytest.mark.parametrize("found", [5, {"a": 1}, [], ["GPT2LMHeadModel"]])
def test_a_model_is_described_whatever_its_configuration_says(found: object, cache: Path) -> None:
    (cache / "odd").mkdir(parents=True)
    config = {"model_type": "gpt2", "architectures": found, "n_positions": 64}
    (cache / "odd" / "config.json").write_text(json.dumps(config))
    described = describe(find_kept("odd"))
    assert (described.architecture, described.context) == (
        "GPT2LMHeadModel" if found == ["GPT2LMHeadModel"] else "gpt2",
        64,
    )


def test_a_near_name_is_suggested(folder: Path, cache: Path) -> None:
    import_model(folder, "mine", RESERVED, quietly)
    with pytest.raises(UsageError, match=r"did you mean mine\?"):
        find_kept("mime")
    with pytest.raises(UsageError, match=r"not in .* yet; bring it with: kolmo model get smollm2"):
        find_kept("smollm2", ["smollm2"])


def test_the_name_of_a_preset_stays_its_own(folder: Path, cache: Path) -> None:
    """Whatever somebody puts into the cache by hand."""
    shutil.copytree(folder, cache / "tiny")
    assert load_policy("tiny").is_preset


def test_a_folder_in_the_working_directory_comes_first(
    folder: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_model(folder, "mine", RESERVED, quietly)
    assert model_folder("mine") == cache / "mine"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert model_folder("mine") == Path("mine")


@pytest.mark.parametrize("name", ["..", ".", ".mine.new", "/etc"])
def test_no_name_leads_out_of_the_cache(name: str, cache: Path) -> None:
    cache.mkdir()
    (cache / ".mine.new").mkdir()
    assert model_folder(name) == Path(name)
