"""The chunked output head is the plain one: values, gradients, whatever the chunk, for every family of models."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from kolmocli.policy import limits
from kolmocli.policy.head import Head, find_head, selected
from tests.policy.families import FAMILIES, VOCABULARY, make

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def inputs(dtype: torch.dtype = torch.double, words: int = 7) -> Inputs:
    torch.manual_seed(0)
    hidden, weight, bias = (
        torch.randn(*shape, dtype=dtype, requires_grad=True) for shape in ((5, 4), (words, 4), (words,))
    )
    return hidden, weight, bias, torch.tensor([0, 3, 3, 6, 1])


def head_of(weight: torch.Tensor, bias: torch.Tensor | None, scale: float = 1.0, softcap: float | None = None) -> Head:
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, dtype=weight.dtype)
    del linear.weight, linear.bias
    linear.weight, linear.bias = weight, bias  # type: ignore[assignment]
    return Head(None, linear, scale, softcap)


def plain(head: Head, hidden: torch.Tensor, targets: torch.Tensor, temperature: float) -> list[torch.Tensor]:
    logprobs = torch.log_softmax(head.logits(hidden) / temperature, -1)
    return [logprobs.gather(-1, targets[:, None])[:, 0], -(logprobs.exp() * logprobs).sum(-1)]


@pytest.mark.parametrize("chunk", [1, 14, 1_000_000])
@pytest.mark.parametrize(("scale", "softcap"), [(1.0, None), (0.3, None), (1.0, 1.5), (2.0, 1.5)])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_values_and_gradients_are_the_plain_ones(
    chunk: int, scale: float, softcap: float | None, temperature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LOGITS_AT_ONCE", chunk)
    hidden, weight, bias, targets = inputs()
    head = head_of(weight, bias, scale, softcap)
    ours, theirs = selected(head, hidden, targets, temperature), plain(head, hidden, targets, temperature)
    pull = [torch.randn(5, dtype=torch.double) for _ in range(2)]
    grads = [torch.autograd.grad(pair, [hidden, weight, bias], pull, retain_graph=True) for pair in (ours, theirs)]
    for a, b in zip([*ours, *grads[0]], [*theirs, *grads[1]], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("which", [0, 1])
def test_either_result_may_be_used_alone(which: int) -> None:
    hidden, weight, _, targets = inputs()
    head = head_of(weight, None)
    ours, theirs = selected(head, hidden, targets)[which].sum(), plain(head, hidden, targets, 1.0)[which].sum()
    for a, b in zip(*(torch.autograd.grad(x, [hidden, weight]) for x in (ours, theirs)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


def test_a_frozen_head_in_half_precision_is_read_in_full() -> None:
    hidden, weight, _, targets = inputs(torch.bfloat16)
    frozen = weight.detach()
    logprobs, _ = selected(head_of(frozen, None), hidden, targets)
    exact = plain(head_of(frozen.float(), None), hidden.float(), targets, 1.0)[0]
    assert logprobs.dtype == torch.float32
    torch.testing.assert_close(logprobs, exact, rtol=0, atol=1e-6)
    logprobs.sum().backward()
    assert hidden.grad is not None
    assert hidden.grad.dtype == torch.bfloat16


def test_nothing_of_the_size_of_the_vocabulary_is_kept() -> None:
    hidden, weight, _, targets = inputs(words=50_000)
    kept: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        selected(head_of(weight, None), hidden, targets)
    assert sum(t.numel() for t in kept if t.data_ptr() != weight.data_ptr()) < 100


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_its_head_found(family: str) -> None:
    model, ids = make(family), torch.arange(10)[None] % VOCABULARY
    head = find_head(model)
    assert isinstance(head, Head)
    with torch.inference_mode():
        ours = head.logits(head.decoder(input_ids=ids).last_hidden_state)
        torch.testing.assert_close(ours, model(input_ids=ids).logits, rtol=1e-5, atol=1e-5)


def test_a_head_that_does_more_is_not_taken_for_one() -> None:
    model = make("llama")
    forward = model.forward

    def shifted(*args: Any, **kwargs: Any) -> Any:
        output = forward(*args, **kwargs)
        output.logits = output.logits + output.logits.roll(1, -1)
        return output

    model.get_decoder = lambda: model
    assert find_head(model) == "its decoder does not give its last hidden states"
    del model.get_decoder
    model.forward = shifted
    assert find_head(model) == "its logits are more than a matrix times its last hidden states"
    assert find_head(torch.nn.Linear(2, 2)) == "it is not a transformers model"
