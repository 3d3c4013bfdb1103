"""A policy by its name, on disk and back, and what belongs to which line of a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from kolmocli.errors import EnvironmentMissing, UsageError
from kolmocli.language.program import parse
from kolmocli.policy.generated import Generated
from kolmocli.policy.loading import choose_device, load_policy
from kolmocli.policy.policy import Policy
from kolmocli.policy.proposer import PolicyProposer
from kolmocli.tasks.base import Prompt
from tests.policies import TARGETS, prompts, save_pieces
from tests.policy.families import FAMILIES

PROGRAM = parse("sequence_1 = range_func_up(1, 3)\nsequence_2 = repeat_list(2, sequence_1)")


def test_transformers_load_a_saved_policy_and_get_the_same_logits(policy: Policy, tmp_path: Path) -> None:
    policy.save(tmp_path)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    answer = policy.answer(prompts()[0], f"{PROGRAM}\n")
    ids = torch.tensor([answer.prompt + answer.tokens])
    with torch.inference_mode():
        assert torch.equal(model(ids).logits, policy.model(ids).logits)
    assert tokenizer.get_vocab() == policy.tokenizer.get_vocab()
    assert tokenizer(f"{PROGRAM}\n").input_ids == policy.tokenizer(f"{PROGRAM}\n").input_ids
    assert list(tmp_path.glob("*.safetensors"))
    assert not list(tmp_path.glob("*.bin"))


def test_a_loaded_policy_writes_what_the_saved_one_wrote(policy: Policy, tmp_path: Path) -> None:
    policy.save(tmp_path)
    again = load_policy(str(tmp_path), device="cpu")
    ours, theirs = (
        p.rollout(prompts(), samples=3, max_new_tokens=20, generator=torch.Generator().manual_seed(0))
        for p in (policy, again)
    )
    assert ours == theirs
    assert again.is_preset


def test_a_hugging_face_folder_loads_by_path(plain_folder: Path) -> None:
    policy = load_policy(str(plain_folder), device="cpu")
    assert not policy.is_preset
    assert policy.stop_ids == (1,)
    assert policy.pad_id == 1
    assert policy.prompt_ids(*prompts([(1, 2)]))[0] == 0


def test_a_chat_template_writes_the_start_mark_and_nobody_else(chat_policy: Policy) -> None:
    assert chat_policy.prompt_ids(*prompts([(1, 2)])).count(0) == 1


def test_every_token_knows_its_line(chat_policy: Policy, policy: Policy) -> None:
    for one in (policy, chat_policy):
        answer = one.answer(*prompts([(1, 2, 3, 1, 2, 3)]), f"{PROGRAM}\n")
        for number, line in enumerate(answer.text.split("\n")):
            mine = [t for t, place in zip(answer.tokens, answer.lines, strict=True) if place == number]
            assert one.tokenizer.decode(mine, skip_special_tokens=True).strip("\n") == line
        assert answer.tokens[-1] in one.stop_ids
        assert answer.lines[-1] == 2


def test_a_blank_after_what_is_given_is_kept_by_tokenizers_that_drop_the_first(tmp_path: Path) -> None:
    policy = load_policy(str(save_pieces(tmp_path)), device="cpu")
    prefix, text = "def f ( x ) : return ", "def f ( x ) : return x + 1\n return y"
    written = policy.answer(Prompt("f"), text, prefix)

    def write(*_: Any, finished: Any, **__: Any) -> None:
        finished(0, Generated([*written.tokens], [0.0] * len(written.tokens), True))

    policy.sampler = write  # type: ignore[assignment]
    (found,) = policy.rollout([Prompt("f")], samples=1, max_new_tokens=64, generator=None, prefixes=[prefix])
    assert (found.text, found.prompt, found.lines) == (text, written.prompt, written.lines)


def test_a_model_that_was_taught_a_mark_of_ours_is_no_preset(plain_folder: Path) -> None:
    policy = load_policy(str(plain_folder), device="cpu")
    policy.tokenizer.add_tokens(["<question>", "<answer>"])
    assert not policy.is_preset


def test_a_tokenizer_that_ends_each_text_does_not_end_a_prompt(tmp_path: Path) -> None:
    policy = load_policy(str(save_pieces(tmp_path)), device="cpu")
    ids = policy.prompt_ids(Prompt("f"))
    assert (ids[0], ids.count(1)) == (0, 0)


@pytest.mark.parametrize("name", ["no/such-model", "nowhere"])
def test_an_unknown_model_is_a_usage_error(name: str) -> None:
    with pytest.raises(UsageError, match=f"model '{name}': not a preset"):
        load_policy(name, device="cpu")


def test_a_folder_without_a_model_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither config\.json nor a complete checkpoint"):
        load_policy(str(tmp_path))


def test_weights_that_are_not_safetensors_are_refused(plain_folder: Path, tmp_path: Path) -> None:
    policy = load_policy(str(plain_folder), device="cpu")
    policy.save(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    torch.save(policy.model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(UsageError, match="save it as safetensors, nothing else is loaded"):
        load_policy(str(tmp_path), device="cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_said_so() -> None:
    with pytest.raises(EnvironmentMissing, match="device cuda is not available"):
        choose_device("cuda")
    assert choose_device("auto").type in ("cpu", "mps")


def test_proposals_are_programs_without_repeats(policy: Policy) -> None:
    proposals = PolicyProposer(policy).propose(TARGETS[:2], samples=6, seed=0)
    assert len(proposals) == 2
    for programs in proposals:
        assert len(programs) == len(set(programs)) <= 6
        assert all(parse(str(p)) == p for p in programs)


# --- models with a table of positions


def test_only_a_model_with_a_table_of_positions_has_so_many(policy: Policy) -> None:
    known = {name: replace(policy, model=make()).positions for name, make in FAMILIES.items()}
    assert {name: most for name, most in known.items() if most is not None} == {
        "gpt2": 64, "opt": 64, "gpt neo, local": 64,
    }  # fmt: skip
    assert policy.positions is None


def test_more_tokens_than_positions_are_one_line(chat_policy: Policy) -> None:
    asked = prompts([(1, 2)])
    longest = len(chat_policy.prompt_ids(*asked))
    left = 1024 - longest
    said = (
        rf"has 1,024 positions, and a prompt of {longest} tokens with {left + 1} after it has 1,025; allow {left} new "
    )
    with pytest.raises(UsageError, match=said):
        chat_policy.rollout(asked, samples=1, max_new_tokens=left + 1, generator=None)
    with pytest.raises(UsageError, match="1,024 positions"):
        chat_policy.answer(*asked, "a" * 4000)
    with pytest.raises(UsageError, match=r" after it has \d,\d+; take shorter tasks, or name another model$"):
        chat_policy.rollout(prompts([tuple(range(1000))]), samples=1, max_new_tokens=1, generator=None)
