"""Policies for tests, made on the spot: no model hub is asked."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from kolmocli.language.sampler import sample
from kolmocli.language.sampler_settings import SamplerConfig
from kolmocli.learning.learner import Learner, Weighted
from kolmocli.policy.building import build_preset
from kolmocli.policy.policy import Policy
from kolmocli.policy.tokenizer import build_tokenizer
from kolmocli.tasks.base import Prompt
from kolmocli.tasks.sequences.prompt import sequence_prompt

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<user>{{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
TARGETS = [(1, 2, 3), (7,), tuple(range(40)), (5, 5, 5, 5, 9), (300, -2), (0, 255)]
"""Of different lengths, so that a batch of their prompts is padded."""


def prompts(targets: Sequence[Sequence[int]] = TARGETS) -> list[Prompt]:
    """What asks for programs of these sequences."""
    return [sequence_prompt(target, "dsl") for target in targets]


def tiny(seed: int = 0, name: str = "tiny") -> Policy:
    return Policy(name, build_preset(name, seed), build_tokenizer())


@functools.cache
def taught() -> Policy:
    """The tiny preset after a few supervised steps: it writes lines of the language, to be read only."""
    policy, rng = tiny(), random.Random(0)
    learner = Learner(policy, learning_rate=3e-3, max_grad_norm=1.0, entropy_bonus=0.0)
    level = SamplerConfig(bases=(1, 1), base_length=(2, 8), modifiers=(0, 0), reuse=0, initiators={"repeat_num": 1})
    for _ in range(40):
        pairs = [sample(rng, level) for _ in range(16)]
        answers = [policy.answer(sequence_prompt(p.sequence, "dsl"), f"{p.program}\n") for p in pairs]
        batch = [Weighted(a, [1.0] * len(a.tokens)) for a in answers]
        learner.step(batch, denominator=sum(len(a.tokens) for a in answers))
    policy.model.eval()
    return policy


def save_pieces(folder: Path) -> Path:
    """A random Llama with a tokenizer in the manner of SentencePiece: it puts a blank before each text, drops it when it reads, and
    ends each text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    corpus = ["def f ( x ) : return x + 1\n return y", *map(chr, range(32, 127))]
    tokenizer.train_from_iterator(
        corpus, trainers.BpeTrainer(vocab_size=200, special_tokens=["<s>", "</s>"], show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def save_hugging_face(folder: Path, *, chat: bool) -> Path:
    """A random GPT-2, dropout and all, with a byte-level BPE tokenizer that puts <s> first."""
    rng = random.Random(0)
    corpus = [sequence_prompt((), "dsl").system, *(str(sample(rng).program) for _ in range(20))]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        corpus,
        trainers.BpeTrainer(
            vocab_size=600, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    if chat:
        fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)
    config = GPT2Config(
        vocab_size=len(fast), n_positions=1024, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=1
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder
