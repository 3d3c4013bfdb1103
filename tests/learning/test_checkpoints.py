"""A checkpoint is complete or absent, whatever happens while it is written."""

from __future__ import annotations

import errno
import json
import os
import pickle
import random
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError

from kolmocli.checkpoints import checkpoints, digest, latest_checkpoint, require_as_written, settle
from kolmocli.errors import KolmoError
from kolmocli.learning.saving import load_state, save_checkpoint
from kolmocli.policy.loading import load_policy
from kolmocli.policy.policy import Policy


class Crash(BaseException):
    """The process dies here: nobody tidies up."""


@pytest.fixture(scope="module")
def policy(chat_folder: Path) -> Policy:
    return load_policy(str(chat_folder), device="cpu")


def save(run: Path, step: int, policy: Policy, mark: int) -> Path:
    return save_checkpoint(run, step, policy, {"moment": torch.full((3,), float(mark))}, {"mark": mark})


def mark_of(run: Path) -> int | None:
    found = latest_checkpoint(run)
    return None if found is None else load_state(found)[0]["mark"]


def test_what_was_saved_is_loaded(policy: Policy, tmp_path: Path) -> None:
    folder = save(tmp_path, 100, policy, 7)
    assert folder == tmp_path / "checkpoints" / "step_000100" == latest_checkpoint(tmp_path)
    state, optimiser = load_state(folder)
    assert state == {"mark": 7}
    assert torch.equal(optimiser["moment"], torch.full((3,), 7.0))
    assert [p.name for p in folder.parent.iterdir()] == ["step_000100"]


def test_the_newest_is_the_one_with_the_most_steps(policy: Policy, tmp_path: Path) -> None:
    for step in (20, 1_000_000, 3):
        save(tmp_path, step, policy, step)
    assert [p.name for p in checkpoints(tmp_path)] == ["step_1000000", "step_000020", "step_000003"]


def test_a_checkpoint_of_the_same_step_is_replaced(policy: Policy, tmp_path: Path) -> None:
    save(tmp_path, 5, policy, 1)
    save(tmp_path, 5, policy, 2)
    assert mark_of(tmp_path) == 2
    assert len(list((tmp_path / "checkpoints").iterdir())) == 1


# --- interrupted

WRITES = [
    (os, "fsync"),
    (os, "rename"),
    (Path, "mkdir"),
    (Path, "write_text"),
    (Path, "rename"),
    (torch, "save"),
    (shutil, "rmtree"),
]


