"""The tokenizer of presets that answer questions: one token per character, and one for the tag before an answer."""

from __future__ import annotations

from tokenizers import Regex
from tokenizers.pre_tokenizers import Split
from transformers import PreTrainedTokenizerFast

from kolmocli.policy.presets import PROMPT_MARKS
from kolmocli.policy.tokenizer import EOS, PAD, UNKNOWN, word_tokenizer
from kolmocli.tasks.answers.parsing import TAG

CHARACTERS = ("\n", *map(chr, range(ord(" "), ord("~") + 1)))
_PATTERN = rf"<[a-z]+>|\[{TAG[1:-1]}\] |[\s\S]"


def build_character_tokenizer() -> PreTrainedTokenizerFast:
    """A fast tokenizer that `AutoTokenizer.from_pretrained` loads again from its folder.

    Encoding then decoding ASCII text gives the same text. The tag is one token: it never varies, and spelling it out
    would be a third of an answer.
    """
    words = (PAD, EOS, UNKNOWN, *PROMPT_MARKS["characters"], f"{TAG} ", *CHARACTERS)
    return word_tokenizer(words, Split(Regex(_PATTERN), behavior="isolated"), [*PROMPT_MARKS["characters"]])
