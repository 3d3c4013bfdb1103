"""One seed gives one run: a gradient is the same to the last digit, whichever thread comes first and however busy the machine is.

All rollouts here are of one prompt, and most of what is added up belongs to its last token: with two threads, both add to the
same numbers all the time. Where the order of such a sum is left to them, a few repetitions show it.
"""

from __future__ import annotations

import hashlib
import random
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from transformers import Lfm2Config, Lfm2ForCausalLM, LlamaConfig, LlamaForCausalLM

from kolmocli.policy.adapters import Adaptation, attach
from kolmocli.policy.decoding import rounded
from kolmocli.policy.loading import load_policy
from kolmocli.policy.order import rows_of, sums_in_order
from kolmocli.policy.recompute import recompute_layers
from kolmocli.policy.rollout import Rollout
from kolmocli.policy.scoring import Scorer

HIDDEN, ROLLOUTS = 64, 300
REPEATS = 3
"""Of a gradient: without the order of `rows_of`, each of six differs from the first."""
SUMS = 10
"""Of one sum, which takes no time."""
SPLIT_FROM = 32_768
"""Numbers from which PyTorch adds in several threads."""
_SIZES: dict[str, Any] = {
    "vocab_size": 60, "hidden_size": HIDDEN, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.2,
}  # fmt: skip


def llama(key_heads: int) -> Any:
    return LlamaForCausalLM(LlamaConfig(**_SIZES, num_key_value_heads=key_heads))


def lfm2() -> Any:
    sizes = {**_SIZES, "num_hidden_layers": 2}  # without an attention transformers' cache has no length
    layers = ["conv", "full_attention"]
    return Lfm2ForCausalLM(
        Lfm2Config(**sizes, num_key_value_heads=2, block_auto_adjust_ff_dim=False, layer_types=layers)
    )


def recomputed(key_heads: int) -> Any:
    model = llama(key_heads)
    recompute_layers(model)
    return model


def adapted(model: Any) -> Any:
    with torch.no_grad():  # of a fresh adapter one matrix is zero, and so is the gradient of the other
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05)
    return model


KINDS: dict[str, tuple[Callable[[], Any], bool]] = {
    "convolution": (lfm2, True),
    "attention": (lambda: llama(4), True),
    "attention, shared heads": (lambda: llama(2), True),
    "adapters": (lambda: adapted(attach(lfm2(), Adaptation(4, 8), 0)), True),
    "8 bits": (lambda: adapted(load_policy("tiny", device="cpu", train=Adaptation(4, 8, True)).model), True),
    "transformers": (lambda: llama(2), False),
    "transformers, layers computed again": (lambda: recomputed(2), True),
    "transformers, row by row": (lfm2, False),
}
"""A model, and whether the lean path is taken where there is one."""


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@contextmanager
def busy() -> Iterator[None]:
    """Two more threads that want the cores, again and again; outside the interpreter's lock."""
    done, block = threading.Event(), bytes(1 << 20)

    def work() -> None:
        while not done.wait(0.001):
            hashlib.blake2b(block)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def rollouts() -> list[Rollout]:
    rng = random.Random(0)
    written = [tuple(rng.randrange(3, 60) for _ in range(2)) for _ in range(ROLLOUTS)]
    return [Rollout((5, 6, 7, 8), tokens, (0.0, 0.0), (0, 0), "", True) for tokens in written]


def gradient(scorer: Scorer, precision: Any = "fp32") -> torch.Tensor:
    parameters = [p for p in scorer.model.parameters() if p.requires_grad]
    with rounded(scorer.model, precision):
        scores = scorer(rollouts())
    sign_K = torch.ones_like(scores.logprobs_K)
    sign_K[::3] = -1.5
    found = torch.autograd.grad((sign_K * scores.logprobs_K + 0.1 * scores.entropy_K).sum(), parameters)
    return torch.cat([each.flatten() for each in found])


@pytest.mark.parametrize(
    ("kind", "precision"), [*((kind, "fp32") for kind in KINDS), ("convolution", "bf16"), ("transformers", "bf16")]
)
def test_a_gradient_has_one_value(kind: str, precision: str, two_threads: None) -> None:
    build, lean = KINDS[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        scorer = Scorer(build().eval(), 0, lean=lean)
    assert 2 * ROLLOUTS * HIDDEN > SPLIT_FROM
    assert scorer.is_lean == (not kind.startswith("transformers"))
    assert scorer.shares == (kind != "transformers, row by row")
    first = gradient(scorer, precision)
    assert first.abs().max() > 0
    with busy():
        assert all(torch.equal(gradient(scorer, precision), first) for _ in range(REPEATS))


def test_an_index_adds_as_it_comes_and_rows_of_does_not(two_threads: None) -> None:
    """What the tests here rely on: without it they could not fail."""
    table = torch.randn(3, 8, 16, requires_grad=True)
    index_N = torch.zeros(2_000, dtype=torch.long)
    weight = torch.randn(2_000, 8, 16, generator=torch.Generator().manual_seed(0))

    def seen(take: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> set[bytes]:
        found = (torch.autograd.grad((take(table, index_N) * weight).sum(), table)[0] for _ in range(SUMS))
        return {gradient.numpy().tobytes() for gradient in found}

    with busy():
        assert torch.equal(rows_of(table, index_N), table[index_N])
        assert len(seen(rows_of)) == 1
        with sums_in_order("cpu", False, pytest.fail):
            assert len(seen(lambda table, index_N: table[index_N])) == 1
        # Chance decides when the two threads meet; where they never do, nothing above could have failed.
        if all(len(seen(lambda table, index_N: table[index_N])) == 1 for _ in range(50)):
            pytest.skip("on this machine an index added in one order each time")


# --- what a run asks of PyTorch


def asked() -> tuple[bool, bool, bool]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.utils.deterministic.fill_uninitialized_memory,
    )


@pytest.mark.parametrize("before", [(False, False, True), (True, False, True), (True, True, False)])
def test_what_was_asked_before_is_asked_again(before: tuple[bool, bool, bool]) -> None:
    usual = asked()
    try:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.utils.deterministic.fill_uninitialized_memory = before[2]
        with pytest.raises(KeyError), sums_in_order("cpu", False, pytest.fail):
            assert asked() == (True, True, False)
            raise KeyError
        assert asked() == before
    finally:
        torch.use_deterministic_algorithms(usual[0], warn_only=usual[1])
        torch.utils.deterministic.fill_uninitialized_memory = usual[2]


def test_a_gpu_is_asked_where_its_user_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG", raising=False)
    with sums_in_order("cuda", False, pytest.fail):
        assert asked() == (False, False, True)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")  # the user's own stays
    with sums_in_order("cuda", True, pytest.fail):
        assert asked() == (True, True, False)


def test_an_operation_without_an_ordered_form_is_named_once_and_done() -> None:
    notes: list[str] = []
    with sums_in_order("cpu", False, notes.append):
        for _ in range(3):
            table = torch.zeros(3)
            table.put_(torch.tensor([1]), torch.tensor([5.0]))
            assert table.tolist() == [0.0, 5.0, 0.0]
        with pytest.warns(UserWarning, match="another"):
            warnings.warn("another", stacklevel=1)
    assert notes == ["put_ has no ordered form on cpu: the last digits may differ from run to run"]