def interrupt(
    patch: pytest.MonkeyPatch, at: int, error: Callable[[], BaseException], only: list[tuple[Any, str]]
) -> list[str]:
    """Let the call number `at` of any of these raise instead; the list of calls grows as they are made."""
    calls: list[str] = []

    def counted(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            if len(calls) == at:
                raise error()
            return original(*args, **kwargs)

        patch.setattr(owner, name, call)

    for owner, name in only:
        counted(owner, name)
    return calls


def interrupted(
    run: Path, step: int, policy: Policy, error: Callable[[], BaseException], only: list[tuple[Any, str]]
) -> Iterator[BaseException]:
    """Save over and over, interrupted one call later each time, until a save goes through."""
    for at in range(1, 100):
        with pytest.MonkeyPatch.context() as patch:
            calls = interrupt(patch, at, error, only)
            try:
                save(run, step, policy, 2)
            except BaseException as raised:
                assert len(calls) >= at
                yield raised
                continue
        assert at > 10, calls
        return


@pytest.mark.parametrize("step", [5, 6], ids=["over the last one", "beside it"])
def test_a_crash_at_any_moment_leaves_a_complete_checkpoint(policy: Policy, tmp_path: Path, step: int) -> None:
    save(tmp_path, 5, policy, 1)
    for raised in interrupted(tmp_path, step, policy, Crash, WRITES):
        assert isinstance(raised, Crash)
        assert mark_of(tmp_path) in (1, 2)
    assert mark_of(tmp_path) == 2


def test_a_crash_at_any_byte_leaves_the_last_one(policy: Policy, tmp_path: Path) -> None:
    """Every state that a writer can leave behind that dies after so many bytes, up to the last one."""
    save(tmp_path, 5, policy, 1)
    finished = save(tmp_path, 6, policy, 2)
    order = sorted(finished.iterdir(), key=lambda file: (file.name == "manifest.json", file.stat().st_mtime_ns))
    written = [(file.name, file.read_bytes()) for file in order]
    shutil.rmtree(finished)
    ends = [sum(len(content) for _, content in written[:i]) for i in range(len(written) + 1)]
    rng = random.Random(0)
    cuts = {end + shift for end in ends for shift in (-1, 0, 1)} | {rng.randrange(ends[-1]) for _ in range(60)}
    for cut in sorted(cut for cut in cuts if 0 <= cut <= ends[-1]):
        aside = finished.with_name(".step_000006.partial")
        aside.mkdir()
        left = cut
        for name, content in written:
            if left > 0 or cut == 0:
                (aside / name).write_bytes(content[:left])
            left -= len(content)
        complete = cut == ends[-1]
        assert mark_of(tmp_path) == (2 if complete else 1), cut
        settle(tmp_path)
        assert {folder.name for folder in finished.parent.iterdir()} == {"step_000005", *["step_000006"] * complete}
        assert mark_of(tmp_path) == (2 if complete else 1), cut


@pytest.mark.parametrize("step", [5, 6], ids=["over the last one", "beside it"])
def test_after_a_crash_at_any_moment_everything_is_cleared_up(policy: Policy, tmp_path: Path, step: int) -> None:
    save(tmp_path, 5, policy, 1)
    for _ in interrupted(tmp_path, step, policy, Crash, WRITES):
        mark = mark_of(tmp_path)
        settle(tmp_path)
        assert mark_of(tmp_path) == mark
        assert not list((tmp_path / "checkpoints").glob(".*"))


def test_what_is_left_of_an_exchange_is_kept_while_its_successor_is_damaged(policy: Policy, tmp_path: Path) -> None:
    old = save(tmp_path, 5, policy, 1).rename(tmp_path / "aside")
    (save(tmp_path, 5, policy, 2) / "manifest.json").unlink()
    old.rename(tmp_path / "checkpoints" / ".step_000005.old")
    settle(tmp_path)
    assert mark_of(tmp_path) == 1


@pytest.mark.parametrize("step", [5, 6], ids=["over the last one", "beside it"])
def test_a_full_disk_is_one_line_and_leaves_the_last_checkpoint(policy: Policy, tmp_path: Path, step: int) -> None:
    save(tmp_path, 5, policy, 1)
    writes = [w for w in WRITES if w[1] != "rmtree"]
    for raised in interrupted(tmp_path, step, policy, lambda: OSError(errno.ENOSPC, "No space left on device"), writes):
        assert isinstance(raised, KolmoError)
        assert f"step_00000{step}: checkpoint not written (No space left on device)" in str(raised)
        assert mark_of(tmp_path) in (1, 2)


def test_a_run_folder_that_is_gone_is_not_made_again(policy: Policy, tmp_path: Path) -> None:
    with pytest.raises(KolmoError, match=r"checkpoint not written \(No such file or directory\); put its folder back"):
        save(tmp_path / "run", 5, policy, 1)
    assert not (tmp_path / "run").exists()


def test_a_folder_that_may_not_be_written_is_said_to_be_one(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(monkeypatch, 2, lambda: OSError(errno.EROFS, "Read-only file system"), [(Path, "mkdir")])
    with pytest.raises(
        KolmoError, match=r"\(Read-only file system\); make it writable and use --resume, earlier ones are"
    ):
        save(tmp_path, 5, policy, 1)


@pytest.mark.parametrize("error", [
    SafetensorError('Error while serializing: I/O error: Read-only file system (os error 30) at path "/r/.tmp"'),
    RuntimeError("[enforce fail at inline_container.cc:747] . open file failed with strerror: Read-only file system"),
], ids=["safetensors", "torch"])  # fmt: skip
def test_what_libraries_tell_in_words_is_said_as_the_system_does(
    error: Exception, policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run meets when its disk is remounted while tensors are written."""
    interrupt(monkeypatch, 1, lambda: error, [(Policy, "save")])
    with pytest.raises(KolmoError, match=r"not written \(Read-only file system\); make it writable and use --resume"):
        save(tmp_path, 5, policy, 1)


@pytest.mark.parametrize("size", [100, 5_000, 60_000])
def test_a_file_that_cannot_grow_is_one_line_too(policy: Policy, tmp_path: Path, size: int) -> None:
    """Here the libraries that write tensors meet the limit themselves."""
    save(tmp_path, 5, policy, 1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        with pytest.raises(KolmoError, match="checkpoint not written"):
            save_checkpoint(tmp_path, 6, policy, {"moment": torch.zeros(100_000)}, {"mark": 2})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert mark_of(tmp_path) == 1
    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["step_000005"]


# --- damaged


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def pipe(file: Path) -> None:
    """Whoever opens it waits for a writer."""
    file.unlink()
    os.mkfifo(file)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "a flipped bit in the weights": lambda folder: flip(folder / "model.safetensors"),
    "a flipped bit in the optimiser": lambda folder: flip(folder / "optimiser.pt"),
    "a shorter state": lambda folder: (folder / "trainer.json").write_text("{"),
    "a missing tokenizer": lambda folder: (folder / "tokenizer.json").unlink(),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "a manifest cut short": lambda folder: os.truncate(folder / "manifest.json", 40),
    "a manifest that is a pipe": lambda folder: pipe(folder / "manifest.json"),
    "a manifest that is none": lambda folder: (folder / "manifest.json").write_text("[]"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_is_passed_over(policy: Policy, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    save(tmp_path, 5, policy, 1)
    damaged = save(tmp_path, 6, policy, 2)
    damage(damaged)
    (damaged.parent / ".step_000007.partial").mkdir()  # by a writer that is at work, or died
    said: list[str] = []
    assert latest_checkpoint(tmp_path, said.append) == tmp_path / "checkpoints" / "step_000005"
    (line,) = said
    assert line.startswith(f"{damaged} is damaged and passed over: ")


def test_of_a_policy_alone_only_what_is_there_is_compared(policy: Policy, tmp_path: Path) -> None:
    """Whoever copies a policy somewhere leaves the optimiser behind, and files that its models do without."""
    folder = save(tmp_path, 1, policy, mark=1)
    flip(folder / "optimiser.pt")
    (folder / "generation_config.json").unlink()
    require_as_written(folder)
    flip(folder / "model.safetensors")
    with pytest.raises(KolmoError, match=r"model\.safetensors is not what was written there"):
        require_as_written(folder)


def test_a_run_without_checkpoints_has_none(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("/nonexistent/made-by-a-pickle",)


FOREIGN: dict[str, tuple[str, bytes]] = {
    "a pickle that calls": ("optimiser.pt", pickle.dumps(Evil())),
    "a pickle of another thing": ("optimiser.pt", pickle.dumps([1, 2])),
    "no pickle": ("optimiser.pt", b"not a pickle at all"),
    "nothing": ("optimiser.pt", b""),
    "half an archive": ("optimiser.pt", b"PK\x03\x04" + bytes(100)),
    "a state of another kind": ("trainer.json", b"[]"),
    "a deep state": ("trainer.json", b"[" * 100_000),
}


@pytest.mark.parametrize(("name", "content"), FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_with_a_right_digest_is_one_line(
    policy: Policy, tmp_path: Path, name: str, content: bytes
) -> None:
    folder = save(tmp_path, 5, policy, 1)
    (folder / name).write_bytes(content)
    digests = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**digests, name: digest(folder / name)}))
    assert latest_checkpoint(tmp_path) == folder
    with pytest.raises(KolmoError, match=rf"step_000005/{name}: not what kolmo writes there; remove this checkpoint"):
        load_state(folder)
