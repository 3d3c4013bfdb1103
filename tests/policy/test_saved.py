"""A saved model with something missing or damaged: one line that names the place and the remedy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import BertConfig, BertLMHeadModel

from kolmocli.errors import KolmoError, UsageError
from kolmocli.learning.saving import save_checkpoint
from kolmocli.policy.adapters import Adaptation
from kolmocli.policy.building import build_preset, tokenizer_of
from kolmocli.policy.loading import load_policy
from kolmocli.policy.sizes import size_of_folder
from tests.conftest import Run

WEIGHTS, CONFIG = "model.safetensors", "config.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "whole"
    build_preset("tiny", 0, "programs").save_pretrained(folder)
    tokenizer_of("programs").save_pretrained(folder)
    return folder


def removed(pattern: str) -> Callable[[Path], None]:
    return lambda folder: [file.unlink() for file in folder.glob(pattern)] and None


def rewritten(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def configured(**values: object) -> Callable[[Path], None]:
    return rewritten(CONFIG, lambda text: json.dumps({**json.loads(text), **values}).encode())


def written(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


def indexed(weights: object) -> Callable[[Path], None]:
    """An index whose shards are these; the library reads it where there is no `model.safetensors`."""

    def harm(folder: Path) -> None:
        (folder / WEIGHTS).rename(folder / "other.safetensors")
        (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))

    return harm


DEEP = '{"a": ' * 100_000 + "1" + "}" * 100_000
COPY = "copy or save the model again"


@pytest.mark.parametrize(
    ("harm", "said", "mend"),
    [
        (removed(WEIGHTS), ": a model without weights: no *.safetensors in it", COPY),
        (removed("tokenizer*"), ": a model without a tokenizer: none of tokenizer.json, ", COPY),
        (removed(CONFIG), ": a folder without a model: neither config.json nor a complete checkpoint", ""),
        (rewritten(CONFIG, lambda text: text[:40]), f"/{CONFIG}: not a JSON object", COPY),
        (rewritten(CONFIG, lambda text: b"[1]"), f"/{CONFIG}: not a JSON object", COPY),
        (rewritten(CONFIG, lambda text: b"\xff\xfe"), f"/{CONFIG}: not a JSON object", COPY),
        (configured(model_type="nosuch"), ": the model cannot be loaded (", COPY),
        (configured(hidden_size="big"), " cannot be loaded (Validation error for field 'hidden_size'", COPY),
        (rewritten(WEIGHTS, lambda data: data[:50_000]), f"/{WEIGHTS}: cut or damaged (", COPY),
        (rewritten(WEIGHTS, lambda data: data[:4]), f"/{WEIGHTS}: cut or damaged (", COPY),
        (rewritten(WEIGHTS, lambda data: b"version https://git-lfs.github.com/spec/v1\n"), f"/{WEIGHTS}: a pointer", "lfs"),
        (rewritten("tokenizer.json", lambda text: b"{}"), ": its tokenizer cannot be loaded (no 'added_tokens')", COPY),
        (
            configured(num_hidden_layers=9, layer_types=["full_attention"] * 9),
            " of the weights that its config.json asks for are missing",
            "one model",
        ),
        *[
            (indexed({"a": "model.safetensors", "b": name}), f"model.safetensors.index.json: names {name!r} as weights", "next to it")
            for name in ("w.bin", "../model.safetensors", "/etc/a.safetensors", "a/b.safetensors", "", None, 3, ["a"])
        ],
        (indexed([]), "index.json: not an index of weights", COPY),
        (written("x.safetensors.index.json", "[" * 100_000), "x.safetensors.index.json: not an index of weights", COPY),
        *[(written(name, DEEP), " cannot be loaded (", COPY) for name in ("tokenizer_config.json", "generation_config.json")],
        (written(CONFIG, DEEP), f"/{CONFIG}: not a JSON object", COPY),
        (configured(hidden_size=-8), " cannot be loaded (", COPY),
        (configured(num_attention_heads=0), " cannot be loaded (", COPY),
        (configured(vocab_size=10**12), "", ""),
        (configured(eos_token_id="end"), "", ""),
        (configured(vocab_size=7), ": 1 of the weights that its config.json asks for are missing", "embed_tokens"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    whole: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    harm: Callable[[Path], None],
    said: str,
    mend: str,
) -> None:
    folder = tmp_path / "m"
    shutil.copytree(whole, folder)
    harm(folder)
    with pytest.raises(UsageError) as refusal:
        load_policy(str(folder), device="cpu")
    line = str(refusal.value)
    assert said in line
    assert line.startswith(str(folder))
    assert mend in line
    assert "\n" not in line
    assert capfd.readouterr() == ("", "")


def test_a_model_that_reads_in_both_directions_is_named(plain_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(plain_folder, tmp_path / "bert"))
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    for decodes in (True, False):
        config = BertConfig(vocab_size=600, **sizes, initializer_range=0.5, is_decoder=decodes)
        BertLMHeadModel(config).save_pretrained(folder)
        if decodes:
            load_policy(str(folder), device="cpu")
    with pytest.raises(UsageError, match="a bert that reads in both directions; name a model that reads from left"):
        load_policy(str(folder), device="cpu")


# --- checkpoints: every file by its digest


def overwritten(file: Path) -> None:
    """64 KiB in the middle, with zeros: the file is as long as it was, and its head is right."""
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2)
        stream.write(bytes(1 << 16))


@pytest.fixture
def saved(whole: Path, tmp_path: Path) -> Path:
    """A run with the checkpoints of two steps; the newer one is returned."""
    policy = load_policy(str(whole), device="cpu")
    (tmp_path / "run").mkdir()
    for step in (1, 2):
        folder = save_checkpoint(tmp_path / "run", step, policy, {}, {})
    return folder


@pytest.mark.parametrize("name", [WEIGHTS, "tokenizer.json", CONFIG])
def test_a_checkpoint_that_is_not_as_it_was_written_is_not_loaded(saved: Path, name: str) -> None:
    overwritten(saved / name)
    with pytest.raises(KolmoError, match=rf"step_000002: {name} is not what was written there; ") as refusal:
        load_policy(str(saved), device="cpu")
    assert refusal.value.exit_code == 1


def test_a_run_says_which_checkpoint_it_passes_over(saved: Path) -> None:
    overwritten(saved / WEIGHTS)
    said: list[str] = []
    assert load_policy(str(saved.parent.parent), device="cpu", warn=said.append)
    assert said == [f"{saved} is damaged and passed over: {WEIGHTS} is not what was written there"]


def test_what_only_a_resumption_needs_may_be_taken_out(saved: Path) -> None:
    (saved / "optimiser.pt").unlink()
    overwritten(saved / "trainer.json")
    assert load_policy(str(saved), device="cpu")
    (saved / "manifest.json").write_text("{")
    with pytest.raises(KolmoError, match=r"step_000002: manifest\.json cannot be read"):
        load_policy(str(saved), device="cpu")


def test_an_adapter_and_its_base_are_compared_too(saved: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    trained = load_policy(str(saved), device="cpu", train=Adaptation(rank=2))
    (tmp_path / "adapted").mkdir()
    adapter = save_checkpoint(tmp_path / "adapted", 1, trained, {}, {})
    overwritten(saved / WEIGHTS)
    with pytest.raises(KolmoError, match=r"run/checkpoints/step_000002: model\.safetensors is not what"):
        load_policy(str(adapter), device="cpu")
    overwritten(adapter / "adapter_model.safetensors")
    with pytest.raises(KolmoError, match=r"adapted/checkpoints/step_000001: adapter_model\.safetensors is not what"):
        load_policy(str(adapter), device="cpu")


def test_the_whole_model_loads(whole: Path) -> None:
    assert load_policy(str(whole), device="cpu").name == str(whole)


def test_a_cut_adapter_is_named(whole: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    folder = tmp_path / "adapter"
    load_policy(str(whole), device="cpu", train=Adaptation(rank=2)).save(folder)
    cut = folder / "adapter_model.safetensors"
    cut.write_bytes(cut.read_bytes()[:1000])
    with pytest.raises(UsageError, match=r"adapter_model\.safetensors: cut or damaged"):
        load_policy(str(folder), device="cpu")


def test_weights_that_lie_about_their_head_have_no_size(whole: Path, tmp_path: Path) -> None:
    """`kolmo train --dry-run` reads heads without the library, and must not ask for as much memory as one names."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (tmp_path / WEIGHTS).write_bytes(b"x" * 5000)
    with pytest.raises(UsageError, match=r"model\.safetensors is cut or damaged"):
        size_of_folder(tmp_path)


def test_an_index_on_the_hub_names_no_pickle_either(whole: Path, tmp_path: Path, kolmo: Run) -> None:
    """As the cache holds a model that was fetched: nothing that its index names is opened, or asked for."""
    snapshot = tmp_path / "hub" / "models--some--model" / "snapshots" / ("a" * 40)
    shutil.copytree(whole, snapshot)
    (snapshot.parents[1] / "refs").mkdir()
    (snapshot.parents[1] / "refs" / "main").write_text("a" * 40)
    (snapshot / WEIGHTS).unlink()
    (snapshot / f"{WEIGHTS}.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {"a": "w.bin"}}))
    (snapshot / "w.bin").write_bytes(b"a pickle")
    done = kolmo("eval", "some/model", "--curriculum", "digits", env={"HF_HUB_CACHE": str(tmp_path / "hub")})
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"kolmo: error: some/model: {WEIGHTS}.index.json: names 'w.bin' as weights; only *.safetensors next to it are loaded"
    )
