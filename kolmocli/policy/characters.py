"""The tokenizer of presets that answer questions: one token per character, and one for the tag before an answer."""

from __future__ import annotations

from tokenizers import Regex, Tokenizer, decoders
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast

from kolmocli.policy.tokenizer import EOS, PAD, UNKNOWN
from kolmocli.tasks.digits_answer import TAG

QUESTION, ANSWER = "<question>", "<answer>"
"""What stands before a question, and between it and the answer."""
CHARACTERS = ("\n", *map(chr, range(ord(" "), ord("~") + 1)))
_PATTERN = rf"<[a-z]+>|\[{TAG[1:-1]}\] |[\s\S]"


def build_character_tokenizer() -> PreTrainedTokenizerFast:
    """A fast tokenizer that `AutoTokenizer.from_pretrained` loads again from its folder.

    Encoding then decoding ASCII text gives the same text. The tag is one token: it never varies, and spelling it out
    would be a third of an answer.
    """
    words = (PAD, EOS, UNKNOWN, QUESTION, ANSWER, f"{TAG} ", *CHARACTERS)
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = Split(Regex(_PATTERN), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNKNOWN,
        additional_special_tokens=[QUESTION, ANSWER],
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )
